// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/statistics.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/traces/atomic_trace.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "answers/predicted_meta.h"
#include "prices/passes/cost_prices.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/priced_scenario.h"
#include "rounds/replay/known_round.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

using traces::Phase;

traces::LayerSet exit_mask(std::int32_t exit, std::int32_t n_layers, std::string origin) {
  return set_without(exit, n_layers, n_layers, exit, std::move(origin));
}

/// The sublayers that the round's draft of an `asked_layers` deep model runs, as a row of the trace; n_layers
/// is 0 if no model drafted. `recorded_sets` are the recording's. Errors: the skipped sublayers of a draft
/// are unknown for a model with another number of layers, unless it is an exit.
Result<traces::LayerSet> mask_of(const LayerSetsById& recorded_sets, std::int32_t asked_layers,
                                 const StrategyRounds& rounds, const KnownRound& round) {
  if (round.draft_steps == 0) return traces::LayerSet{};
  const auto found = recorded_sets.find(round.round.layer_set_id);
  const traces::LayerSet* const recorded = found == recorded_sets.end() ? nullptr : found->second;
  if (recorded != nullptr && recorded->n_layers == asked_layers) return *recorded;
  const std::string origin = recorded != nullptr ? recorded->origin : "replay";
  const auto place = static_cast<std::size_t>(round.draft) - 1;
  if (place >= rounds.drafts.size()) return exit_mask(round.draft, asked_layers, origin);
  const speculation::DraftSublayers& sublayers = rounds.drafts[place];
  const bool was_exit = recorded == nullptr || recorded->exit_layer == round.draft;
  if (!was_exit || sublayers.attention != sublayers.mlp)
    return fail("strategy {}: which of {} layers its drafts would skip is not known, expected exits",
                rounds.strategy, asked_layers);
  return exit_mask(sublayers.attention, asked_layers, origin);
}

/// Vanilla decoding of a known text: one target step per token.
KnownRequest vanilla_request(const KnownRequest& text, const PassCount& steps, std::int64_t emitted) {
  KnownRequest vanilla{text.request, text.prompt, {}};
  if (text.rounds.empty()) return vanilla;
  const std::int32_t first = text.rounds.front().round.root_position;
  const auto prompt_tokens = static_cast<std::int64_t>(text.prompt->tokens.size());
  for (std::int64_t i = 0; i < steps.passes; ++i) {
    traces::Round& round = vanilla.rounds.emplace_back().round;
    round.index = static_cast<std::int32_t>(i);
    round.root_position = first + static_cast<std::int32_t>(i);
    round.emitted = i < emitted ? 1 : 0;
    round.verify_rows = 1;
    const auto place = static_cast<std::size_t>(round.root_position + 1 - prompt_tokens);
    if (place < text.request->tokens.size()) round.bonus_token = text.request->tokens[place];
  }
  return vanilla;
}

using PrefillTimes = std::unordered_map<traces::PromptId, std::int64_t>;

/// Median time of the recorded prefills of each prompt.
PrefillTimes recorded_prefills(const traces::Recording& recording) {
  std::map<traces::PromptId, std::vector<std::int64_t>> times;
  for (const traces::Request& request : recording.requests)
    if (request.first_token_ns > request.start_ns)
      times[request.prompt_id].push_back(request.first_token_ns - request.start_ns);
  PrefillTimes medians;
  for (auto& [prompt_id, values] : times) medians.emplace(prompt_id, upper_median(values));
  return medians;
}

