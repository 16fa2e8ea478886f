// SPDX-License-Identifier: GPL-3.0-or-later
#include "reply.h"

#include <draftscope/simulator/what_if/answer.h>
#include <draftscope/simulator/what_if/strategy_rounds.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace draftscope::gui {

namespace {

using simulator::Provenance;

Result<void> fill(const LearntRecording& learnt, const simulator::SweepOptions& options, Reply& reply) {
  const Question& question = reply.question;
  DRAFTSCOPE_TRY_ASSIGN(reply.what_if, learnt.what_if(question));
  const simulator::WhatIf& what_if = *reply.what_if;
  const simulator::Scenario recorded = what_if.recorded_scenario();
  DRAFTSCOPE_TRY_ASSIGN(reply.rounds, what_if.rounds(strategy_of(question)));
  DRAFTSCOPE_TRY_ASSIGN(reply.machine, machine_of(question, recorded));
  if (question.longer_context > 0) simulator::lengthen_context(reply.rounds, question.longer_context);
  reply.rounds = simulator::for_shape(std::move(reply.rounds), recorded.shape, reply.machine.scenario.shape);
  DRAFTSCOPE_TRY_ASSIGN(reply.answer,
                        simulator::ask(what_if.costs().model, reply.rounds, reply.machine, options));
  DRAFTSCOPE_TRY_ASSIGN(reply.rate,
                        simulator::ask_rate(what_if.costs().model, reply.rounds, reply.machine, options));
  reply.is_extrapolated = std::any_of(
      reply.answer.cost_notes.begin(), reply.answer.cost_notes.end(),
      [](const simulator::CostNote& note) { return note.provenance == Provenance::extrapolated; });
  const simulator::Answer& answer = reply.answer;
  if (!(answer.steps_per_round > 0.0)) return {};
  const auto gamma =
      question.kind == StrategyKind::fixed_length ? std::optional(question.gamma) : std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(reply.break_even,
                        simulator::break_even({answer.steps_per_round, answer.c, answer.v, answer.o}, gamma));
  return {};
}

bool is_elsewhere(const Reply& reply) {
  const Question& question = reply.question;
  return !question.gpu.empty() || question.machine_file != nullptr || !question.model.empty() ||
         question.weights || question.regime != simulator::Regime::as_fitted || question.batch != 1 ||
         question.tensor_parallel != 1;
}

}  // namespace

Reply answer(const LearntRecording& learnt, const Question& question,
             const simulator::SweepOptions& options) {
  Reply reply{.question = question};
  if (const Result<void> filled = fill(learnt, options, reply); !filled)
    reply.refusal = filled.error().message;
  return reply;
}

std::string standing(const Reply& reply) {
  const char* times = reply.is_extrapolated ? "extrapolated" : is_elsewhere(reply) ? "modelled" : "fitted";
  return fmt::format("{} rounds ({}), {} times", answer_status_name(reply.answer.status),
                     round_source_name(reply.answer.source), times);
}

std::vector<std::string> notes_of(const Reply& reply) {
  std::vector<std::string> lines = reply.answer.notes;
  const std::string& reason = reply.answer.speedup.min_drafted.total.no_interval_reason;
  if (!reason.empty()) lines.push_back("no interval: " + reason);
  int undetermined = 0;
  for (const simulator::CostNote& note : reply.answer.cost_notes) {
    if (note.provenance == Provenance::undetermined)
      ++undetermined;
    else
      lines.push_back((note.provenance == Provenance::extrapolated ? "extrapolated: " : "") + note.text);
  }
  if (undetermined > 0)
    lines.push_back(fmt::format(
        "{} cost parameters are not determined by the recording (draftscope simulate --json names them)",
        undetermined));
  return lines;
}

Result<simulator::Ladder> ladder_of(const Reply& reply) {
  if (!reply.refusal.empty()) return fail("{}", reply.refusal);
  return simulator::answer_ladder(reply.what_if->costs().model, reply.rounds, reply.machine);
}

Result<simulator::Roofline> roofline_of(const Reply& reply) {
  if (!reply.refusal.empty()) return fail("{}", reply.refusal);
  simulator::PassCount steps;
  for (const simulator::PassCount& request : reply.rounds.vanilla) {
    steps.passes += request.passes;
    steps.context += request.context;
  }
  const double context =
      steps.passes > 0 ? static_cast<double>(steps.context) / static_cast<double>(steps.passes) : 0.0;
  std::vector<std::int32_t> rows{1};
  std::int32_t widest = 1;
  for (const simulator::RoundStatistics& request : reply.rounds.setting.least)
    for (const simulator::DraftStatistics& draft : request.drafts)
      for (std::size_t width = 2; width < draft.verify.size(); ++width)
        if (draft.verify[width].passes > 0) widest = std::max(widest, static_cast<std::int32_t>(width));
  if (widest > 1) rows.push_back(widest);
  return simulator::roofline(reply.what_if->costs().model, reply.machine, context, rows);
}

}  // namespace draftscope::gui
