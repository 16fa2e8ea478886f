// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The simulator's closed forms against published results: every cell's prediction beside what
// the paper prints, and the bounds that the errors have to keep. Acceptance is taken from the papers, so what
// is tested is the price of rounds. Pure functions of the rows, safe from any thread.

#include <draftscope/base/result.h>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Published result rows of self-speculative decoding, from simulator/data/published.csv, which the build
// embeds: LayerSkip, Draft & Verify, SWIFT, DEL and CLaSp as their tables print them, and the LayerSkip
// benchmark of the Hugging Face blog. Ratios without a unit; what a table does not say is absent.

struct PublishedRow {
  std::string paper;
  std::string model;
  std::string task;
  std::string method;
  std::string setting;  ///< "key=value" and words, parted by "; "
  std::string source;   ///< table or section

  std::optional<std::int32_t> n_layers;        ///< L
  std::optional<std::int32_t> exit_layer;      ///< E; absent where it changes ("E=dyn")
  std::optional<double> skip_ratio;            ///< r, of sublayers
  std::optional<std::int32_t> gamma;           ///< fixed draft length; absent where it is a cap ("max=25")
  std::optional<double> mean_accepted_length;  ///< M; CLaSp's own rows print τ = M − 1
  std::optional<double> acceptance_rate;       ///< accepted / drafted
  std::optional<double> etpl;
  std::optional<double> expected_speedup;
  std::optional<double> measured_speedup;
};

/// The embedded rows, in the file's order. An error is a defect of the build.
[[nodiscard]] Result<std::vector<PublishedRow>> published_rows();

/// Rows of a CSV file with the same columns. Errors name `name`, the row and the column.
[[nodiscard]] Result<std::vector<PublishedRow>> read_published(std::string_view csv, std::string name);

/// The number after "key=" in the row's setting; absent if the key is.
[[nodiscard]] Result<std::optional<double>> setting_number(const PublishedRow& row, std::string_view key);

// Promises of a back-test: a figure of its cells has to stay within a limit.

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
  std::string date;   ///< on which the limit was written down
  std::string basis;  ///< what it rests on: a count, rounding, or the value first found (a regression test)

  /// Whether `found` keeps the limit without rounding. NaN does not.
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

// Who is faster than whom in DEL's main tables (1 and 2): DEL chooses exit and length anew each round, FS
// only the length, LayerSkip neither, and measured speedups follow: DEL ≥ FS ≥ LayerSkip. (Table 3 sweeps
// settings and does not keep it throughout.) Whether eTPL puts the three into the same order says how far it
// can be trusted to choose a strategy. Published figures against published figures: a consistency check.

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
  std::vector<BacktestCell> cells = {};
  std::vector<BacktestBound> bounds = {};  ///< none: for information; simulator/data/backtest_limits.csv
  /// Published figures against published figures: a test of the transcription, not of a model.
  bool is_consistency_check = false;
};

/// SWIFT's Equation 6 (closed_forms.h) against its expected speedups: the 9 cells of its Table 4.
/// The bound is what rounding of M, α and the result leaves.
[[nodiscard]] Result<Backtest> backtest_swift_expected(std::span<const PublishedRow> rows);

/// The same equation against measured speedups, of every row with M, α and r (Tables 2 to 4, 7 and 8).
/// Information.
[[nodiscard]] Result<Backtest> backtest_swift_measured(std::span<const PublishedRow> rows);

/// L · eTPL against the measured speedups of DEL's LayerSkip rows with fixed E and γ (24 cells, seven models;
/// Tables 1 and 2): layer counting alone. Information.
[[nodiscard]] Result<Backtest> backtest_layer_count(std::span<const PublishedRow> rows);

/// The affine model (backtest_pass_overhead.h) on the same cells, each predicted with the h of its model's
/// other tasks. It tests that what layer counting promises too much carries over between tasks of a model;
/// backtest_constant_ratio() does as well, so that it says little for the affine form itself.
[[nodiscard]] Result<Backtest> backtest_across_tasks(std::span<const PublishedRow> rows);

/// Layer counting times its mean ratio to measured speedups on the model's other tasks. Information: what the
/// affine model has to beat.
[[nodiscard]] Result<Backtest> backtest_constant_ratio(std::span<const PublishedRow> rows);

/// The affine model, each cell predicted with one h of all other models: here its form matters.
[[nodiscard]] Result<Backtest> backtest_across_models(std::span<const PublishedRow> rows);

/// DEL's Table 3: LayerSkip at another length than the one whose eTPL is known (Table 1), at the same exit:
/// every token is accepted with the probability that the known M gives, h is from the model's other tasks.
[[nodiscard]] Result<Backtest> backtest_other_lengths(std::span<const PublishedRow> rows);

/// FS's rows (Tables 1 and 2) from the same probability: lengths as a chain that grows with α^γ and shrinks
/// otherwise. Real acceptance comes in runs, which favours FS: expected to be pessimistic.
[[nodiscard]] Result<Backtest> backtest_finite_state_lengths(std::span<const PublishedRow> rows);

/// The blog's speedups against its own times a token, vanilla / assisted: a test of the transcription.
/// The bound is what two decimals leave.
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
