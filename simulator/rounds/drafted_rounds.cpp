// SPDX-License-Identifier: GPL-3.0-or-later
// Settings whose draft a run recorded: with another length or stop rule, or another schedule of its searches.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/redraft.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "rounds/unrecorded_sets.h"

namespace draftscope::simulator {

namespace {

using speculation::PartKind;
using speculation::StrategySpecification;

/// Fills in what other runs of the same draft saw of the same texts.
void fill_from_others(const TrainedRecording& trained, std::span<const RunRows* const> runs,
                      const RunRows& first, std::vector<DraftedPositions>& positions) {
  for (const RunRows* const other : runs)
    for (const RequestRows& rows : other->requests)
      for (std::size_t i = 0; i < first.requests.size(); ++i) {
        const RequestRows& own = first.requests[i];
        if (rows.request == own.request || rows.prompt != own.prompt || rows.rounds.empty() ||
            rows.request->tokens.empty() || rows.request->tokens != own.request->tokens)
          continue;
        fill_unseen(drafted_positions(*trained.recording, rows), positions[i]);
      }
}

Result<DraftedTexts> texts_of(const TrainedRecording& trained, const RunRows& run,
                              std::span<const RunRows* const> runs) {
  RunRows first = first_repeat(run);
  std::vector<DraftedPositions> positions = positions_of_run(*trained.recording, first);
  fill_from_others(trained, runs, first, positions);
  return drafted_texts(trained, std::move(first), positions);
}

bool is_mask_parameter(const std::string& mask, const std::string& parameter) {
  const speculation::PartRow* const part = speculation::strategy_catalogue().find_part(PartKind::mask, mask);
  return part != nullptr && std::ranges::any_of(part->parameters, [&](const speculation::ParameterRow& row) {
           return row.name == parameter;
         });
}

/// Everything of a strategy but when its mask searches: who shares it has the same rounds.
nlohmann::json rules_beside_search(const StrategySpecification& strategy) {
  const std::string& mask = strategy.part(PartKind::mask);
  const auto parameters = nlohmann::json::parse(strategy.json());
  auto rules = nlohmann::json::object();
  for (const auto& [name, value] : parameters.items())
    if (!is_mask_parameter(mask, name) || !is_of_the_search(mask, name)) rules[name] = value;
  return {{"parts", strategy.parts()}, {"parameters", std::move(rules)}};
}

struct DraftSource {
  const RunRows* run = nullptr;
  bool has_same_rules = false;  ///< all but when it searches
};

/// The run of the same rules if there is one, else the one whose drafts saw most positions.
DraftSource draft_source_of(const TrainedRecording& trained, const StrategySpecification& strategy,
                            std::span<const RunRows* const> runs) {
  DraftSource best;
  std::int64_t max_seen = -1;
  for (const RunRows* const run : runs) {
    const auto recorded = run_specification(*run->run, trained.n_layers());
    if (recorded && strategy.has_parts() && recorded->has_parts() &&
        rules_beside_search(*recorded) == rules_beside_search(strategy))
      return {run, true};
    std::int64_t seen = 0;
    for (const DraftedPositions& positions : positions_of_run(*trained.recording, first_repeat(*run)))
      seen += std::ranges::count_if(
          positions, [](const DraftedPosition& position) { return position.bit != AcceptanceBit::unseen; });
    if (seen > max_seen) best = {run, false};
    max_seen = std::max(max_seen, seen);
  }
  return best;
}

/// Whether a draft at any place predicts what it predicted at its place in the recorded draft: keys and
/// values of an exit are the target's, those of another model its own.
bool predicts_alike_everywhere(const StrategySpecification& strategy) {
  return !strategy.has_parts() || strategy.part(PartKind::mask) == "exit";
}

void add_drafted_notes(const Redrafted& redrafted, const DraftSource& source, bool is_exact,
                       StrategyRounds& rounds) {
  const std::string& name = source.run->run->specification;
  if (source.has_same_rules) {
    rounds.notes.push_back(fmt::format(
        "rounds are those of run {}: another schedule of searches is taken to find layers that draft as well",
        name));
    return;
  }
  rounds.notes.push_back(fmt::format("rounds follow from what run {} drafted", name));
  if (redrafted.drawn_rounds > 0)
    rounds.notes.push_back(
        fmt::format("{} of {} rounds go by positions that were not drafted, drawn from a model of acceptance "
                    "(two hidden states); record with --shadow to know those of exits",
                    redrafted.drawn_rounds, redrafted.rounds));
  if (!is_exact && redrafted.drawn_rounds == 0)
    rounds.notes.emplace_back(
        "a draft that begins elsewhere is taken to predict the same, though it reads other keys and values "
        "of its own");
}

/// One line that says why no rounds follow from recorded drafts.
Result<std::string> draft_key_of(const TrainedRecording& trained, const StrategySpecification& strategy) {
  std::string key = draft_key(strategy);
  if (!key.empty()) return key;
  const std::string& reason = strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay();
  return fail("strategy {}: {} (approximate), expected a recorded run of it", strategy.given(), reason);
}

}  // namespace

void fit_acceptance(const TrainedRecording& trained) {
  if (!trained.shadowed.tables.empty()) return;
  for (const RunRows& run : trained.runs) {
    const auto strategy = run_specification(*run.run, trained.n_layers());
    if (!strategy) continue;
    const auto runs = runs_of_draft(trained.runs, draft_key(*strategy), trained.n_layers());
    if (std::ranges::find(runs, &run) != runs.end()) (void)texts_of(trained, run, runs);
  }
}

Result<StrategyRounds> drafted_rounds(const TrainedRecording& trained, std::string_view text) {
  if (const PolicyChoice choice = text_choice(*trained.recording); choice.status == AnswerStatus::invalid)
    return fail("strategy {}: {}", text, choice.reason);
  DRAFTSCOPE_TRY_ASSIGN(const StrategySpecification strategy,
                        speculation::parse_strategy(text, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const std::string key, draft_key_of(trained, strategy));
  const auto runs = runs_of_draft(trained.runs, key, trained.n_layers());
  if (runs.empty() && skips_sublayers(strategy)) return unrecorded_set_rounds(trained, strategy, text);
  if (runs.empty())
    return fail("strategy {}: {}, expected a recorded run of the same draft ({})", text,
                strategy.no_replay().empty() ? trained.no_tables_reason : strategy.no_replay(), key);
  const DraftSource source = draft_source_of(trained, strategy, runs);
  const RunRows first = first_repeat(*source.run);
  StrategyRounds rounds = rounds_on_texts(first, text);
  Redrafted redrafted;
  bool is_exact = false;
  if (source.has_same_rules) {
    redrafted = rescheduled(first, strategy, trained.n_layers());
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const DraftedTexts texts, texts_of(trained, *source.run, runs));
    DRAFTSCOPE_TRY_ASSIGN(redrafted, redraft(trained, texts, strategy));
    is_exact = predicts_alike_everywhere(strategy) && redrafted.drawn_rounds == 0;
    if (!is_exact) redrafted.status = AnswerStatus::approximate;
  }
  DRAFTSCOPE_TRY(put_statistics(trained, trained.layer_sets, redrafted, first.run->id, rounds));
  if (rounds.drafts.empty()) rounds.verified_layers = specified_verified_layers(text);
  add_drafted_notes(redrafted, source, is_exact, rounds);
  return rounds;
}

}  // namespace draftscope::simulator
