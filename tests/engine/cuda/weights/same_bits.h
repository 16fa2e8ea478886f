// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a model computes the same, bit for bit, packed and widened.

#include <draftscope/engine/checkpoint.h>

#include <cstdint>
#include <vector>

#include "random_model.h"

namespace draftscope::engine::test {

/// Rows that backends of same_bits.cpp hold.
inline constexpr std::int32_t packed_cache_rows = 170;

/// States and logits of a batch; throws with its error.
[[nodiscard]] std::vector<float> outputs_of(Backend& backend, const OwnedBatch& batch);

[[nodiscard]] bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b);

/// Expects it of a prompt, through a library's products or not, of a tree after it, and of one row, on
/// devices of other sizes.
void expect_same_bits(const Checkpoint& packed, const Checkpoint& widened, Random& random,
                      std::int32_t max_rows = 64);

}  // namespace draftscope::engine::test
