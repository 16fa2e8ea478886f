// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "strategies/parts/rule.h"

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
  for (PassCount& own : statistics.auxiliary) lengthen(own, rows);
}

std::int32_t same_share(std::int32_t layers, std::int32_t of, std::int32_t asked) {
  const double share = static_cast<double>(layers) / static_cast<double>(of);
  const auto nearest = static_cast<std::int32_t>(std::lround(share * static_cast<double>(asked)));
  return std::clamp(nearest, layers > 0 ? 1 : 0, asked);
}

/// The pass by the rules of its strategy on a model of another depth. Sublayers stay at the same share; so do
/// rows where there is one per layer.
AuxiliaryPass at_depth(AuxiliaryPass pass, std::int32_t recorded, std::int32_t asked) {
  if (drafts_beside(pass.kind)) return pass;
  if (pass.kind == AuxiliaryPassKind::heads) {
    const std::int32_t below = std::max(recorded - 1, 1);
    pass.rows = std::max(1, pass.rows / below * (asked - 1));
    return pass;
  }
  if (pass.kind == AuxiliaryPassKind::layer) {
    pass.rows = std::max(1, same_share(pass.rows, recorded, asked));
    return pass;
  }
  if (pass.kind == AuxiliaryPassKind::knapsack && pass.attention + pass.mlp <= 2) {
    // Through the first layer there is one copy of the states, then as many as the depth can save.
    const bool is_first = pass.attention == 1 && pass.mlp == 1;
    if (!is_first)
      pass.rows = std::max(1, static_cast<std::int32_t>(std::int64_t{pass.rows} * asked / recorded));
    return pass;
  }
  pass.attention = same_share(pass.attention, recorded, asked);
  pass.mlp = same_share(pass.mlp, recorded, asked);
  return pass;
}

bool repeats_with_depth(const AuxiliaryPass& pass) {
  return pass.kind == AuxiliaryPassKind::layer ||
         (pass.kind == AuxiliaryPassKind::knapsack && pass.attention + pass.mlp == 1);
}

/// Scales a search layer by layer, which makes as many passes as there are layers.
void put_at_depth(std::vector<RoundStatistics>& requests, const std::vector<AuxiliaryPass>& own,
                  std::int32_t recorded, std::int32_t asked) {
  for (RoundStatistics& request : requests)
    for (std::size_t i = 0; i < request.auxiliary.size(); ++i)
      if (repeats_with_depth(own[i]))
        for (std::int64_t* const count : {&request.auxiliary[i].passes, &request.auxiliary[i].context})
          *count = *count * asked / recorded;
}

/// Draft steps by index into StrategyRounds::drafts.
std::vector<std::int64_t> steps_by_draft(const StrategyRounds& rounds) {
  std::vector<std::int64_t> steps(rounds.drafts.size(), 0);
  for (const auto* side : {&rounds.setting.min_drafted, &rounds.setting.max_drafted})
    for (const RoundStatistics& request : *side)
      for (const DraftStatistics& draft : request.drafts)
        if (draft.exit >= 1 && static_cast<std::size_t>(draft.exit) <= steps.size())
          steps[static_cast<std::size_t>(draft.exit) - 1] += draft.steps.passes;
  return steps;
}

std::string sublayers_text(const speculation::DraftSublayers& draft) {
  if (draft.attention == draft.mlp) return std::to_string(draft.attention);
  return fmt::format("{}+{}", draft.attention, draft.mlp);
}

/// Text such as "exit 7 of 12 layers → 19 of 32", for the drafts that are used; sets of sublayers as
/// attention + MLP.
std::string depth_note(const StrategyRounds& rounds, const std::vector<speculation::DraftSublayers>& before,
                       std::int32_t recorded, std::int32_t asked) {
  constexpr std::size_t max_named = 4;
  const std::vector<std::int64_t> steps = steps_by_draft(rounds);
  std::string from;
  std::string to;
  std::size_t named = 0;
  bool are_exits = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] == 0) continue;
    if (++named > max_named) continue;
    are_exits = are_exits && before[i].attention == before[i].mlp;
    from += (from.empty() ? "" : ", ") + sublayers_text(before[i]);
    to += (to.empty() ? "" : ", ") + sublayers_text(rounds.drafts[i]);
  }
  if (named == 0) return "";
  const char* const rest = named > max_named ? ", …" : "";
  return fmt::format("{} {}{} of {} layers → {}{} of {}",
                     are_exits ? "exit" : "attention + MLP sublayers of the draft", from, rest, recorded, to,
                     rest, asked);
}

}  // namespace

std::string_view round_source_name(RoundSource source) {
  constexpr std::array<std::string_view, 3> names{"recorded", "replayed", "modelled"};
  return names[static_cast<std::size_t>(source)];
}

void ask_of_other_texts(StrategyRounds& rounds, std::string_view reason) {
  rounds.is_of_other_texts = true;
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(fmt::format("asked about texts of another kind: {}", reason));
}

void lengthen_context(StrategyRounds& rounds, std::int32_t rows) {
  for (PassCount& steps : rounds.vanilla) lengthen(steps, rows);
  for (RoundStatistics& request : rounds.setting.min_drafted) lengthen(request, rows);
  for (RoundStatistics& request : rounds.setting.max_drafted) lengthen(request, rows);
  rounds.longer_context += rows;
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(fmt::format("{} more rows of context: acceptance is taken to be as recorded", rows));
}

StrategyRounds for_shape(StrategyRounds rounds, const ModelShape& recorded, const ModelShape& asked,
                         std::optional<std::int32_t> exit) {
  if (recorded.name == asked.name && recorded.n_layers == asked.n_layers) return rounds;
  if (recorded.n_layers != asked.n_layers) {
    if (rounds.drafts.empty())
      for (std::int32_t layer = 1; layer < recorded.n_layers; ++layer)
        rounds.drafts.push_back({layer, layer});
    const std::vector<speculation::DraftSublayers> before = rounds.drafts;
    for (speculation::DraftSublayers& draft : rounds.drafts)
      if (exit && draft.attention == draft.mlp)
        draft = {*exit, *exit, draft.weights};
      else
        draft = {same_share(draft.attention, recorded.n_layers, asked.n_layers),
                 same_share(draft.mlp, recorded.n_layers, asked.n_layers), draft.weights};
    put_at_depth(rounds.setting.min_drafted, rounds.auxiliary_passes, recorded.n_layers, asked.n_layers);
    put_at_depth(rounds.setting.max_drafted, rounds.auxiliary_passes, recorded.n_layers, asked.n_layers);
    for (AuxiliaryPass& pass : rounds.auxiliary_passes)
      pass = at_depth(pass, recorded.n_layers, asked.n_layers);
    if (std::string note = depth_note(rounds, before, recorded.n_layers, asked.n_layers); !note.empty())
      rounds.notes.push_back(std::move(note));
  }
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back(
      fmt::format("acceptance is {}'s at the same share of the depth; what {} would accept takes a recording",
                  recorded.name, asked.name));
  return rounds;
}

}  // namespace draftscope::simulator
