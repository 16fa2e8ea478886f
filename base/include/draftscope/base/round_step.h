// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>

namespace draftscope {

/// The least distance between ticks of an axis that is 1, 2 or 5 times a power of ten and at least `least`,
/// which is positive.
[[nodiscard]] inline double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10.0 * power;
}

}  // namespace draftscope
