// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Limits of back-tests, from simulator/data/backtest_limits.csv, which the build embeds: each with the day on
// which it was written down and what it rests on. A limit that is the value first found guards against
// regressions and validates nothing; a new one is written down before its data is looked at.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/backtest.h>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A figure of a back-test, to be held against its limit.
struct FoundQuantity {
  std::string_view quantity;
  double found = 0.0;
};

/// The bounds of a test, in the file's order. Errors: a limit on a quantity that was not found, or a quantity
/// without a limit.
[[nodiscard]] Result<std::vector<BacktestBound>> limits_of(std::string_view test,
                                                           const std::vector<FoundQuantity>& found);

/// The same of the quantities that have a limit; the others are for information.
[[nodiscard]] Result<std::vector<BacktestBound>> limits_where_set(std::string_view test,
                                                                  const std::vector<FoundQuantity>& found);

/// Names of the tests in the file, each once. An error is a defect of the build.
[[nodiscard]] Result<std::vector<std::string>> tests_with_limits();

}  // namespace draftscope::simulator
