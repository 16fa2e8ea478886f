// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/what_if/strategy_rounds.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::simulator {

namespace {

void lengthen(PassCount& passes, std::int32_t rows) {
  passes.context += passes.passes * rows;
}

void lengthen(RoundStatistics& statistics, std::int32_t rows) {
  lengthen(statistics.target_steps, rows);
  for (DraftStatistics& draft : statistics.drafts) {
    lengthen(draft.steps, rows);
    for (PassCount& verify : draft.verify) lengthen(verify, rows);
  }
}

std::int32_t same_share(std::int32_t layers, std::int32_t of, std::int32_t asked) {
  const double share = static_cast<double>(layers) / static_cast<double>(of);
  const auto nearest = static_cast<std::int32_t>(std::lround(share * static_cast<double>(asked)));
  return std::clamp(nearest, layers > 0 ? 1 : 0, asked);
}

}  // namespace

std::string_view round_source_name(RoundSource source) {
  constexpr std::array<std::string_view, 3> names{"recorded", "replayed", "modelled"};
  return names[static_cast<std::size_t>(source)];
}

void lengthen_context(StrategyRounds& rounds, std::int32_t rows) {
  for (PassCount& steps : rounds.vanilla) lengthen(steps, rows);
  for (RoundStatistics& request : rounds.setting.least) lengthen(request, rows);
  for (RoundStatistics& request : rounds.setting.most) lengthen(request, rows);
  rounds.longer_context += rows;
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(fmt::format("{} more rows of context: acceptance is taken to be as recorded", rows));
}

StrategyRounds for_shape(StrategyRounds rounds, const ModelShape& recorded, const ModelShape& asked) {
  if (recorded.name == asked.name && recorded.n_layers == asked.n_layers) return rounds;
  if (recorded.n_layers != asked.n_layers) {
    if (rounds.drafts.empty())
      for (std::int32_t exit = 1; exit < recorded.n_layers; ++exit) rounds.drafts.push_back({exit, exit});
    for (speculation::DraftSublayers& draft : rounds.drafts)
      draft = {same_share(draft.attention, recorded.n_layers, asked.n_layers),
               same_share(draft.mlp, recorded.n_layers, asked.n_layers)};
  }
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(
      fmt::format("acceptance is {}'s at the same share of the depth; what {} would accept takes a recording",
                  recorded.name, asked.name));
  return rounds;
}

}  // namespace draftscope::simulator
