// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

namespace draftscope::speculation {

/// Width of a draft step whose confidence is above `confidence`: it keeps `width` tokens, by falling
/// probability. The first continues the draft, and its siblings are verified in the same pass.
struct BranchWidth {
  double confidence = 0.0;
  std::int32_t width = 1;
};

/// Width of a step, by the first of `widths` that applies, else by the last; 1 without any. Confidences are
/// compared in single precision, as the draft has them.
[[nodiscard]] inline std::int32_t width_at(std::span<const BranchWidth> widths, double confidence) {
  for (const BranchWidth& branch : widths)
    if (static_cast<float>(confidence) > static_cast<float>(branch.confidence)) return branch.width;
  return widths.empty() ? 1 : widths.back().width;
}

}  // namespace draftscope::speculation
