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
  for (PassCount& own : statistics.own) lengthen(own, rows);
}

std::int32_t same_share(std::int32_t layers, std::int32_t of, std::int32_t asked) {
  const double share = static_cast<double>(layers) / static_cast<double>(of);
  const auto nearest = static_cast<std::int32_t>(std::lround(share * static_cast<double>(asked)));
  return std::clamp(nearest, layers > 0 ? 1 : 0, asked);
}

/// The pass as the rules of its strategy have it on a model of another depth. Sublayers stay at the same
/// share, as rows do where there is one for a layer.
OwnPass at_depth(OwnPass pass, std::int32_t recorded, std::int32_t asked) {
  if (pass.kind == OwnPassKind::draft_model) return pass;
  if (pass.kind == OwnPassKind::heads) {
    const std::int32_t below = std::max(recorded - 1, 1);
    pass.rows = std::max(1, pass.rows / below * (asked - 1));
    return pass;
  }
  if (pass.kind == OwnPassKind::layer) {
    pass.rows = std::max(1, same_share(pass.rows, recorded, asked));
    return pass;
  }
  pass.attention = same_share(pass.attention, recorded, asked);
  pass.mlp = same_share(pass.mlp, recorded, asked);
  return pass;
}

/// A search layer by layer makes as many passes as there are layers.
void put_at_depth(std::vector<RoundStatistics>& requests, const std::vector<OwnPass>& own,
                  std::int32_t recorded, std::int32_t asked) {
  for (RoundStatistics& request : requests)
    for (std::size_t i = 0; i < request.own.size(); ++i)
      if (own[i].kind == OwnPassKind::layer)
        for (std::int64_t* const count : {&request.own[i].passes, &request.own[i].context})
          *count = *count * asked / recorded;
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
    put_at_depth(rounds.setting.least, rounds.own_passes, recorded.n_layers, asked.n_layers);
    put_at_depth(rounds.setting.most, rounds.own_passes, recorded.n_layers, asked.n_layers);
    for (OwnPass& pass : rounds.own_passes) pass = at_depth(pass, recorded.n_layers, asked.n_layers);
  }
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(
      fmt::format("acceptance is {}'s at the same share of the depth; what {} would accept takes a recording",
                  recorded.name, asked.name));
  return rounds;
}

}  // namespace draftscope::simulator
