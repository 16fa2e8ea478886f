// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/validation/ask_question.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/validation/round_agreement.h"
#include "prices/fit/engine_law.h"

namespace draftscope::simulator {

namespace {

bool differs(const traces::Meta& a, const traces::Meta& b, const std::string& key) {
  return meta_value(a, key) != meta_value(b, key);
}

bool is_any_different(const traces::Meta& a, const traces::Meta& b, std::span<const char* const> keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) { return differs(a, b, key); });
}

/// Reason why the texts are of a kind without training data; absent where there is some.
std::optional<std::string> other_kind(const traces::Recording& learnt, const RunRows& asked) {
  std::set<std::string_view> known_categories;
  std::set<std::string_view> known_texts;
  for (const RunRows& run : rows_by_run(learnt))
    for (const RequestRows& rows : run.requests) {
      known_categories.insert(rows.prompt->category);
      known_texts.insert(rows.prompt->text);
    }
  std::set<std::string> texts;
  for (const RequestRows& rows : asked.requests) {
    if (!known_categories.contains(rows.prompt->category))
      return fmt::format("category {} was not recorded", quote(rows.prompt->category));
    if (!known_texts.contains(rows.prompt->text)) texts.insert(rows.prompt->text);
  }
  auto comparison = compare_prompts(learnt, std::vector(texts.begin(), texts.end()));
  if (!comparison || !comparison->is_other_kind) return std::nullopt;
  return std::move(comparison->difference);
}

/// Stores the prediction, or fails with the reason why there is none.
Result<void> predict(const WhatIf& what_if, const traces::Recording& learnt, const AskedRun& question,
                     const Elsewhere& elsewhere, const SweepOptions& draws, CheckedAnswer& into) {
  Machine machine{"as recorded", what_if.recorded_scenario()};
  const std::string& strategy = question.run.run->specification;
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds,
                        elsewhere.shape ? rounds_at_target_exit(what_if, strategy, *elsewhere.shape)
                                        : what_if.rounds(strategy));
  if (elsewhere.shape) machine.scenario.shape = *elsewhere.shape;
  if (elsewhere.weights) machine.scenario.weights = *elsewhere.weights;
  if (elsewhere.gpu) {
    machine.scenario.gpu = elsewhere.gpu;
    // Nothing of a CPU's or an unknown GPU's engine carries over.
    if (!what_if.costs().model.gpu) machine.scenario.host = elsewhere.host;
  }
  // Another model accepts other tokens, whatever the prompts.
  if (!elsewhere.shape)
    into.rounds = compare_rounds(predicted_requests(what_if, learnt, rounds), question.run);
  if (question.kind >= QuestionKind::unseen_task)
    if (const auto difference = other_kind(learnt, question.run)) ask_of_other_texts(rounds, *difference);
  DRAFTSCOPE_TRY_ASSIGN(const Answer answer, ask(what_if.costs().model, rounds, machine, draws));
  into.predicted = predicted_decoding(answer);
  into.notes.insert(into.notes.end(), answer.notes.begin(), answer.notes.end());
  return {};
}

}  // namespace

Result<Elsewhere> elsewhere_of(const traces::Meta& learnt, const traces::Meta& asked) {
  constexpr std::array<const char*, 4> model_keys{"model", "model_shape", "checkpoint_hash", "dtype"};
  constexpr std::array<const char*, 4> machine_keys{"device", "processor", "kernels", "threads"};
  Elsewhere elsewhere;
  if (is_any_different(learnt, asked, model_keys)) {
    elsewhere.kind = QuestionKind::unseen_shape;
    DRAFTSCOPE_TRY_ASSIGN(elsewhere.shape, recorded_shape(asked));
    DRAFTSCOPE_TRY_ASSIGN(elsewhere.weights, recorded_weight_type(asked));
  }
  if (is_any_different(learnt, asked, machine_keys)) {
    elsewhere.kind = QuestionKind::unseen_machine;
    if (is_gpu_recording(learnt) && !is_gpu_recording(asked))
      return fail("was recorded on a CPU, expected a GPU as in what was learnt from ({})",
                  recorded_gpu_name(learnt));
    if (is_gpu_recording(asked) && recorded_gpu_name(learnt) != recorded_gpu_name(asked)) {
      DRAFTSCOPE_TRY_ASSIGN(elsewhere.gpu, find_gpu_of_driver(recorded_gpu_name(asked)));
      if (!traces::is_imported(asked)) elsewhere.host = host_of_engine(recorded_engine(asked));
    }
  }
  for (const MetaDifference& difference : meta_differences(Baseline(learnt), Comparison(asked)))
    if (difference.changes_experiment && difference.key != "model_shape")
      elsewhere.notes.push_back(fmt::format("{}: learnt \"{}\", asked \"{}\"", difference.key,
                                            difference.baseline, difference.comparison));
  return elsewhere;
}

std::optional<CheckedAnswer> ask_question(const Result<WhatIf>& what_if, const traces::Recording& learnt,
                                          const AskedRun& question, const Elsewhere& elsewhere,
                                          const SweepOptions& draws) {
  auto measured = measured_decoding(question.baseline, question.run);
  if (!measured) return std::nullopt;
  CheckedAnswer answer{.kind = question.kind,
                       .strategy = question.run.run->specification,
                       .held_out = {},
                       .predicted = {},
                       .measured = *std::move(measured),
                       .rounds = {},
                       .refusal = {},
                       .notes = elsewhere.notes};
  const Result<void> done = what_if ? predict(*what_if, learnt, question, elsewhere, draws, answer)
                                    : tl::unexpected(what_if.error());
  if (!done) answer.refusal = done.error().message;
  return answer;
}

}  // namespace draftscope::simulator
