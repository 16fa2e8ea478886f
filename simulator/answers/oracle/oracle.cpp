// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/oracle.h>

#include <algorithm>
#include <limits>

#include "answers/oracle/round_costs.h"
#include "answers/oracle/text_rounds.h"

namespace draftscope::simulator {

namespace {

/// Times of whole rounds, [index into exits][length].
using DraftRoundTimes = std::vector<std::vector<AffineTime>>;

DraftRoundTimes round_times(const Prices& prices, const OracleChoices& choices) {
  DraftRoundTimes times(choices.exits.size());
  const std::int32_t longest = choices.lengths.empty() ? 0 : choices.lengths.back();
  for (std::size_t i = 0; i < times.size(); ++i) {
    times[i].resize(static_cast<std::size_t>(longest) + 1);
    for (std::int32_t length = 1; length <= longest; ++length)
      times[i][static_cast<std::size_t>(length)] = draft_round(prices, choices.exits[i], length);
  }
  return times;
}

}  // namespace

Result<double> oracle_time_ns(const ShadowTable& table, const Prices& prices, const OracleOptions& options) {
  DRAFTSCOPE_TRY(check(table));
  DRAFTSCOPE_TRY_ASSIGN(const OracleChoices choices, oracle_choices(table, prices, options));
  const DraftRoundTimes times = round_times(prices, choices);
  const RunTable runs = run_table(table, choices.exits);
  const AffineTime plain = plain_round(prices);
  const std::int32_t over = finish(table);

  // Minimum times from each start to the end.
  std::vector<double> least(static_cast<std::size_t>(over - table.first) + 1, 0.0);
  for (std::int32_t position = over - 1; position >= table.first; --position) {
    const auto place = static_cast<std::size_t>(position - table.first);
    const double root = position - 1;
    const std::int32_t left = over - position - 1;
    const std::int32_t allowed = drafts_allowed(table, position, std::numeric_limits<std::int32_t>::max());
    double best = plain.at(root) + least[place + 1];
    const std::span<const std::int32_t> at = runs.at(position);
    for (std::size_t i = 0; i < choices.exits.size(); ++i) {
      const std::int32_t run = options.perfect_drafts ? left : at[i];
      for (const std::int32_t length : choices.lengths) {
        const std::int32_t drafted = std::min(length, allowed);
        if (drafted < 1) break;
        const std::int32_t accepted = std::min(drafted, run);
        best = std::min(best, times[i][static_cast<std::size_t>(drafted)].at(root) +
                                  least[place + static_cast<std::size_t>(accepted) + 1]);
      }
    }
    least[place] = best;
  }
  return least[0];
}

double vanilla_time_ns(const ShadowTable& table, const Prices& prices) {
  return vanilla_time_ns(finish(table) - table.first, table.first - 1, prices);
}

Prices free_drafts(const Prices& prices) {
  Prices result = prices;
  for (DraftPrices& draft : result.drafts) draft.step = {};
  return result;
}

}  // namespace draftscope::simulator
