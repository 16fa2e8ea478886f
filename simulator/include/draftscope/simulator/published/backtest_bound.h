// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a back-test promises: a figure of its cells that has to stay within a limit.

#include <cmath>
#include <cstdint>
#include <string>

namespace draftscope::simulator {

enum class BoundUnit : std::uint8_t {
  share,    ///< relative error, 0.02 = 2 %
  speedup,  ///< difference of two speedups
  cells,    ///< a count
};

enum class BoundKind : std::uint8_t { at_most, at_least };

struct BacktestBound {
  std::string quantity;  ///< "mean error"
  BoundUnit unit = BoundUnit::share;
  BoundKind kind = BoundKind::at_most;
  double found = 0.0;
  double limit = 0.0;
  /// 0: compared as it is. Above: the limit is a figure rounded to this step (0.001 for 2.0 %), and so is
  /// `found` before they are compared.
  double digit = 0.0;

  /// As it is, without rounding. NaN is not held.
  [[nodiscard]] bool held_strictly() const {
    return kind == BoundKind::at_most ? found <= limit : found >= limit;
  }

  [[nodiscard]] bool held() const {
    if (digit == 0.0) return held_strictly();
    const double found_steps = std::round(found / digit);
    const double limit_steps = std::round(limit / digit);
    return kind == BoundKind::at_most ? found_steps <= limit_steps : found_steps >= limit_steps;
  }
};

}  // namespace draftscope::simulator
