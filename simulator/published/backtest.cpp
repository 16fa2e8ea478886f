// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/published/backtest.h>

#include <draftscope/simulator/closed_forms/closed_forms.h>
#include <algorithm>
#include <cmath>
#include <functional>

#include "published/backtest_pass_overhead.h"

namespace draftscope::simulator {

namespace {

/// A published row with a fixed exit and length, as the affine model takes it.
struct FixedLengthRow {
  const PublishedRow* row = nullptr;
  FixedLengthCell cell;
};

/// "<row>: <what went wrong>", so that an error of a formula names the row it was asked for.
tl::unexpected<Error> fail_at(const PublishedRow& row, const Error& error) {
  return fail("{}, {}, {}, {}: {}", row.source, row.model, row.task, row.method, error.message);
}

/// DEL's LayerSkip rows with an eTPL; FS and DEL change their length, so no γ gives their M.
Result<std::vector<FixedLengthRow>> fixed_length_rows(std::span<const PublishedRow> rows) {
  std::vector<FixedLengthRow> result;
  for (const PublishedRow& row : rows) {
    if (row.paper != "DEL" || !row.method.starts_with("LS(") || !row.etpl || !row.measured_speedup) continue;
    if (!row.n_layers || !row.exit_layer || !row.gamma || *row.etpl <= 0.0 || *row.measured_speedup <= 0.0)
      return fail_at(row, {"found no L, E, gamma, eTPL and speedup above 0, expected all of them"});
    const double loaded = static_cast<double>(*row.gamma) * *row.exit_layer + *row.n_layers;
    result.push_back({&row,
                      {.n_layers = *row.n_layers,
                       .exit_layer = *row.exit_layer,
                       .gamma = *row.gamma,
                       .mean_accepted_length = *row.etpl * loaded,
                       .speedup = *row.measured_speedup}});
  }
  return result;
}

std::string setting_of(const FixedLengthRow& fixed) {
  return fmt::format("exit={},gamma={}", fixed.cell.exit_layer, fixed.cell.gamma);
}

BacktestBound cell_bound(const Backtest& test, int least) {
  return {.quantity = "cells",
          .unit = BoundUnit::cells,
          .kind = BoundKind::at_least,
          .found = static_cast<double>(test.cells.size()),
          .limit = static_cast<double>(least)};
}

/// The limits of mean errors are figures that were rounded to a tenth of a percent when they were first
/// measured on these rows; a mean that rounds to the same has not become worse.
BacktestBound mean_bound(const ErrorSummary& errors, double limit) {
  return {.quantity = "mean error", .found = errors.mean_absolute, .limit = limit, .digit = 0.001};
}

BacktestBound greatest_bound(const ErrorSummary& errors, double limit) {
  return {.quantity = "greatest error", .found = errors.greatest, .limit = limit};
}

BacktestBound difference_bound(const Backtest& test, double limit) {
  double greatest = 0.0;
  for (const BacktestCell& cell : test.cells) greatest = std::max(greatest, std::abs(cell.difference()));
  return {.quantity = "greatest difference", .unit = BoundUnit::speedup, .found = greatest, .limit = limit};
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
    std::vector<FixedLengthCell> taught;
    for (const FixedLengthRow& other : fixed)
      if (teaches(other, left_out)) taught.push_back(other.cell);
    const auto h = fit_pass_overhead(taught);
    if (!h) return fail_at(*left_out.row, h.error());
    const auto predicted = pass_overhead_speedup(left_out.cell, *h);
    if (!predicted) return fail_at(*left_out.row, predicted.error());
    cells.push_back({left_out.row->model, left_out.row->task, setting_of(left_out), left_out.row->source,
                     *predicted, left_out.cell.speedup});
  }
  return cells;
}

constexpr int fixed_length_cells = 24;

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
  test.bounds = {difference_bound(test, 0.006), cell_bound(test, 9)};
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
  const ErrorSummary errors = error_summary(test.cells);
  test.bounds = {mean_bound(errors, 0.020), greatest_bound(errors, 0.056),
                 cell_bound(test, fixed_length_cells)};
  return test;
}

Result<Backtest> backtest_across_models(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "across_models", .title = "LayerSkip: one pass overhead fitted to all other models"};
  DRAFTSCOPE_TRY_ASSIGN(
      test.cells, predict_left_out(fixed, [](const FixedLengthRow& taught, const FixedLengthRow& left_out) {
        return taught.row->model != left_out.row->model;
      }));
  const ErrorSummary errors = error_summary(test.cells);
  test.bounds = {mean_bound(errors, 0.031), greatest_bound(errors, 0.084),
                 cell_bound(test, fixed_length_cells)};
  return test;
}

Result<Backtest> backtest_blog(std::span<const PublishedRow> rows) {
  Backtest test{.name = "blog_ratios", .title = "LayerSkip blog: times a token, vanilla / assisted"};
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
  test.bounds = {difference_bound(test, 0.005), cell_bound(test, 18)};
  return test;
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
                               backtest_across_tasks, backtest_across_models, backtest_blog}) {
    DRAFTSCOPE_TRY_ASSIGN(Backtest test, backtest(rows));
    result.tables.push_back(std::move(test));
  }
  DRAFTSCOPE_TRY_ASSIGN(result.orderings, backtest_orderings(rows));
  DRAFTSCOPE_TRY_ASSIGN(result.etpl_rounding, etpl_rounding(rows));
  return result;
}

}  // namespace draftscope::simulator
