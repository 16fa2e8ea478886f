// SPDX-License-Identifier: GPL-3.0-or-later
#include "backtest.h"

#include <draftscope/simulator/prices/closed_forms.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "backtest_limits.h"
#include "pass_overhead.h"

namespace draftscope::simulator {

namespace {

/// Held against the limits of the test's name.
Result<std::vector<BacktestBound>> bounds_of(const Backtest& test, std::string_view quantity, double found) {
  return limits_of(test.name, {{quantity, found}, {"cells", static_cast<double>(test.cells.size())}});
}

Result<std::vector<BacktestBound>> error_bounds(const Backtest& test) {
  const ErrorSummary errors = error_summary(test.cells);
  return limits_of(test.name, {{"mean error", errors.mean_absolute},
                               {"greatest error", errors.greatest},
                               {"cells", static_cast<double>(test.cells.size())}});
}

double greatest_difference(const Backtest& test) {
  double greatest = 0.0;
  for (const BacktestCell& cell : test.cells) greatest = std::max(greatest, std::abs(cell.difference()));
  return greatest;
}

using Compared = std::optional<double> PublishedRow::*;

/// Equation 6 on SWIFT's rows that print M, α, r and the column to compare with.
Result<Backtest> backtest_swift(std::span<const PublishedRow> rows, Compared column) {
  Backtest test;
  for (const PublishedRow& row : rows) {
    if (row.paper != "SWIFT" || !row.method.starts_with("SWIFT") || !row.mean_accepted_length ||
        !row.acceptance_rate || !row.skip_ratio || !(row.*column))
      continue;
    const auto predicted =
        swift_speedup(*row.mean_accepted_length, *row.acceptance_rate, 1.0 - *row.skip_ratio);
    if (!predicted) return fail_at(row, predicted.error());
    // A measured row says which ablation or run it is.
    const std::string setting = fmt::format("skip={}", *row.skip_ratio);
    test.cells.push_back({row.model, row.task,
                          row.method == "SWIFT" ? setting : setting + row.method.substr(5), row.source,
                          *predicted, *(row.*column)});
  }
  return test;
}

/// The affine model, each cell with the h that was fitted to those that `teaches` lets it learn from.
Result<std::vector<BacktestCell>> predict_left_out(
    std::span<const FixedLengthRow> fixed,
    const std::function<bool(const FixedLengthRow& taught, const FixedLengthRow& left_out)>& teaches) {
  std::vector<BacktestCell> cells;
  for (const FixedLengthRow& left_out : fixed) {
    DRAFTSCOPE_TRY_ASSIGN(
        const double h, overhead_from(fixed, *left_out.row,
                                      [&](const FixedLengthRow& other) { return teaches(other, left_out); }));
    const auto predicted = pass_overhead_speedup(left_out.cell, h);
    if (!predicted) return fail_at(*left_out.row, predicted.error());
    cells.push_back({left_out.row->model, left_out.row->task, setting_of(left_out), left_out.row->source,
                     *predicted, left_out.cell.speedup});
  }
  return cells;
}

/// The rows of one model and task.
struct Rows {
  const PublishedRow* del = nullptr;
  const PublishedRow* fs = nullptr;
  const PublishedRow* layerskip = nullptr;
};

ThreeStrategies values(const Rows& rows, std::optional<double> PublishedRow::*column) {
  return {.del = (rows.del->*column).value_or(0.0),
          .fs = (rows.fs->*column).value_or(0.0),
          .layerskip = (rows.layerskip->*column).value_or(0.0)};
}

}  // namespace

ErrorSummary error_summary(std::span<const BacktestCell> cells) {
  ErrorSummary summary;
  for (const BacktestCell& cell : cells) {
    const double error = cell.relative_error();
    summary.mean += error / static_cast<double>(cells.size());
    summary.mean_absolute += std::abs(error) / static_cast<double>(cells.size());
    summary.greatest = std::max(summary.greatest, std::abs(error));
  }
  return summary;
}

Result<Backtest> backtest_swift_expected(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(Backtest test, backtest_swift(rows, &PublishedRow::expected_speedup));
  test.name = "swift_expected";
  test.title = "SWIFT: Equation 6 against the expected speedups of its Table 4";
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, bounds_of(test, "greatest difference", greatest_difference(test)));
  return test;
}

Result<Backtest> backtest_swift_measured(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(Backtest test, backtest_swift(rows, &PublishedRow::measured_speedup));
  test.name = "swift_measured";
  test.title = "SWIFT: Equation 6 against measured speedups";
  return test;
}

Result<Backtest> backtest_layer_count(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "layer_count", .title = "LayerSkip: layer counting alone, L x eTPL"};
  for (const FixedLengthRow& row : fixed)
    test.cells.push_back({row.row->model, row.row->task, setting_of(row), row.row->source,
                          row.cell.n_layers * *row.row->etpl, row.cell.speedup});
  return test;
}

Result<Backtest> backtest_across_tasks(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "across_tasks",
                .title = "LayerSkip: pass overhead fitted to the same model's other tasks"};
  DRAFTSCOPE_TRY_ASSIGN(
      test.cells, predict_left_out(fixed, [](const FixedLengthRow& taught, const FixedLengthRow& left_out) {
        return taught.row->model == left_out.row->model && taught.row->task != left_out.row->task;
      }));
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, error_bounds(test));
  return test;
}

