// SPDX-License-Identifier: GPL-3.0-or-later
// Choice among the sources of rounds, and parsing of a specification for it.
#include <draftscope/base/number.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/run_specification.h"
#include "prices/passes/cost_prices.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

Result<StrategyRounds> chosen_by_times(const TrainedRecording& trained, std::string_view strategy,
                                       const Machine* machine) {
  if (!speculation::strategy_row(speculation::strategy_name(strategy)).goes_by_times)
    return guarded_rounds(trained, strategy, machine);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  return strategy_prediction(specification.name()).rounds(trained, specification, strategy, machine);
}

/// Whether the machine's times would change the rounds of a strategy that decides by times.
Result<bool> takes_other_times(const TrainedRecording& trained, std::string_view strategy,
                               const Machine* machine) {
  if (machine == nullptr || !goes_by_times(strategy)) return false;
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map,
                        PriceMap::make(machine->costs_or(trained.costs.model), machine->scenario));
  return !map.is_as_recorded();
}

/// A run that decides by times, recomputed with the machine's times; where they are not known, as recorded.
Result<StrategyRounds> recorded_elsewhere(const TrainedRecording& trained, const RunRows& run,
                                          const Machine* machine) {
  auto chosen = chosen_by_times(trained, run.run->specification, machine);
  if (chosen) return chosen;
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, recorded_rounds(trained, run));
  rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
  rounds.notes.push_back("its choices are those of the recorded machine: " + chosen.error().message);
  return rounds;
}

}  // namespace

std::string specification_key(std::string_view specification) {
  std::multiset<std::string_view> pieces;
  while (!specification.empty()) {
    const std::size_t end = std::min(specification.find_first_of(":,"), specification.size());
    pieces.insert(specification.substr(0, end));
    specification.remove_prefix(std::min(end + 1, specification.size()));
  }
  return fmt::format("{}", fmt::join(pieces, ","));
}

VerifiedLayers verified_layers(const traces::Run& run) {
  return verifies_above_exit(run) ? VerifiedLayers::above_exit : VerifiedLayers::all;
}

VerifiedLayers specified_verified_layers(std::string_view specification) {
  const auto verify = speculation::parameter_of(specification, "verify");
  if (verify == "above-exit") return VerifiedLayers::above_exit;
  if (verify == "all-layers") return VerifiedLayers::all;
  return speculation::verifies_above_exit_by_default(speculation::strategy_name(specification))
             ? VerifiedLayers::above_exit
             : VerifiedLayers::all;
}

const RunRows* recorded_run(const TrainedRecording& trained, std::string_view strategy) {
  const auto found = trained.first_run.find(specification_key(strategy));
  if (found != trained.first_run.end()) return &trained.runs[found->second];
  if (traces::is_imported(trained.recording->meta)) return nullptr;
  const auto asked = speculation::parse_strategy(strategy, trained.n_layers());
  if (!asked) return nullptr;
  const bool draws = text_choice(*trained.recording).status == AnswerStatus::invalid;
  for (const RunRows& run : trained.runs) {
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (recorded && has_rounds(run) && decodes_alike(*asked, *recorded, draws)) return &run;
  }
  return nullptr;
}

bool goes_by_times(std::string_view strategy) {
  const auto guard = speculation::parameter_of(strategy, "guard");
  return speculation::strategy_row(speculation::strategy_name(strategy)).goes_by_times ||
         (guard && parse_number<double>(*guard) != 0.0);
}

Result<StrategyRounds> rounds_of(const TrainedRecording& trained, std::string_view strategy,
                                 const Machine* machine) {
  const bool is_import = traces::is_imported(trained.recording->meta);
  if (const RunRows* const run = recorded_run(trained, strategy)) {
    if (is_import) return imported_rounds(trained, *run);
    DRAFTSCOPE_TRY_ASSIGN(const bool is_elsewhere, takes_other_times(trained, strategy, machine));
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, is_elsewhere ? recorded_elsewhere(trained, *run, machine)
                                                              : recorded_rounds(trained, *run));
    // A run that goes by another name answers under the asked one.
    if (specification_key(strategy) != specification_key(run->run->specification))
      rounds.strategy = std::string(strategy);
    return rounds;
  }
  if (is_import) return modelled_import(trained, strategy);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  if (goes_by_times(strategy)) return chosen_by_times(trained, strategy, machine);
  if (const RunRows* const run = accepted_otherwise(trained, specification))
    return rounds_accepted_otherwise(trained, *run, specification, strategy);
  if (follows_from_texts(strategy)) return lookup_rounds(trained, strategy);
  if (const auto rounds = strategy_prediction(specification.name()).rounds; rounds != nullptr)
    return rounds(trained, specification, strategy, machine);
  if (trained.shadowed.tables.empty()) return drafted_rounds(trained, strategy);
  const bool is_drafted = !specification.no_replay().empty() && !draft_key(specification).empty();
  return is_drafted ? drafted_rounds(trained, strategy) : replayed_rounds(trained, strategy);
}

}  // namespace draftscope::simulator