/// Parameters of "layerskip:exit=4,gamma=6" as the engine writes them, without values that were not given.
std::string parameters_json(std::string_view specification) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : given_parameters(specification)) {
    const auto number = nlohmann::ordered_json::parse(value, nullptr, false);
    json[std::string(name)] = number.is_number() ? number : nlohmann::ordered_json(value);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Writes requests one after the other.
class PredictionWriter {
 public:
  PredictionWriter(traces::Writer& writer, const traces::Recording& recording, bool has_prefills)
      : writer_(writer),
        prefills_(has_prefills ? recorded_prefills(recording) : PrefillTimes{}),
        track_id_(writer.add(traces::Track{.kind = "host", .name = "predicted decoding"})) {
    for (const traces::Run& run : recording.runs) parameters_.emplace(run.specification, run.parameters);
    for (int phase = 0; phase < traces::phase_count; ++phase)
      name_ids_.push_back(writer.intern(traces::phase_name(static_cast<Phase>(phase))));
  }

  void begin_run(const std::string& specification, bool is_baseline) {
    const auto recorded = parameters_.find(specification);
    run_id_ = writer_.add(traces::Run{
        .strategy = specification.substr(0, specification.find(':')),
        .specification = specification,
        .parameters = recorded != parameters_.end() ? recorded->second : parameters_json(specification),
        .is_baseline = is_baseline});
  }

  /// Adds a request; `masks` has one element per round.
  void add(const KnownRequest& known, const RoundPrices& prices, std::vector<traces::LayerSet> masks) {
    traces::Request request = *known.request;
    request.id = writer_.next_request_id();
    request.run_id = run_id_;
    request.prompt_id = prompt_id(*known.prompt);
    request.repeat = 0;
    request.start_ns = now_ns_;
    const auto prefill = prefills_.find(known.prompt->id);
    request.first_token_ns = now_ns_ + (prefill == prefills_.end() ? 1 : prefill->second);
    request_id_ = request.id;
    writer_.begin(request);
    begin_at(request.first_token_ns);
    spans_.clear();
    add_span(0, Phase::prefill, request.start_ns, request.first_token_ns);
    for (std::size_t i = 0; i < known.rounds.size(); ++i)
      add_round(known.rounds[i], round_times(known.rounds[i], prices), std::move(masks[i]));
    request.end_ns = now_ns_;
    writer_.finish(request);
    writer_.add(std::span<const traces::Span>(spans_));
  }

 private:
  traces::PromptId prompt_id(const traces::Prompt& prompt) {
    const auto [entry, is_new] = prompts_.try_emplace(prompt.id);
    if (is_new) entry->second = writer_.add(prompt);
    return entry->second;
  }

  void begin_at(std::int64_t start_ns) {
    start_ns_ = now_ns_ = start_ns;
    passed_ns_ = 0.0;
  }

  /// Rounds each time, never the sum.
  std::int64_t pass(double ns) {
    const std::int64_t before = now_ns_;
    passed_ns_ += ns;
    now_ns_ = start_ns_ + std::llround(passed_ns_);
    return now_ns_ - before;
  }

  std::int64_t pass(traces::RoundId round_id, Phase phase, double ns) {
    const std::int64_t start_ns = now_ns_;
    const std::int64_t passed_ns = pass(ns);
    add_span(round_id, phase, start_ns, now_ns_);
    return passed_ns;
  }

  void add_round(const KnownRound& known, const RoundTimes& times, traces::LayerSet mask) {
    traces::Round round = known.round;
    round.id = writer_.next_round_id();
    round.request_id = request_id_;
    round.exit_layer = mask.exit_layer;
    round.layer_set_id = mask.n_layers > 0 ? writer_.add(std::move(mask)) : traces::LayerSetId();
    round.start_ns = now_ns_;
    round.control_ns = pass(round.id, Phase::control, times.control_ns);
    round.draft_ns = pass(round.id, Phase::draft, times.draft_ns);
    round.verify_ns = pass(round.id, Phase::verify, times.verify_ns);
    round.accept_ns = pass(round.id, Phase::accept, times.accept_ns);
    round.optimise_ns = pass(round.id, Phase::optimise, times.optimise_ns);
    round.end_ns = now_ns_;
    tokens_ = known.draft_tokens;
    for (traces::DraftToken& token : tokens_) token.round_id = round.id;
    writer_.add(round, tokens_);
  }

  void add_span(traces::RoundId round_id, Phase phase, std::int64_t start_ns, std::int64_t end_ns) {
    if (end_ns == start_ns) return;
    spans_.push_back({.id = writer_.next_span_id(),
                      .track_id = track_id_,
                      .request_id = request_id_,
                      .round_id = round_id,
                      .start_ns = start_ns,
                      .end_ns = end_ns,
                      .name_id = name_ids_[static_cast<std::size_t>(phase)],
                      .depth = 0,
                      .phase = phase});
  }

  traces::Writer& writer_;
  PrefillTimes prefills_;
  std::unordered_map<std::string, std::string> parameters_;
  std::unordered_map<traces::PromptId, traces::PromptId> prompts_;  // Written prompt by recorded prompt.
  std::vector<traces::StringId> name_ids_;
  traces::TrackId track_id_;
  traces::RunId run_id_;
  traces::RequestId request_id_;
  std::int64_t start_ns_ = 0;  // Start of the request's rounds.
  std::int64_t now_ns_ = 0;
  double passed_ns_ = 0.0;  // Time since then.
  std::vector<traces::Span> spans_;
  std::vector<traces::DraftToken> tokens_;
};

/// One answer's requests with all data to write them.
struct KnownRun {
  const PredictedRun* run = nullptr;
  std::vector<KnownRequest> requests;
  std::vector<std::vector<traces::LayerSet>> masks;  ///< [request][round]
  RoundPrices prices;
  double vanilla_ratio = 1.0;  ///< Vanilla decoding of the same prompts: time / priced time.
};

/// Prices of a request's rounds, over which its auxiliary passes are spread.
RoundPrices request_prices(const KnownRun& known, std::size_t request) {
  const StrategyRounds& rounds = known.run->rounds;
  const RoundStatistics& statistics = rounds.setting.min_drafted[request];
  RoundPrices prices = known.prices;
  if (statistics.rounds == 0) return prices;
  const double auxiliary_ns = part_times(statistics, rounds.auxiliary_passes, prices.prices).auxiliary_ns;
  const double beside_ns = prices.own.draft * (auxiliary_time_ns(statistics, prices.prices) - auxiliary_ns);
  prices.optimise_ns = prices.own.rest * auxiliary_ns / static_cast<double>(statistics.rounds);
  const auto drafting = static_cast<double>(statistics.rounds - statistics.target_steps.passes);
  if (drafting > 0.0)
    prices.beside_ns = beside_ns / drafting;
  else
    prices.optimise_ns += beside_ns / static_cast<double>(statistics.rounds);
  return prices;
}

/// Prepares a run; `accept_share` is the recording's.
Result<KnownRun> known_run(const WhatIf& what_if, const PredictedRun& run, const Machine& machine,
                           double accept_share) {
  KnownRun known{.run = &run, .requests = {}, .masks = {}, .prices = {}};
  DRAFTSCOPE_TRY_ASSIGN(known.requests, known_rounds(what_if.trained(), run.rounds));
  for (const KnownRequest& request : known.requests) {
    std::vector<traces::LayerSet>& of_request = known.masks.emplace_back();
    for (const KnownRound& round : request.rounds) {
      DRAFTSCOPE_TRY_ASSIGN(
          traces::LayerSet mask,
          mask_of(what_if.trained().layer_sets, machine.scenario.shape.n_layers, run.rounds, round));
      of_request.push_back(std::move(mask));
    }
  }
  DRAFTSCOPE_TRY_ASSIGN(known.prices.prices, prices(machine.costs_or(what_if.costs().model),
                                                    answer_scenario(run.rounds, machine)));
  known.prices.accept_share = accept_share;
  known.prices.longer_context = run.rounds.longer_context;
  DRAFTSCOPE_TRY_ASSIGN(const bool has_own, has_own_time(what_if.costs().model, run.rounds, machine));
  if (!has_own) return known;
  known.vanilla_ratio = run.rounds.vanilla_ratio;
  known.prices.own = own_ratios(
      part_times(sum_of(run.rounds.setting.min_drafted), run.rounds.auxiliary_passes, known.prices.prices),
      run.rounds, run.rounds.own_ratio);
  for (double* const ratio : {&known.prices.own.draft, &known.prices.own.verify, &known.prices.own.rest})
    *ratio *= known.vanilla_ratio;
  return known;
}

/// Writes each prompt's text once, from the first run that has it.
void write_vanilla(const std::vector<KnownRun>& runs, PredictionWriter& writer) {
  writer.begin_run("vanilla", true);
  std::map<traces::PromptId, bool> written;
  for (const KnownRun& run : runs)
    for (std::size_t i = 0; i < run.requests.size(); ++i) {
      if (!written.emplace(run.requests[i].prompt->id, true).second) continue;
      const KnownRequest vanilla = vanilla_request(run.requests[i], run.run->rounds.vanilla[i],
                                                   run.run->rounds.setting.min_drafted[i].tokens);
      RoundPrices prices = run.prices;
      prices.own = {run.vanilla_ratio, run.vanilla_ratio, run.vanilla_ratio};
      writer.add(vanilla, prices, std::vector<traces::LayerSet>(vanilla.rounds.size()));
    }
}

}  // namespace

