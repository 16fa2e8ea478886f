// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/oracle.h>

#include <algorithm>
#include <limits>

#include "answers/oracle/round_costs.h"
#include "answers/oracle/text_rounds.h"

namespace draftscope::simulator {

namespace {

/// A round chosen at a start; exit 0 = without a draft.
struct Choice {
  std::int32_t exit = 0;
  std::int32_t drafted = 0;
  std::int32_t accepted = 0;
};

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

void add_round(OraclePlan& plan, const ShadowTable& table, std::int32_t position, const Choice& choice) {
  plan.rounds.push_back(
      {.position = position, .exit = choice.exit, .drafted = choice.drafted, .accepted = choice.accepted});
  count_round(plan.statistics, table, position, choice.exit, choice.drafted, choice.accepted);
}

}  // namespace

Result<OraclePlan> oracle_plan(const ShadowTable& table, const Prices& prices, const OracleOptions& options) {
  DRAFTSCOPE_TRY(check(table));
  DRAFTSCOPE_TRY_ASSIGN(const OracleChoices choices, oracle_choices(table, prices, options));
  const DraftRoundTimes times = round_times(prices, choices);
  const RunTable runs = run_table(table, choices.exits);
  const AffineTime plain = plain_round(prices);
  const std::int32_t over = finish(table);

  // Minimum times from each start to the end, and the choices that give them.
  std::vector<double> least(static_cast<std::size_t>(over - table.first) + 1, 0.0);
  std::vector<Choice> chosen(least.size());
  for (std::int32_t position = over - 1; position >= table.first; --position) {
    const auto place = static_cast<std::size_t>(position - table.first);
    const double root = position - 1;
    const std::int32_t left = over - position - 1;
    const std::int32_t allowed = drafts_allowed(table, position, std::numeric_limits<std::int32_t>::max());
    double best = options.may_skip || allowed == 0 || choices.exits.empty() || choices.lengths.empty()
                      ? plain.at(root) + least[place + 1]
                      : std::numeric_limits<double>::infinity();
    Choice choice;
    const std::span<const std::int32_t> at = runs.at(position);
    for (std::size_t i = 0; i < choices.exits.size(); ++i) {
      const std::int32_t run = options.perfect_drafts ? left : at[i];
      for (const std::int32_t length : choices.lengths) {
        const std::int32_t drafted = std::min(length, allowed);
        if (drafted < 1) break;
        const std::int32_t accepted = std::min(drafted, run);
        const double time = times[i][static_cast<std::size_t>(drafted)].at(root) +
                            least[place + static_cast<std::size_t>(accepted) + 1];
        if (time < best) {
          best = time;
          choice = {.exit = choices.exits[i], .drafted = drafted, .accepted = accepted};
        }
      }
    }
    least[place] = best;
    chosen[place] = choice;
  }

  OraclePlan plan{
      .rounds = {}, .statistics = {}, .time_ns = least[0], .vanilla_ns = vanilla_time_ns(table, prices)};
  for (std::int32_t position = table.first; position < over;) {
    const Choice& choice = chosen[static_cast<std::size_t>(position - table.first)];
    add_round(plan, table, position, choice);
    position += choice.accepted + 1;
  }
  return plan;
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
