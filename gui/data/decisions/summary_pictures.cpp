// SPDX-License-Identifier: GPL-3.0-or-later
#include "summary_pictures.h"

#include <draftscope/simulator/analysis/question_names.h>
#include <draftscope/speculation/policy_history.h>
#include <draftscope/traces/text_share.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace draftscope::gui {

NumberedPicture gaps_picture(const simulator::RunDecisions& run) {
  NumberedPicture made;
  made.x_title = "tokens between the two choices";
  NumberedLine line{"in common (|A ∩ B| / |A ∪ B|)", {}};
  for (const simulator::Persistence& gap : run.persistence) {
    made.labels.push_back(gap.min_gap == gap.max_gap ? fmt::format("{}", gap.min_gap)
                                                     : fmt::format("{}–{}", gap.min_gap, gap.max_gap));
    made.details.push_back(fmt::format("{} tokens apart: {:.0f} % in common, mean of {} pairs of sets",
                                       made.labels.back(), 100.0 * gap.jaccard, gap.pairs));
    line.values.push_back(gap.jaccard);
  }
  made.lines.push_back(std::move(line));
  return made;
}

NumberedPicture search_picture(const speculation::PolicyFile& policy) {
  NumberedPicture made;
  made.x_title = "trial";
  double top = 0.0;
  for (speculation::TrialSeries& series : speculation::policy_history(policy)) {
    if (series.key != "score" && series.key != "best_score") continue;
    for (const double value : series.values)
      if (std::isfinite(value)) top = std::max(top, value);
    made.lines.push_back({std::string(series.title), std::move(series.values)});
  }
  if (top > 0.0) made.top = top;
  for (std::size_t i = 0; i < policy.trials.size(); ++i) {
    const speculation::Trial& trial = policy.trials[i];
    const std::string origin(speculation::trial_origin(trial));
    const auto known = std::find(made.words.begin(), made.words.end(), origin);
    made.word.push_back(static_cast<std::uint32_t>(known - made.words.begin()));
    if (known == made.words.end()) made.words.push_back(origin);
    made.labels.push_back(fmt::format("{}", i + 1));
    std::string details = fmt::format("trial {} ({}): {}", i + 1, origin, trial.setting);
    for (const NumberedLine& line : made.lines)
      if (!std::isnan(line.values[i])) details += fmt::format("; {} {:.3g}", line.name, line.values[i]);
    made.details.push_back(details + fmt::format("; {} prompts", trial.prompts));
  }
  return made;
}

namespace {

constexpr std::int64_t max_segments = 16;
constexpr std::int64_t min_segment_tokens = 16;

/// A grid with rows and columns in order, and empty cells.
ExitGrid grid_of(const std::set<std::int32_t>& exits, std::vector<std::string> columns) {
  ExitGrid grid{{exits.begin(), exits.end()}, std::move(columns), {}};
  grid.cells.assign(grid.exits.size(), std::vector<ExitCell>(grid.columns.size()));
  return grid;
}

std::size_t row_of(const ExitGrid& grid, std::int32_t exit) {
  return static_cast<std::size_t>(std::lower_bound(grid.exits.begin(), grid.exits.end(), exit) -
                                  grid.exits.begin());
}

}  // namespace

double ExitGrid::share(std::size_t row, std::size_t column) const {
  std::int64_t all = 0;
  for (const std::vector<ExitCell>& of_exit : cells) all += of_exit[column].rounds;
  return all == 0 ? 0.0 : static_cast<double>(cells[row][column].rounds) / static_cast<double>(all);
}

ExitGrid exits_by_category(const simulator::RunDecisions& run) {
  std::set<std::int32_t> exits;
  std::map<std::string, std::size_t> columns;
  for (const simulator::ExitByCategory& entry : run.exits) {
    exits.insert(entry.exit);
    columns.emplace(entry.category, 0);
  }
  std::vector<std::string> names;
  for (auto& [name, place] : columns) {
    place = names.size();
    names.push_back(simulator::category_name(name));
  }
  ExitGrid grid = grid_of(exits, std::move(names));
  for (const simulator::ExitByCategory& entry : run.exits) {
    ExitCell& cell = grid.cells[row_of(grid, entry.exit)][columns[entry.category]];
    cell = {entry.rounds, entry.drafted, entry.accepted};
  }
  return grid;
}

ExitGrid exits_by_segment(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<std::uint32_t>& rounds = opened.runs()[run_index].rounds;
  std::set<std::int32_t> exits;
  std::int64_t longest = 1;
  // The output before a round begins after the prompt and ends with the root, the last emitted token.
  const auto emitted_before = [&](std::uint32_t round_index) {
    const traces::Prompt* prompt = opened.prompt_of(opened.request_of(round_index));
    const auto prompt_tokens = static_cast<std::int64_t>(prompt == nullptr ? 0 : prompt->tokens.size());
    return std::max<std::int64_t>(0, opened.round(round_index).root_position - prompt_tokens + 1);
  };
  for (const std::uint32_t round_index : rounds) {
    if (opened.round(round_index).drafted <= 0) continue;
    exits.insert(opened.round(round_index).exit_layer);
    longest = std::max(longest, emitted_before(round_index) + 1);
  }
  std::int64_t length = min_segment_tokens;
  while (length * max_segments < longest) length *= 2;
  std::vector<std::string> columns;
  for (std::int64_t begin = 0; begin < longest; begin += length)
    columns.push_back(fmt::format("{}–{}", begin, begin + length - 1));
  ExitGrid grid = grid_of(exits, std::move(columns));
  for (const std::uint32_t round_index : rounds) {
    const traces::Round& round = opened.round(round_index);
    if (round.drafted <= 0) continue;
    const auto column = static_cast<std::size_t>(emitted_before(round_index) / length);
    ExitCell& cell = grid.cells[row_of(grid, round.exit_layer)][column];
    ++cell.rounds;
    cell.drafted += round.drafted;
    cell.accepted += traces::tokens_of(round).accepted_in_text(opened.request_of(round_index).stop);
  }
  return grid;
}

}  // namespace draftscope::gui