Result<void> write_predicted_trace(const WhatIf& what_if, const traces::Recording& recording,
                                   const PredictedTrace& trace, const std::filesystem::path& target) {
  const double accept_share = recorded_accept_share(recording.rounds);
  std::vector<KnownRun> runs;
  for (const PredictedRun& run : trace.runs) {
    DRAFTSCOPE_TRY_ASSIGN(KnownRun known, known_run(what_if, run, trace.machine, accept_share));
    runs.push_back(std::move(known));
  }
  DRAFTSCOPE_TRY_ASSIGN(traces::AtomicTrace file, traces::AtomicTrace::create(target, trace.overwrite));
  for (const auto& [key, value] : predicted_meta(what_if, recording, trace))
    file.writer().set_meta(key, value);
  PredictionWriter writer(file.writer(), recording, is_as_recorded(what_if, trace));
  write_vanilla(runs, writer);
  for (KnownRun& run : runs) {
    if (speculation::strategy_row(run.run->rounds.strategy).is_baseline) continue;
    writer.begin_run(run.run->rounds.strategy, false);
    for (std::size_t i = 0; i < run.requests.size(); ++i)
      writer.add(run.requests[i], request_prices(run, i), std::move(run.masks[i]));
  }
  return file.commit();
}

}  // namespace draftscope::simulator
