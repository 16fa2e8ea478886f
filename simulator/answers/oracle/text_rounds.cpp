// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/text_rounds.h"

#include <algorithm>

namespace draftscope::simulator {

namespace {

DraftStatistics& of_exit(RoundStatistics& statistics, std::int32_t exit) {
  for (DraftStatistics& draft : statistics.drafts)
    if (draft.exit == exit) return draft;
  statistics.drafts.push_back({.exit = exit, .steps = {}, .verify = {}});
  return statistics.drafts.back();
}

}  // namespace

Result<void> check(const ShadowTable& table) {
  if (table.n_layers < 2)
    return fail("shadow table of request {}: found {} layers, expected at least 2", table.request_id,
                table.n_layers);
  // A text with only the prefill's token ends where its first round would start.
  if (table.first < 1 || table.first > table.end())
    return fail("shadow table of request {}: first position is {}, expected 1 to {}", table.request_id,
                table.first, table.end());
  const std::size_t expected =
      static_cast<std::size_t>(table.end() - table.first) * static_cast<std::size_t>(table.n_layers);
  if (table.cells.size() != expected)
    return fail("shadow table of request {}: found {} cells, expected {}", table.request_id,
                table.cells.size(), expected);
  return {};
}

std::int32_t finish(const ShadowTable& table) {
  return table.end() + (table.ended_at_eos ? 1 : 0);
}

std::int32_t drafts_allowed(const ShadowTable& table, std::int32_t position, std::int32_t length) {
  return table.ended_at_eos ? length : std::min(length, table.end() - position - 1);
}

bool is_match(const ShadowTable& table, std::int32_t position, std::int32_t exit) {
  return table.cell(position, exit).token == table.text[static_cast<std::size_t>(position)];
}

RunTable run_table(const ShadowTable& table, std::span<const std::int32_t> exits) {
  RunTable result{.first = table.first, .exits = exits.size(), .runs = {}};
  const auto positions = static_cast<std::size_t>(table.end() - table.first);
  result.runs.resize((positions + 1) * exits.size());
  for (std::size_t row = positions; row-- > 0;) {
    const std::int32_t position = table.first + static_cast<std::int32_t>(row);
    for (std::size_t i = 0; i < exits.size(); ++i)
      if (is_match(table, position, exits[i]))
        result.runs[row * exits.size() + i] = result.runs[(row + 1) * exits.size() + i] + 1;
  }
  return result;
}

void count_round(RoundStatistics& statistics, const ShadowTable& table, std::int32_t position,
                 std::int32_t exit, std::int32_t drafted, std::int32_t accepted, std::int32_t planned_rows) {
  const std::int64_t root = position - 1;
  statistics.tokens += std::min(position + accepted + 1, table.end()) - position;
  ++statistics.rounds;
  if (drafted == 0) {
    ++statistics.target_steps.passes;
    statistics.target_steps.context += root;
    return;
  }
  statistics.drafted += drafted;
  statistics.accepted += accepted;
  DraftStatistics& draft = of_exit(statistics, exit);
  const std::int64_t steps = drafted;
  draft.steps.passes += steps;
  draft.steps.context += steps * root + steps * (steps - 1) / 2;
  const auto rows = static_cast<std::size_t>(drafted) + 1;
  if (draft.verify.size() <= rows) draft.verify.resize(rows + 1);
  ++draft.verify[rows].passes;
  draft.verify[rows].context += root;
  count_planned(draft, drafted + 1, planned_rows);
}

}  // namespace draftscope::simulator
