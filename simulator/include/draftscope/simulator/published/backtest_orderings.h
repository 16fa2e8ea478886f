// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Who is faster than whom in DEL's main tables (1 and 2): DEL chooses exit and length anew each round, FS
// only the length, LayerSkip neither, and measured speedups follow: DEL ≥ FS ≥ LayerSkip. (Table 3 sweeps
// settings and does not keep it throughout.) Whether eTPL puts the three into the same order says how far it
// can be trusted to choose a strategy.

#include <draftscope/base/result.h>
#include <draftscope/simulator/published/backtest_bound.h>
#include <draftscope/simulator/published/published.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// One value a strategy, in the order that is claimed.
struct ThreeStrategies {
  double del = 0.0;
  double fs = 0.0;
  double layerskip = 0.0;

  [[nodiscard]] bool ordered() const { return del >= fs && fs >= layerskip; }
};

struct OrderingCell {
  std::string model;
  std::string task;
  ThreeStrategies speedup;
  std::optional<ThreeStrategies> etpl;  ///< absent where the table prints none ("Overall")
};

struct OrderingBacktest {
  std::vector<OrderingCell> cells;
  std::vector<BacktestBound> bounds;  ///< no cell out of order; all 29 there
};

/// Errors: a model and task of those tables with only some of the three.
[[nodiscard]] Result<OrderingBacktest> backtest_orderings(std::span<const PublishedRow> rows);

}  // namespace draftscope::simulator