Result<Backtest> backtest_constant_ratio(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "constant_ratio",
                .title = "LayerSkip: layer counting times its ratio on the same model's other tasks"};
  for (const FixedLengthRow& left_out : fixed) {
    double log_ratio = 0.0;
    double count = 0.0;
    for (const FixedLengthRow& other : fixed) {
      if (other.row->model != left_out.row->model || other.row->task == left_out.row->task) continue;
      log_ratio += std::log(other.cell.speedup / (other.cell.n_layers * *other.row->etpl));
      count += 1.0;
    }
    if (count == 0.0) return fail_at(*left_out.row, {"found no other task of its model, expected one"});
    test.cells.push_back({left_out.row->model, left_out.row->task, setting_of(left_out), left_out.row->source,
                          std::exp(log_ratio / count) * left_out.cell.n_layers * *left_out.row->etpl,
                          left_out.cell.speedup});
  }
  return test;
}

Result<Backtest> backtest_across_models(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "across_models", .title = "LayerSkip: one pass overhead fitted to all other models"};
  DRAFTSCOPE_TRY_ASSIGN(
      test.cells, predict_left_out(fixed, [](const FixedLengthRow& taught, const FixedLengthRow& left_out) {
        return taught.row->model != left_out.row->model;
      }));
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, error_bounds(test));
  return test;
}

Result<Backtest> backtest_blog(std::span<const PublishedRow> rows) {
  Backtest test{.name = "blog_ratios",
                .title = "LayerSkip blog: times a token, vanilla / assisted",
                .is_consistency_check = true};
  for (const PublishedRow& row : rows) {
    if (row.paper != "HF LayerSkip blog" || !row.measured_speedup) continue;
    DRAFTSCOPE_TRY_ASSIGN(const auto vanilla_ms, setting_number(row, "ms_per_token_AR"));
    DRAFTSCOPE_TRY_ASSIGN(const auto assisted_ms, setting_number(row, "ms_per_token_assisted"));
    if (vanilla_ms.value_or(0.0) <= 0.0 || assisted_ms.value_or(0.0) <= 0.0)
      return fail_at(row, {"found no times a token above 0, expected ms_per_token_AR and _assisted"});
    test.cells.push_back({row.model, row.task,
                          row.exit_layer ? fmt::format("exit={}", *row.exit_layer) : row.method, row.source,
                          *vanilla_ms / *assisted_ms, *row.measured_speedup});
  }
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, bounds_of(test, "greatest difference", greatest_difference(test)));
  return test;
}

Result<OrderingBacktest> backtest_orderings(std::span<const PublishedRow> rows) {
  std::map<std::tuple<std::string, std::string, std::string>, Rows> groups;
  for (const PublishedRow& row : rows) {
    if (row.source != "DEL Table 1" && row.source != "DEL Table 2") continue;
    Rows& group = groups[{row.source, row.model, row.task}];
    if (row.method == "DEL") group.del = &row;
    if (row.method.starts_with("FS(")) group.fs = &row;
    if (row.method.starts_with("LS(")) group.layerskip = &row;
  }
  OrderingBacktest result;
  for (const auto& [key, group] : groups) {
    const auto& [source, model, task] = key;
    const auto lacks = [](const PublishedRow* row) { return row == nullptr || !row->measured_speedup; };
    if (lacks(group.del) || lacks(group.fs) || lacks(group.layerskip))
      return fail("{}, {}, {}: found not all of DEL, FS and LS, expected a measured speedup of each", source,
                  model, task);
    OrderingCell& cell = result.cells.emplace_back();
    cell.model = model;
    cell.task = task;
    cell.speedup = values(group, &PublishedRow::measured_speedup);
    if (group.del->etpl && group.fs->etpl && group.layerskip->etpl)
      cell.etpl = values(group, &PublishedRow::etpl);
  }
  const auto out_of_order = std::count_if(result.cells.begin(), result.cells.end(),
                                          [](const OrderingCell& cell) { return !cell.speedup.ordered(); });
  DRAFTSCOPE_TRY_ASSIGN(
      result.bounds,
      limits_of("orderings", {{"DEL, FS, LayerSkip out of order", static_cast<double>(out_of_order)},
                              {"cells", static_cast<double>(result.cells.size())}}));
  return result;
}

Result<double> etpl_rounding(std::span<const PublishedRow> rows) {
  constexpr double half_a_digit = 0.0005;
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  double sum = 0.0;
  for (const FixedLengthRow& row : fixed) sum += half_a_digit / *row.row->etpl;
  return fixed.empty() ? 0.0 : sum / static_cast<double>(fixed.size());
}

std::vector<BacktestBound> PublishedBacktests::bounds() const {
  std::vector<BacktestBound> all;
  for (const Backtest& test : tables) all.insert(all.end(), test.bounds.begin(), test.bounds.end());
  all.insert(all.end(), orderings.bounds.begin(), orderings.bounds.end());
  return all;
}

Result<PublishedBacktests> backtest_published(std::span<const PublishedRow> rows) {
  PublishedBacktests result;
  for (const auto& backtest : {backtest_swift_expected, backtest_swift_measured, backtest_layer_count,
                               backtest_across_tasks, backtest_constant_ratio, backtest_across_models,
                               backtest_other_lengths, backtest_finite_state_lengths, backtest_blog}) {
    DRAFTSCOPE_TRY_ASSIGN(Backtest test, backtest(rows));
    result.tables.push_back(std::move(test));
  }
  DRAFTSCOPE_TRY_ASSIGN(result.orderings, backtest_orderings(rows));
  DRAFTSCOPE_TRY_ASSIGN(result.etpl_rounding, etpl_rounding(rows));
  return result;
}

}  // namespace draftscope::simulator
