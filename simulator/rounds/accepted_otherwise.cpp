// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/closed_forms.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_positions.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

constexpr const char* parameter = "acceptance";

/// Name, parts and parameters of a strategy without its acceptance; empty if it has none.
nlohmann::json rules_beside_acceptance(const speculation::StrategySpecification& strategy) {
  auto parameters = nlohmann::json::parse(strategy.json(), nullptr, false);
  if (!parameters.is_object() || parameters.erase(parameter) == 0) return nullptr;
  nlohmann::json rules{{"parameters", std::move(parameters)}};
  if (strategy.has_parts())
    rules["parts"] = strategy.parts();
  else
    rules["name"] = strategy.name();
  return rules;
}

/// p(x) / q(x) of the round's draft tokens, as far as they were recorded.
std::vector<double> ratios_of(const TrainedRecording& trained, const traces::Round& round) {
  std::vector<double> ratios;
  const auto found = trained.target_probabilities.find(round.id);
  if (found == trained.target_probabilities.end()) return ratios;
  const auto tokens = draft_tokens_of(*trained.recording, round.id);
  for (std::size_t i = 0; i < std::min(tokens.size(), found->second.size()); ++i) {
    if (!(tokens[i].probability > 0.0)) break;
    ratios.push_back(found->second[i] / tokens[i].probability);
  }
  return ratios;
}

/// Adds tokens to one request's rounds, or removes them.
void add_tokens(std::int64_t tokens, RoundStatistics& statistics, PassCount& vanilla) {
  const std::int64_t before = statistics.tokens;
  statistics.tokens = std::max(statistics.rounds, before + tokens);
  const std::int64_t added = statistics.tokens - before;
  statistics.accepted += added;
  if (vanilla.passes > 0) vanilla.context += added * vanilla.context / vanilla.passes;
  vanilla.passes += added;
}

}  // namespace

const RunRows* accepted_otherwise(const TrainedRecording& trained,
                                  const speculation::StrategySpecification& strategy) {
  if (text_choice(*trained.recording).status != AnswerStatus::invalid) return nullptr;
  const nlohmann::json rules = rules_beside_acceptance(strategy);
  if (rules.is_null()) return nullptr;
  for (const RunRows& run : trained.runs) {
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (recorded && has_rounds(run) && rules_beside_acceptance(*recorded) == rules &&
        recorded->text(parameter) != strategy.text(parameter))
      return &run;
  }
  return nullptr;
}

Result<StrategyRounds> rounds_accepted_otherwise(const TrainedRecording& trained, const RunRows& run,
                                                 const speculation::StrategySpecification& strategy,
                                                 std::string_view text) {
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, recorded_rounds(trained, run));
  rounds.strategy = std::string(text);
  rounds.source = RoundSource::modelled;
  rounds.setting.status = AnswerStatus::approximate;
  const bool is_block = strategy.text(parameter) == "block";
  const RunRows first = first_repeat(run);
  double by_token = 0.0;
  double by_block = 0.0;
  std::int64_t known = 0;
  std::int64_t drafted = 0;
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    double gained = 0.0;
    for (const traces::Round& round : first.requests[i].rounds) {
      if (round.drafted < 1) continue;
      ++drafted;
      const std::vector<double> ratios = ratios_of(trained, round);
      if (ratios.empty()) continue;
      ++known;
      const double of_tokens = accepted_by_token(ratios);
      const double of_blocks = accepted_by_block(ratios);
      by_token += of_tokens;
      by_block += of_blocks;
      gained += of_blocks - of_tokens;
    }
    add_tokens(std::llround(is_block ? gained : -gained), rounds.setting.min_drafted[i], rounds.vanilla[i]);
  }
  const std::string& name = run.run->specification;
  if (known == 0) {
    rounds.notes.push_back(fmt::format(
        "accepted as run {} was, {}: the recording lacks what the target gave each draft token (record "
        "--shadow "
        "keeps it)",
        name,
        is_block ? "token by token, which keeps no more than a block" : "as a block, which keeps no less"));
    return rounds;
  }
  const auto rounds_known = static_cast<double>(known);
  rounds.notes.push_back(
      fmt::format("drafts are those of run {}: of {} of {} of its rounds a block is expected to keep {:.3f} "
                  "tokens, token by "
                  "token {:.3f}",
                  name, known, drafted, by_block / rounds_known, by_token / rounds_known));
  return rounds;
}

}  // namespace draftscope::simulator
