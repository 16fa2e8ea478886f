// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/round_costs.h"

#include <algorithm>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

namespace {

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
