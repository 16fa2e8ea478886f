// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace draftscope::speculation {

/// Number of sublayers that SWIFT skips at this ratio: the share of all but those of the first and last
/// layer, rounded down.
[[nodiscard]] inline std::int32_t swift_skipped_sublayers(std::int32_t n_layers, double ratio) {
  // The public code multiplies in this order, and rounding decides where the product is near an integer.
  return static_cast<std::int32_t>((static_cast<double>(n_layers) - 2.0) * 2.0 * ratio);
}

/// Rows of one pass of a candidate; a longer window takes several.
inline constexpr std::int32_t swift_pass_rows = 64;

}  // namespace draftscope::speculation
