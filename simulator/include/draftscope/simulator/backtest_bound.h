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
  double digit = 1.0;  ///< the last digit of the limit as it is stated: 0.001 for 2.0 %

  /// Compared to the digit: 2.04 % keeps within 2.0 %, 2.05 % does not. NaN is not held.
  [[nodiscard]] bool held() const {
    const double found_digits = std::round(found / digit);
    const double limit_digits = std::round(limit / digit);
    return kind == BoundKind::at_most ? found_digits <= limit_digits : found_digits >= limit_digits;
  }
};

}  // namespace draftscope::simulator
