// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/round_sources.h"

#include <map>
#include <tuple>
#include <utility>

#include "rounds/drafts/drift.h"
#include "rounds/drafts/set_agreement.h"

namespace draftscope::simulator {

namespace {

/// One request per prompt, since repeats of a prompt are no additional evidence.
PromptTexts one_per_prompt(std::vector<ShadowTable> tables, const std::vector<RunRows>& runs) {
  struct Place {
    traces::PromptId prompt_id;
    std::string category;
    std::tuple<bool, std::int32_t, traces::RunId>
        rank;  // Order of preference, smallest first: vanilla, first repeat, first run.
  };
  std::map<traces::RequestId, Place> places;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests)
      places[rows.request->id] = {
          rows.prompt->id, rows.prompt->category, {!run.run->is_baseline, rows.request->repeat, run.run->id}};
  std::map<traces::PromptId, std::size_t> chosen;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto place = places.find(tables[i].request_id);
    if (place == places.end()) continue;
    const auto [known, is_new] = chosen.try_emplace(place->second.prompt_id, i);
    if (!is_new && place->second.rank < places[tables[known->second].request_id].rank) known->second = i;
  }
  PromptTexts kept;
  for (const auto& [prompt_id, index] : chosen) {
    kept.categories.push_back(places[tables[index].request_id].category);
    kept.tables.push_back(std::move(tables[index]));
  }
  return kept;
}

void put_runs(TrainedRecording& trained) {
  trained.runs = rows_by_run(*trained.recording);
  for (std::size_t i = 0; i < trained.runs.size(); ++i)
    trained.first_run.emplace(specification_key(trained.runs[i].run->specification), i);
  trained.layer_sets = layer_sets_by_id(*trained.recording);
}

void put_texts(ShadowTables found, TrainedRecording& trained) {
  trained.shadowed = one_per_prompt(std::move(found.tables), trained.runs);
  trained.no_tables_reason = std::move(found.no_tables_reason);
  if (trained.shadowed.tables.empty())
    trained.plain = one_per_prompt(text_tables(*trained.recording), trained.runs);
}

/// Reads the conditions of a replay; without tables only prompt lookup needs them.
Result<void> put_conditions(TrainedRecording& trained) {
  auto conditions = replay_conditions(*trained.recording);
  if (conditions)
    trained.conditions = *std::move(conditions);
  else if (!trained.shadowed.tables.empty())
    return tl::unexpected(std::move(conditions).error());
  else
    trained.no_conditions_reason = std::move(conditions).error().message;
  return {};
}

Result<void> put_sets(traces::Reader& reader, TrainedRecording& trained) {
  const std::int32_t n_layers = trained.n_layers();
  std::vector<TriedSet> tried = drafted_sets(*trained.recording, trained.runs, trained.layer_sets, n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const auto candidates, scored_candidates(reader, trained.runs, n_layers));
  tried.insert(tried.end(), candidates.begin(), candidates.end());
  trained.tried_sets = tried.size();
  if (auto agreement = SetAgreement::fit(tried))
    trained.set_agreement = std::make_shared<const SetAgreement>(*std::move(agreement));
  return {};
}

}  // namespace

Result<TrainedRecording> train(traces::Reader& reader, const traces::Recording& recording,
                               const std::optional<GpuSpecification>& recorded_on,
                               const std::optional<CostModel>& specified,
                               const std::function<bool(std::int64_t done, std::int64_t all)>& progress) {
  constexpr std::int64_t parts = 3;  // Shadow tokens, times, the fit to them.
  std::int64_t done = 0;
  const auto go_on = [&] { return !progress || progress(done, parts); };
  const auto stopped = [] { return fail("learning was stopped"); };
  TrainedRecording trained;
  trained.recording = &recording;
  put_runs(trained);
  trained.acceptance = std::make_shared<FittedAcceptance>();
  auto tables = shadow_tables(reader, recording, go_on);
  ++done;
  if (!go_on()) return stopped();
  if (!tables) return tl::unexpected(std::move(tables).error());
  put_texts(*std::move(tables), trained);
  DRAFTSCOPE_TRY(put_conditions(trained));
  DRAFTSCOPE_TRY_ASSIGN(trained.target_probabilities, target_probabilities(reader));
  DRAFTSCOPE_TRY_ASSIGN(trained.staged_passes, staged_passes(reader));
  if (specified) {
    trained.costs.model = *specified;
    return trained;
  }
  DRAFTSCOPE_TRY_ASSIGN(CostObservations observations, read_cost_observations(reader, recording, {}, go_on));
  ++done;
  if (!go_on()) return stopped();
  DRAFTSCOPE_TRY_ASSIGN(trained.costs, fit_cost_model(observations, recorded_on));
  trained.costs.model.drift = drift_between_repeats(trained.runs);
  trained.measured_runs = std::move(observations.runs);
  DRAFTSCOPE_TRY_ASSIGN(AuxiliaryTimes own, auxiliary_times(reader, recording, trained.runs,
                                                            trained.costs.model, trained.staged_passes));
  trained.costs.model.auxiliary_passes = std::move(own.passes);
  trained.hosts = std::move(own.hosts);
  DRAFTSCOPE_TRY(put_sets(reader, trained));
  return trained;
}

}  // namespace draftscope::simulator
