// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/run_rows.h>

#include <algorithm>
#include <limits>

namespace draftscope::simulator {

namespace {

void add(PassCount& a, const PassCount& b) {
  a.passes += b.passes;
  a.context += b.context;
}

/// The exit's statistics, added where they are missing.
DraftStatistics& draft_of(RoundStatistics& statistics, std::int32_t exit) {
  const auto draft = std::ranges::find(statistics.drafts, exit, &DraftStatistics::exit);
  return draft != statistics.drafts.end() ? *draft
                                          : statistics.drafts.emplace_back(DraftStatistics{.exit = exit});
}

}  // namespace

PassCount vanilla_steps(std::int64_t tokens, std::int64_t first_context) {
  return {.passes = tokens, .context = tokens * first_context + tokens * (tokens - 1) / 2};
}

std::int32_t planned_rows(const traces::Round& round, std::int32_t first_root, std::int32_t max_new_tokens) {
  if (round.layer_set_id.is_none() || round.tree_depth != round.drafted) return round.verify_rows;
  constexpr std::int32_t longest_known = 1 << 16;  // A file may state any length.
  const std::int32_t emitted = round.root_position - first_root + 1;
  const std::int32_t longest =
      std::min({round.planned, std::max(max_new_tokens - emitted - 1, 0), longest_known});
  return std::max(round.verify_rows, longest + 1);
}

std::int32_t recorded_token_budget(const traces::Meta& meta) {
  return parse_number<std::int32_t>(meta_value(meta, "max_tokens"))
      .value_or(std::numeric_limits<std::int32_t>::max());
}

void count_planned(DraftStatistics& draft, std::int32_t rows, std::int32_t planned) {
  for (std::size_t i = 0; i < row_steps.size(); ++i)
    if (rows < row_steps[i] && row_steps[i] <= planned) ++draft.planned_beyond[i];
}

void add_passes(RoundStatistics& statistics, std::int32_t exit, std::int64_t root_position,
                std::int64_t steps, std::int32_t rows, std::int32_t planned) {
  DraftStatistics& draft = draft_of(statistics, exit);
  draft.steps.passes += steps;
  draft.steps.context += steps * root_position + steps * (steps - 1) / 2;
  const auto place = static_cast<std::size_t>(rows);
  draft.verify.resize(std::max(draft.verify.size(), place + 1));
  add(draft.verify[place], {.passes = 1, .context = root_position});
  count_planned(draft, rows, planned);
}

void add(RoundStatistics& a, const RoundStatistics& b) {
  a.tokens += b.tokens;
  a.rounds += b.rounds;
  a.drafted += b.drafted;
  a.accepted += b.accepted;
  add(a.target_steps, b.target_steps);
  for (const DraftStatistics& draft : b.drafts) {
    DraftStatistics& mine = draft_of(a, draft.exit);
    add(mine.steps, draft.steps);
    mine.verify.resize(std::max(mine.verify.size(), draft.verify.size()));
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows) add(mine.verify[rows], draft.verify[rows]);
    for (std::size_t i = 0; i < row_steps.size(); ++i) mine.planned_beyond[i] += draft.planned_beyond[i];
  }
  a.auxiliary.resize(std::max(a.auxiliary.size(), b.auxiliary.size()));
  for (std::size_t i = 0; i < b.auxiliary.size(); ++i) add(a.auxiliary[i], b.auxiliary[i]);
  a.host_ns += b.host_ns;
}

RoundStatistics sum_of(const std::vector<RoundStatistics>& requests) {
  RoundStatistics sum;
  for (const RoundStatistics& request : requests) add(sum, request);
  return sum;
}

PassCount sum_of(const std::vector<PassCount>& requests) {
  PassCount sum;
  for (const PassCount& request : requests) add(sum, request);
  return sum;
}

}  // namespace draftscope::simulator
