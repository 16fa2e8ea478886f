// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/round_sources.h"

#include <draftscope/traces/missing_data.h>
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "prices/fit/engine_law.h"
#include "prices/passes/cost_prices.h"
#include "rounds/drafts/decode_times.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/searches/set_agreement.h"

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
  // An import may state a run's acceptance without its rounds.
  const bool is_import = traces::is_imported(trained.recording->meta);
  for (std::size_t i = 0; i < trained.runs.size(); ++i)
    if (is_import || has_rounds(trained.runs[i]))
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

/// Stall share at which the vanilla run has its measured time, and the drift of the machine.
Result<void> put_stability(std::span<const MeasuredRun> measured, TrainedRecording& trained) {
  CostModel& model = trained.costs.model;
  const RunRows* const vanilla = baseline_of(trained.runs);
  if (vanilla == nullptr) return {};
  model.drift = drift_between_repeats(trained.runs);
  if (model.drift.freedom == 0.0) model.drift = drift_within_repeat(measured, vanilla->run->id);
  DRAFTSCOPE_TRY_ASSIGN(const Prices priced, prices(model, fitted_scenario(model)));
  model.stall_share = (1.0 + model.stall_share) * vanilla_time_ratio(*vanilla, priced) - 1.0;
  return {};
}

Result<void> put_vanilla_device(traces::Reader& reader, TrainedRecording& trained) {
  const RunRows* const vanilla = baseline_of(trained.runs);
  if (vanilla == nullptr) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<DeviceInterval> intervals,
                        read_device_intervals(reader, *trained.recording));
  trained.vanilla_device = device_time(*vanilla, intervals);
  return {};
}

Result<void> put_sets(traces::Reader& reader, TrainedRecording& trained) {
  const std::int32_t n_layers = trained.n_layers();
  std::vector<TriedSet> tried = drafted_sets(*trained.recording, trained.runs, trained.layer_sets, n_layers);
  DRAFTSCOPE_TRY_ASSIGN(trained.candidates, scored_candidates(reader, trained.runs, n_layers));
  for (const ScoredCandidate& candidate : trained.candidates) tried.push_back(candidate.set);
  trained.tried_sets = tried.size();
  if (auto agreement = SetAgreement::fit(tried))
    trained.set_agreement = std::make_shared<const SetAgreement>(*std::move(agreement));
  return {};
}

/// The GPU that was recorded on: `stated`, or the one that the driver's name finds; absent if neither.
std::optional<GpuSpecification> recorded_gpu(const traces::Meta& meta,
                                             const std::optional<GpuSpecification>& stated) {
  if (stated || !is_gpu_recording(meta)) return stated;
  auto found = find_gpu_of_driver(recorded_gpu_name(meta));
  return found ? std::optional(*std::move(found)) : std::nullopt;
}

}  // namespace

TargetPasses target_passes(const TrainedRecording& trained) {
  const RunRows* const vanilla = baseline_of(trained.runs);
  return target_passes(trained.runs, vanilla == nullptr ? nullptr : vanilla->run, trained.vanilla_device,
                       trained.recording->meta);
}

bool has_rounds(const RunRows& run) {
  return std::ranges::any_of(run.requests, [](const RequestRows& rows) { return !rows.rounds.empty(); });
}

Result<void> check_texts(const TrainedRecording& trained, std::string_view strategy) {
  if (const PolicyChoice text = text_choice(*trained.recording); text.status == AnswerStatus::invalid)
    return fail("strategy {}: {}", strategy, text.reason);
  if (!trained.no_conditions_reason.empty())
    return fail("strategy {}: {}", strategy, trained.no_conditions_reason);
  if (trained.texts().tables.empty())
    return fail("strategy {}: found no finished request with token ids, expected some", strategy);
  const std::int32_t vocab = trained.costs.model.shape.vocab;
  for (const ShadowTable& table : trained.texts().tables) {
    const auto unknown =
        std::ranges::find_if(table.text, [&](std::int32_t token) { return token < 0 || token >= vocab; });
    if (unknown != table.text.end())
      return fail("strategy {}: request {}: token {} is {}, expected 0 to {} (the vocabulary of model_shape)",
                  strategy, table.request_id, unknown - table.text.begin(), *unknown, vocab - 1);
  }
  return {};
}

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
  DRAFTSCOPE_TRY_ASSIGN(trained.noted_tokens, noted_tokens(reader));
  if (specified) {
    trained.costs.model = *specified;
    return trained;
  }
  DRAFTSCOPE_TRY_ASSIGN(CostObservations observations, read_cost_observations(reader, recording, go_on));
  ++done;
  if (!go_on()) return stopped();
  DRAFTSCOPE_TRY_ASSIGN(trained.costs, fit_cost_model(observations, recorded_gpu(recording.meta, recorded_on),
                                                      &recorded_engine(recording.meta)));
  DRAFTSCOPE_TRY(put_stability(observations.runs, trained));
  DRAFTSCOPE_TRY(put_vanilla_device(reader, trained));
  DRAFTSCOPE_TRY_ASSIGN(AuxiliaryTimes own, auxiliary_times(reader, recording, trained.runs,
                                                            trained.costs.model, trained.staged_passes));
  trained.costs.model.auxiliary_passes = std::move(own.passes);
  trained.hosts = std::move(own.hosts);
  DRAFTSCOPE_TRY(put_sets(reader, trained));
  return trained;
}

}  // namespace draftscope::simulator
