// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/pass_sums.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <limits>
#include <string_view>

#include "answers/uncertainty/confidence_draws.h"

namespace draftscope::simulator {

namespace {

constexpr PassKind draft_round{.exit = 0, .rows = 0};
constexpr PassKind target_step{.exit = 0, .rows = 1};
constexpr std::int32_t auxiliary_pass = -1;
constexpr PassKind host_time{.exit = -2, .rows = 0};

template <typename Visit>
void visit_passes(const RoundStatistics& statistics, const Visit& visit) {
  visit(draft_round, PassCount{.passes = statistics.rounds - statistics.target_steps.passes});
  visit(target_step, statistics.target_steps);
  for (const DraftStatistics& draft : statistics.drafts) {
    visit(PassKind{draft.exit, 1}, draft.steps);
    for (std::size_t i = 0; i < draft.planned_beyond.size(); ++i)
      visit(PassKind{draft.exit, -row_steps[i]}, PassCount{.passes = draft.planned_beyond[i]});
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows)
      visit(PassKind{draft.exit, static_cast<std::int32_t>(rows)}, draft.verify[rows]);
  }
  for (std::size_t i = 0; i < statistics.auxiliary.size(); ++i)
    visit(PassKind{auxiliary_pass, static_cast<std::int32_t>(i)}, statistics.auxiliary[i]);
  visit(host_time, PassCount{.passes = statistics.host_ns});
}

/// Draws that are computed together before they are written to their columns.
constexpr std::size_t draws_at_once = 16;

constexpr std::int32_t min_draws = 200;
constexpr std::int32_t max_draws = 100'000;

Result<void> check_requests(std::span<const PassCount> vanilla, std::span<const RoundStatistics> statistics,
                            std::string_view which, AnswerStatus status) {
  if (statistics.size() != vanilla.size())
    return fail("setting, {} draft tokens: found {} requests, expected {} as vanilla decoding has", which,
                statistics.size(), vanilla.size());
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    const RoundStatistics& request = statistics[i];
    // A model of acceptance need not end where the text does. Vanilla decoding takes one more step to find
    // the end of a text that ended at an end-of-sequence token, which is not emitted.
    const std::int64_t steps = vanilla[i].passes;
    if (status < AnswerStatus::approximate && request.tokens != steps && request.tokens + 1 != steps)
      return fail("setting, request {}: found {} tokens, expected {} or one less, as vanilla decoding emits",
                  i, request.tokens, steps);
  }
  return {};
}

/// Price of a kind, which `prices` must cover.
AffineTime price_of(const Prices& prices, PassKind kind) {
  if (kind == draft_round) return {.ns = prices.round_ns};
  if (kind == host_time) return {.ns = prices.host_ratio};
  if (kind.exit == auxiliary_pass) return prices.auxiliary[static_cast<std::size_t>(kind.rows)];
  if (kind == target_step) {
    AffineTime time = prices.target_step;
    time.ns += prices.step_round_ns;
    return time;
  }
  const DraftPrices& draft = prices.drafts[static_cast<std::size_t>(kind.exit)];
  if (kind.rows < 0)
    return {.ns = draft.planned_ns[static_cast<std::size_t>(std::ranges::find(row_steps, -kind.rows) -
                                                            row_steps.begin())]};
  return kind.rows == 1 ? draft.step : draft.verify[static_cast<std::size_t>(kind.rows)];
}

}  // namespace

PassSums pass_sums(std::span<const RoundStatistics> statistics, std::span<const std::size_t> requests) {
  PassSums result;
  for (const std::size_t request : requests)
    visit_passes(statistics[request], [&](PassKind kind, const PassCount& count) {
      if (count.passes == 0 && count.context == 0) return;
      const auto place = std::lower_bound(result.kinds.begin(), result.kinds.end(), kind);
      if (place == result.kinds.end() || !(*place == kind)) result.kinds.insert(place, kind);
    });
  result.sums = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(requests.size()),
                                      static_cast<Eigen::Index>(2 * result.kinds.size()));
  for (std::size_t i = 0; i < requests.size(); ++i)
    visit_passes(statistics[requests[i]], [&](PassKind kind, const PassCount& count) {
      if (count.passes == 0 && count.context == 0) return;
      const auto place = std::lower_bound(result.kinds.begin(), result.kinds.end(), kind);
      const auto column = 2 * (place - result.kinds.begin());
      result.sums(static_cast<Eigen::Index>(i), column) += static_cast<double>(count.passes);
      result.sums(static_cast<Eigen::Index>(i), column + 1) += static_cast<double>(count.context);
    });
  return result;
}

