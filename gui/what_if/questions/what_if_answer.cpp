// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if_answer.h"

#include <draftscope/simulator/answers/advice_text.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <fmt/format.h>
#include <algorithm>
#include <utility>

namespace draftscope::gui {

namespace {

using simulator::Provenance;

/// Whether the question's machine, model or circumstances differ from the recorded ones; the context does not
/// count.
bool is_elsewhere(const Question& question) {
  return !question.gpu.empty() || question.machine_file != nullptr || !question.model.empty() ||
         question.weights || question.regime != simulator::Regime::as_fitted || question.batch != 1 ||
         question.tensor_parallel != 1 || !question.host.empty() || !question.draft_cost.empty();
}

Result<void> fill(const TrainedRecording& trained, const simulator::PredictionOptions& options,
                  simulator::CachedPrices* kept, WhatIfAnswer& answer) {
  const Question& question = answer.question;
  DRAFTSCOPE_TRY_ASSIGN(answer.what_if, trained.what_if(question));
  const simulator::WhatIf& what_if = *answer.what_if;
  const simulator::Scenario recorded = what_if.recorded_scenario();
  DRAFTSCOPE_TRY_ASSIGN(answer.machine, machine_of(question, recorded));
  DRAFTSCOPE_TRY_ASSIGN(answer.rounds, what_if.rounds(strategy_of(question), answer.machine));
  if (question.longer_context > 0) simulator::lengthen_context(answer.rounds, question.longer_context);
  answer.rounds =
      simulator::for_shape(std::move(answer.rounds), recorded.shape, answer.machine.scenario.shape);
  const std::shared_ptr<const simulator::CostModel> costs(answer.what_if, &what_if.costs().model);
  DRAFTSCOPE_TRY_ASSIGN(answer.prediction,
                        kept == nullptr
                            ? simulator::ask(*costs, answer.rounds, answer.machine, options)
                            : simulator::ask(costs, answer.rounds, answer.machine, options, *kept));
  if (is_as_recorded(question))
    if (const auto* run = simulator::measured_setting_of(answer.prediction, trained.measured()))
      answer.beside = simulator::measured_beside(answer.prediction, *run, what_if.costs().report,
                                                 trained.recording().meta);
  answer.is_extrapolated = std::any_of(
      answer.prediction.cost_notes.begin(), answer.prediction.cost_notes.end(),
      [](const simulator::CostNote& note) { return note.provenance == Provenance::extrapolated; });
  const simulator::Answer& prediction = answer.prediction;
  if (!(prediction.steps_per_round > 0.0)) return {};
  const auto gamma =
      question.kind == StrategyKind::fixed_length ? std::optional(question.gamma) : std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(
      answer.break_even,
      simulator::break_even({prediction.steps_per_round, prediction.c, prediction.v, prediction.o}, gamma));
  return {};
}

}  // namespace

bool is_as_recorded(const Question& question) {
  return !is_elsewhere(question) && question.longer_context == 0;
}

WhatIfAnswer answer_of(const TrainedRecording& trained, const Question& question,
                       const simulator::PredictionOptions& options, simulator::CachedPrices* kept) {
  WhatIfAnswer answer{.question = question};
  if (const Result<void> filled = fill(trained, options, kept, answer); !filled)
    answer.refusal = filled.error().message;
  return answer;
}

std::string standing(const WhatIfAnswer& answer) {
  const char* times = answer.is_extrapolated          ? "extrapolated"
                      : is_elsewhere(answer.question) ? "modelled"
                                                      : "fitted";
  return fmt::format("{} rounds ({}), {} times", answer_status_name(answer.prediction.status),
                     round_source_name(answer.prediction.source), times);
}

std::vector<std::string> notes_of(const WhatIfAnswer& answer) {
  std::vector<std::string> lines = answer.prediction.notes;
  const std::string& reason = answer.prediction.speedup.min_drafted.no_interval_reason;
  if (!reason.empty()) lines.push_back("no interval: " + reason);
  const std::vector<std::string> costs = simulator::cost_note_lines(answer.prediction);
  lines.insert(lines.end(), costs.begin(), costs.end());
  return lines;
}

Result<simulator::Ladder> ladder_of(const WhatIfAnswer& answer) {
  if (!answer.refusal.empty()) return fail("{}", answer.refusal);
  return simulator::answer_ladder(answer.what_if->costs().model, answer.rounds, answer.machine);
}

Result<simulator::Roofline> roofline_of(const WhatIfAnswer& answer) {
  if (!answer.refusal.empty()) return fail("{}", answer.refusal);
  simulator::PassCount steps;
  for (const simulator::PassCount& request : answer.rounds.vanilla) {
    steps.passes += request.passes;
    steps.context += request.context;
  }
  const double context =
      steps.passes > 0 ? static_cast<double>(steps.context) / static_cast<double>(steps.passes) : 0.0;
  std::vector<std::int32_t> rows{1};
  std::int32_t widest = 1;
  for (const simulator::RoundStatistics& request : answer.rounds.setting.min_drafted)
    for (const simulator::DraftStatistics& draft : request.drafts)
      for (std::size_t width = 2; width < draft.verify.size(); ++width)
        if (draft.verify[width].passes > 0) widest = std::max(widest, static_cast<std::int32_t>(width));
  if (widest > 1) rows.push_back(widest);
  return simulator::roofline(answer.what_if->costs().model, answer.machine, context, rows);
}

Result<WaterfallLevels> waterfall_of(const TrainedRecording& trained, const WhatIfAnswer& answer,
                                     const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  const Question& question = answer.question;
  DRAFTSCOPE_TRY_ASSIGN(const WhatIfPointer what_if, trained.what_if(question));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Machine machine, machine_of(question, what_if->recorded_scenario()));
  std::vector<simulator::StrategyRounds> strategies;
  if (auto rounds = what_if->rounds(strategy_of(question)); rounds && answer.refusal.empty())
    strategies.push_back(*std::move(rounds));
  simulator::WaterfallOptions options;
  options.progress = progress;
  WaterfallLevels levels{.machine = machine.name, .batch = machine.scenario.batch, .found = {}};
  DRAFTSCOPE_TRY_ASSIGN(levels.found,
                        simulator::recording_waterfall(*what_if, trained.recording(), machine, strategies,
                                                       question.longer_context, options));
  return levels;
}

}  // namespace draftscope::gui
