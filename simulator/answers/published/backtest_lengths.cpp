// SPDX-License-Identifier: GPL-3.0-or-later
// Lengths that were not looked at, from the acceptance of one that was: every draft token is accepted with
// the same probability, which M at the known length gives.

#include <draftscope/simulator/answers/backtest.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answers/published/backtest_limits.h"
#include "answers/published/fixed_length_rows.h"

namespace draftscope::simulator {

namespace {

/// A row whose acceptance is known, and what its model's other tasks say of a pass.
struct KnownAcceptance {
  double alpha = 0.0;
  double overhead = 0.0;  ///< h, in layers
};

Result<KnownAcceptance> known_acceptance(std::span<const FixedLengthRow> fixed, const FixedLengthRow& known) {
  const FixedLengthCell& cell = known.cell;
  const auto alpha = iid_acceptance_rate(cell.mean_accepted_length, cell.gamma);
  if (!alpha) return fail_at(*known.row, alpha.error());
  DRAFTSCOPE_TRY_ASSIGN(const double overhead,
                        overhead_from(fixed, *known.row, [&](const FixedLengthRow& taught) {
                          return taught.row->model == known.row->model && taught.row->task != known.row->task;
                        }));
  return KnownAcceptance{*alpha, overhead};
}

/// The row of the same model and task that a fixed length's acceptance is known of, at this exit.
const FixedLengthRow* known_at_exit(std::span<const FixedLengthRow> fixed, const PublishedRow& row) {
  const auto found = std::find_if(fixed.begin(), fixed.end(), [&](const FixedLengthRow& known) {
    return known.row->model == row.model && known.row->task == row.task &&
           known.cell.exit_layer == row.exit_layer;
  });
  return found == fixed.end() ? nullptr : &*found;
}

/// Speedup of lengths that grow by one where all of a draft is accepted and shrink by one otherwise, down to
/// 1: a birth-death chain, whose shares follow from α^γ, the chance to grow.
double finite_state_speedup(const FixedLengthCell& cell, const KnownAcceptance& known) {
  constexpr std::int32_t max_gamma = 63;
  double share = 1.0;
  double tokens = 0.0;
  double layers = 0.0;
  for (std::int32_t gamma = 1; gamma <= max_gamma; ++gamma) {
    const double all = std::pow(known.alpha, gamma);
    tokens += share * (known.alpha < 1.0 ? (1.0 - all * known.alpha) / (1.0 - known.alpha) : gamma + 1.0);
    layers += share * (gamma * (cell.exit_layer + known.overhead) + cell.n_layers + known.overhead);
    share *= all / std::max(1.0 - all * known.alpha, 1e-12);
  }
  return tokens * (cell.n_layers + known.overhead) / layers;
}

Result<std::vector<BacktestBound>> count_bound(const Backtest& test) {
  return limits_where_set(test.name, {{"cells", static_cast<double>(test.cells.size())}});
}

}  // namespace

Result<Backtest> backtest_other_lengths(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{
      .name = "other_lengths",
      .title = "LayerSkip: another length at the same exit, from an equal acceptance of every token"};
  for (const PublishedRow& row : rows) {
    if (row.source != "DEL Table 3" || !row.method.starts_with("LS(") || !row.gamma || !row.measured_speedup)
      continue;
    const FixedLengthRow* const known = known_at_exit(fixed, row);
    if (known == nullptr || known->cell.gamma == *row.gamma) continue;
    DRAFTSCOPE_TRY_ASSIGN(const KnownAcceptance acceptance, known_acceptance(fixed, *known));
    FixedLengthRow asked{&row, known->cell};
    asked.cell.gamma = *row.gamma;
    const auto tokens = expected_tokens(acceptance.alpha, *row.gamma);
    if (!tokens) return fail_at(row, tokens.error());
    asked.cell.mean_accepted_length = *tokens;
    const auto predicted = pass_overhead_speedup(asked.cell, acceptance.overhead);
    if (!predicted) return fail_at(row, predicted.error());
    test.cells.push_back({row.model, row.task,
                          fmt::format("{} from gamma={}", setting_of(asked), known->cell.gamma), row.source,
                          *predicted, *row.measured_speedup});
  }
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, count_bound(test));
  return test;
}

Result<Backtest> backtest_finite_state_lengths(std::span<const PublishedRow> rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto fixed, fixed_length_rows(rows));
  Backtest test{.name = "finite_state_lengths",
                .title = "FS: lengths by rule, from LayerSkip's acceptance, equal for every token"};
  for (const PublishedRow& row : rows) {
    const bool is_of_main_tables = row.source == "DEL Table 1" || row.source == "DEL Table 2";
    if (!is_of_main_tables || !row.method.starts_with("FS(") || !row.measured_speedup || !row.etpl) continue;
    const FixedLengthRow* const known = known_at_exit(fixed, row);
    if (known == nullptr) continue;
    DRAFTSCOPE_TRY_ASSIGN(const KnownAcceptance acceptance, known_acceptance(fixed, *known));
    test.cells.push_back({row.model, row.task, fmt::format("fs:exit={}", known->cell.exit_layer), row.source,
                          finite_state_speedup(known->cell, acceptance), *row.measured_speedup});
  }
  DRAFTSCOPE_TRY_ASSIGN(test.bounds, count_bound(test));
  return test;
}

}  // namespace draftscope::simulator