PassSums pass_sums(std::span<const PassCount> vanilla, std::span<const std::size_t> requests) {
  PassSums result{.kinds = {target_step},
                  .sums = Eigen::MatrixXd(static_cast<Eigen::Index>(requests.size()), 2)};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    result.sums(static_cast<Eigen::Index>(i), 0) = static_cast<double>(vanilla[requests[i]].passes);
    result.sums(static_cast<Eigen::Index>(i), 1) = static_cast<double>(vanilla[requests[i]].context);
  }
  return result;
}

Eigen::VectorXd price_vector(const Prices& prices, std::span<const PassKind> kinds) {
  Eigen::VectorXd vector(static_cast<Eigen::Index>(2 * kinds.size()));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const AffineTime time = price_of(prices, kinds[i]);
    vector(static_cast<Eigen::Index>(2 * i)) = time.ns;
    vector(static_cast<Eigen::Index>(2 * i + 1)) = time.ns_per_context_row;
  }
  return vector;
}

Eigen::MatrixXd price_matrix(const PriceDraws& draws, PriceSources vary, std::size_t count,
                             std::span<const PassKind> kinds, std::size_t threads) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(2 * kinds.size()));
  const std::size_t blocks = (count + draws_at_once - 1) / draws_at_once;
  for_each_index(blocks, threads, [&](std::size_t block) {
    const std::size_t first = block * draws_at_once;
    const std::size_t rows = std::min(draws_at_once, count - first);
    Eigen::MatrixXd transposed(matrix.cols(), static_cast<Eigen::Index>(rows));
    for (std::size_t row = 0; row < rows; ++row) {
      const Prices prices = draws(first + row, vary);
      transposed.col(static_cast<Eigen::Index>(row)) = price_vector(prices, kinds);
    }
    matrix.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(rows)) =
        transposed.transpose();
  });
  return matrix;
}

Eigen::MatrixXd count_matrix(std::uint64_t seed, std::size_t draws, std::size_t requests) {
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(draws), static_cast<Eigen::Index>(requests));
  std::vector<double> counts(requests);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    draw_counts(seed, draw, counts);
    matrix.row(static_cast<Eigen::Index>(draw)) =
        Eigen::Map<const Eigen::RowVectorXd>(counts.data(), static_cast<Eigen::Index>(requests));
  }
  return matrix;
}

Result<void> check_setting(std::span<const PassCount> vanilla, const SettingRounds& setting,
                           const PricedMachine& machine, const PredictionOptions& options) {
  if (setting.status == AnswerStatus::invalid)
    return fail("setting: found status invalid, expected one whose text is the recorded one");
  if (options.draws < min_draws || options.draws > max_draws)
    return fail("draws: found {}, expected {} to {}", options.draws, min_draws, max_draws);
  if (requests_with_tokens(vanilla).empty())
    return fail("setting: found no request with tokens, expected at least one");
  DRAFTSCOPE_TRY(check_requests(vanilla, setting.min_drafted, "fewest", setting.status));
  if (!setting.max_drafted.empty())
    DRAFTSCOPE_TRY(check_requests(vanilla, setting.max_drafted, "most", setting.status));
  const Prices drawn = machine.draws ? machine.draws(0, {}) : machine.prices;
  for (const auto* requests : {&setting.min_drafted, &setting.max_drafted})
    for (const RoundStatistics& request : *requests) {
      DRAFTSCOPE_TRY(check_covered(request, machine.prices));
      DRAFTSCOPE_TRY(check_covered(request, drawn));
    }
  return {};
}

std::vector<std::size_t> requests_with_tokens(std::span<const PassCount> vanilla) {
  std::vector<std::size_t> requests;
  for (std::size_t i = 0; i < vanilla.size(); ++i)
    if (vanilla[i].passes > 0) requests.push_back(i);
  return requests;
}

bool is_time(const Eigen::Ref<const Eigen::ArrayXd>& times) {
  return (times > 0.0 && times < std::numeric_limits<double>::max()).all();
}

}  // namespace draftscope::simulator
