// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/oracle.h"

#include <algorithm>
#include <limits>

#include "answers/oracle/text_rounds.h"
#include "rounds/replay/shadow_table.h"

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

void make_ascending(std::vector<std::int32_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::int32_t longest_of_all(const Prices& prices, std::span<const std::int32_t> exits) {
  std::int32_t longest = exits.empty() ? 0 : longest_priced(prices, exits.front());
  for (const std::int32_t exit : exits) longest = std::min(longest, longest_priced(prices, exit));
  return longest;
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

AffineTime plain_round(const Prices& prices) {
  return {prices.target_step.ns + prices.step_round_ns, prices.target_step.ns_per_context_row};
}

AffineTime draft_round(const Prices& prices, std::int32_t exit, std::int32_t length) {
  const DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
  const AffineTime& verify = draft.verify[static_cast<std::size_t>(length) + 1];
  const double steps = length;
  // Step k has k rows of context in addition to the root position.
  const double further_rows = steps * (steps - 1.0) / 2.0;
  return {prices.round_ns + steps * draft.step.ns + further_rows * draft.step.ns_per_context_row + verify.ns,
          steps * draft.step.ns_per_context_row + verify.ns_per_context_row};
}

std::int32_t longest_priced(const Prices& prices, std::int32_t exit) {
  if (exit < 1 || static_cast<std::size_t>(exit) >= prices.drafts.size()) return 0;
  const auto widths = static_cast<std::int32_t>(prices.drafts[static_cast<std::size_t>(exit)].verify.size());
  return std::max(widths - 2, 0);
}

Result<OracleChoices> oracle_choices(const ShadowTable& table, const Prices& prices,
                                     const OracleOptions& options) {
  OracleChoices choices{.exits = options.exits, .lengths = options.lengths};
  if (options.max_rows < 0)
    return fail("oracle: most rows of a verification is {}, expected 0 or more", options.max_rows);
  if (choices.exits.empty()) {
    for (std::int32_t exit = 1; exit < table.n_layers; ++exit)
      if (longest_priced(prices, exit) > 0) choices.exits.push_back(exit);
  }
  make_ascending(choices.exits);
  for (const std::int32_t exit : choices.exits) {
    if (exit < 1 || exit >= table.n_layers)
      return fail("oracle: exit layer {}, expected 1 to {}", exit, table.n_layers - 1);
    if (longest_priced(prices, exit) < 1)
      return fail("oracle: exit layer {} has no prices, expected them for every exit", exit);
  }
  const std::int32_t priced = longest_of_all(prices, choices.exits);
  const std::int32_t allowed = options.max_rows > 0 ? options.max_rows - 1 : priced;
  if (choices.lengths.empty()) {
    for (std::int32_t length = 1; length <= std::min({options.longest, priced, allowed}); ++length)
      choices.lengths.push_back(length);
  }
  make_ascending(choices.lengths);
  for (const std::int32_t length : choices.lengths)
    if (!choices.exits.empty() && (length < 1 || length > priced))
      return fail("oracle: speculation length {}, expected 1 to {}, which have prices", length, priced);
  std::erase_if(choices.lengths, [&](std::int32_t length) { return length > allowed; });
  return choices;
}

}  // namespace draftscope::simulator
