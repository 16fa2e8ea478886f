// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts of packed models on a device.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "random_model.h"

namespace draftscope::engine::test {

/// A model as a file packs it, and the same numbers widened; of one shape with others of the list.
struct PackedAndWidened {
  const Checkpoint& packed;
  const Checkpoint& widened;
};

/// Decodes greedy text by the first model and coupled text at temperature 0.8 by the last, under each
/// `step`-th of all strategies that the engine lists, which take turns at the two; expects the texts that
/// vanilla decoding has by the widened ones.
void expect_text_of_widened(std::span<const PackedAndWidened> models, std::size_t step,
                            std::int32_t max_new_tokens, Random& random);

}  // namespace draftscope::engine::test
