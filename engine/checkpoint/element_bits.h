// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace draftscope::engine {

/// The lowest index of an element that is a NaN or an infinity.
[[nodiscard]] std::optional<std::int64_t> first_non_finite(const TensorView& tensor);

/// Writes numbers as a type, each rounded to the nearest, ties to even. `out` has any alignment.
void store_values(std::span<const float> values, DType dtype, std::byte* out);

}  // namespace draftscope::engine
