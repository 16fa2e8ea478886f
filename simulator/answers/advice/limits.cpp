// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/limits.h"

#include <draftscope/simulator/answers/answer.h>

#include <algorithm>

#include "rounds/priced_scenario.h"

namespace draftscope::simulator {

namespace {

Result<bool> pays_at(const AdvisedMachine& advised, std::int32_t batch) {
  Machine machine = advised.machine;
  machine.scenario.batch = batch;
  DRAFTSCOPE_TRY_ASSIGN(const JoinedPrices joined,
                        joined_prices(advised.model, advised.placed.groups, machine,
                                      advised.options.longer_context, advised.options.draws.seed));
  const Competition competition =
      compete(advised.placed, advised.vanilla, joined.target.prices, joined.has_own_ratios);
  return competition.speedup(competition.fastest()) > 1.0;
}

/// The fastest candidate with a given number of additional rows, and its lead.
struct Best {
  std::string strategy;
  double gain = 0.0;  ///< Gain over the chosen one.
};

Best best_at(const AdvisedMachine& advised, std::optional<std::size_t> chosen, const Prices& prices,
             bool has_own_ratios, std::int32_t more_rows) {
  const Competition competition =
      compete(advised.placed, advised.vanilla, at_longer_context(prices, more_rows), has_own_ratios);
  const std::size_t fastest = competition.fastest();
  const bool drafts = competition.speedup(fastest) > 1.0;
  const double best_ns = drafts ? competition.total_ns[fastest] : competition.vanilla_ns;
  const double chosen_ns = chosen ? competition.total_ns[*chosen] : competition.vanilla_ns;
  return {drafts ? advised.placed.rounds[fastest].strategy : "vanilla", chosen_ns / best_ns - 1.0};
}

/// Minimum rows of a pass that verifies.
constexpr std::int32_t min_verified = 2;

}  // namespace

Result<BatchLimit> batch_limit(const AdvisedMachine& advised) {
  BatchLimit limit{.last = 0, .searched = advised.options.max_batch};
  std::int32_t above = 1;  // Speculation does not pay here, once the search below has ended.
  while (above <= limit.searched) {
    DRAFTSCOPE_TRY_ASSIGN(const bool pays, pays_at(advised, above));
    if (!pays) break;
    limit.last = above;
    above = above < limit.searched ? std::min(2 * above, limit.searched) : limit.searched + 1;
  }
  while (above - limit.last > 1 && limit.last > 0 && limit.last < limit.searched) {
    const std::int32_t middle = limit.last + (above - limit.last) / 2;
    DRAFTSCOPE_TRY_ASSIGN(const bool pays, pays_at(advised, middle));
    (pays ? limit.last : above) = middle;
  }
  limit.is_extrapolated = min_verified * std::max(limit.last, 1) > advised.model.largest_rows;
  return limit;
}

ContextLimit context_limit(const AdvisedMachine& advised, std::optional<std::size_t> chosen,
                           const Prices& prices, bool has_own_ratios) {
  constexpr std::int32_t first = 256;
  constexpr std::int32_t steps = 16;
  ContextLimit limit{.more_rows = {}, .strategy = {}, .gain = 0.0, .searched = advised.options.max_context};
  const auto changes = [&](std::int32_t rows) {
    return best_at(advised, chosen, prices, has_own_ratios, rows).gain > context_tolerance;
  };
  std::int32_t below = 0;
  std::int32_t above = std::min(first, limit.searched);
  while (!changes(above)) {
    if (above == limit.searched) return limit;
    below = above;
    above = std::min(2 * above, limit.searched);
  }
  while (above - below > std::max(above / steps, 1)) {
    const std::int32_t middle = below + (above - below) / 2;
    (changes(middle) ? above : below) = middle;
  }
  const Best there = best_at(advised, chosen, prices, has_own_ratios, above);
  limit.more_rows = above;
  limit.strategy = there.strategy;
  limit.gain = there.gain;
  limit.is_extrapolated = above > advised.model.largest_context;
  return limit;
}

}  // namespace draftscope::simulator
