// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The simulator's closed forms against published results (published.h): every cell's prediction beside what
// the paper prints, and the bounds that the errors have to keep. Acceptance is taken from the papers, so what
// is tested is the price of rounds. Pure functions of the rows, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/published/backtest_bound.h>
#include <draftscope/simulator/published/backtest_orderings.h>
#include <draftscope/simulator/published/published.h>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct BacktestCell {
  std::string model;
  std::string task;
  std::string setting;  ///< "exit=7,gamma=6", "skip=0.45", or the method's own name
  std::string source;   ///< table or section that prints it
  double predicted = 0.0;
  double published = 0.0;  ///< above 0

  [[nodiscard]] double difference() const { return predicted - published; }
  [[nodiscard]] double relative_error() const { return predicted / published - 1.0; }
};

struct ErrorSummary {
  double mean = 0.0;           ///< of relative errors: the bias
  double mean_absolute = 0.0;  ///< of their magnitudes
  double greatest = 0.0;       ///< magnitude
};

/// Zeros without cells.
[[nodiscard]] ErrorSummary error_summary(std::span<const BacktestCell> cells);

struct Backtest {
  std::string name;   ///< "swift_expected"
  std::string title;  ///< one line
  std::vector<BacktestCell> cells;
  std::vector<BacktestBound> bounds;  ///< none: for information
};

/// SWIFT's Equation 6 (closed_forms.h) against its expected speedups: the 9 cells of its Table 4.
/// Bound: ±0.006, what rounding of M, α and the result leaves.
[[nodiscard]] Result<Backtest> backtest_swift_expected(std::span<const PublishedRow> rows);

/// The same against measured speedups, of every row with M, α and r (Tables 2 to 4, 7 and 8). Information.
[[nodiscard]] Result<Backtest> backtest_swift_measured(std::span<const PublishedRow> rows);

/// L · eTPL against the measured speedups of DEL's LayerSkip rows with fixed E and γ (24 cells, seven models;
/// Tables 1 and 2): layer counting alone. Information.
[[nodiscard]] Result<Backtest> backtest_layer_count(std::span<const PublishedRow> rows);

/// The affine model (backtest_pass_overhead.h) on the same cells, each predicted with the h of its model's
/// other tasks. Bounds: 2.0 % on average (compared to that digit), 5.6 % at most.
[[nodiscard]] Result<Backtest> backtest_across_tasks(std::span<const PublishedRow> rows);

/// The same, each predicted with one h of all other models. Bounds: 3.1 % on average (to that digit), 8.4 %
/// at most.
[[nodiscard]] Result<Backtest> backtest_across_models(std::span<const PublishedRow> rows);

/// The blog's speedups against its own times a token, vanilla / assisted: a test of the transcription.
/// 18 cells. Bound: ±0.005, what two decimals leave.
[[nodiscard]] Result<Backtest> backtest_blog(std::span<const PublishedRow> rows);

/// Mean over the fixed-length cells of 0.0005 / eTPL, the relative error that DEL's three decimals of eTPL
/// leave in M at most: no model can be tested more sharply than that. 0 without cells.
[[nodiscard]] Result<double> etpl_rounding(std::span<const PublishedRow> rows);

struct PublishedBacktests {
  std::vector<Backtest> tables;
  OrderingBacktest orderings;
  double etpl_rounding = 0.0;

  [[nodiscard]] std::vector<BacktestBound> bounds() const;
};

/// All of them, in the order above. An error is a row that a formula can't take.
[[nodiscard]] Result<PublishedBacktests> backtest_published(std::span<const PublishedRow> rows);

}  // namespace draftscope::simulator
