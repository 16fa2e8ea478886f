// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/validation/ask_question.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/text_share.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "answers/advice/prompt_order.h"
#include "prices/fit/engine_law.h"
#include "rounds/trained_recording.h"

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

/// Requests of the rounds with their prompts, in the order of `what_if`. Empty where acceptance was modelled,
/// since there are no rounds then.
std::vector<PredictedRequest> predicted_requests(const WhatIf& what_if, const StrategyRounds& rounds) {
  std::vector<PredictedRequest> requests;
  if (rounds.source == RoundSource::modelled) return requests;
  const traces::Recording& recording = *what_if.trained().recording;
  const std::vector<traces::PromptId> prompts = prompts_of(rounds, what_if, recording);
  const std::vector<RoundStatistics>& least = rounds.setting.min_drafted;
  const std::vector<RoundStatistics>& most =
      rounds.setting.max_drafted.empty() ? least : rounds.setting.max_drafted;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto prompt = std::ranges::find(recording.prompts, prompts[i], &traces::Prompt::id);
    if (prompt != recording.prompts.end()) requests.push_back({&*prompt, least[i], most[i]});
  }
  return requests;
}

/// Stores the prediction, or fails with the reason why there is none.
Result<void> predict(const WhatIf& what_if, const traces::Recording& learnt, const AskedRun& question,
                     const Elsewhere& elsewhere, const PredictionOptions& draws, CheckedAnswer& into) {
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
  if (!elsewhere.shape) into.rounds = compare_rounds(predicted_requests(what_if, rounds), question.run);
  if (question.kind >= QuestionKind::unseen_task)
    if (const auto difference = other_kind(learnt, question.run)) ask_of_other_texts(rounds, *difference);
  DRAFTSCOPE_TRY_ASSIGN(into.predicted, ask(what_if.costs().model, rounds, machine, draws));
  into.notes.insert(into.notes.end(), into.predicted->notes.begin(), into.predicted->notes.end());
  return {};
}

RoundStatistics counts_of(const RequestRows& rows) {
  RoundStatistics counts;
  for (const traces::Round& round : rows.rounds) {
    ++counts.rounds;
    counts.drafted += round.drafted;
    counts.accepted += traces::tokens_of(round).accepted_in_text(rows.request->stop);
    counts.tokens += round.emitted;
  }
  return counts;
}

/// Describes the difference; "" if the counts equal the prediction, or are within its bounds.
std::string difference(const RoundStatistics& found, const RoundStatistics& least,
                       const RoundStatistics& most) {
  const auto compare = [](const char* what, std::int64_t measured, std::int64_t a, std::int64_t b) {
    const auto [low, high] = std::minmax(a, b);
    if (measured >= low && measured <= high) return std::string();
    return low == high ? fmt::format("{} {}, predicted {}", measured, what, low)
                       : fmt::format("{} {}, predicted {} to {}", measured, what, low, high);
  };
  for (std::string text : {compare("rounds", found.rounds, least.rounds, most.rounds),
                           compare("emitted tokens", found.tokens, least.tokens, most.tokens),
                           compare("accepted tokens", found.accepted, least.accepted, most.accepted),
                           compare("draft tokens", found.drafted, least.drafted, most.drafted)})
    if (!text.empty()) return text;
  return "";
}

/// Null if there is none; `of_text` are the predictions of the prompt's text.
const PredictedRequest* prediction_of(const traces::Prompt& prompt,
                                      std::span<const PredictedRequest* const> of_text) {
  const auto same = std::ranges::find_if(of_text, [&](const PredictedRequest* request) {
    return request->prompt->question_id == prompt.question_id && request->prompt->turn == prompt.turn;
  });
  if (same != of_text.end()) return *same;
  return of_text.size() == 1 ? of_text.front() : nullptr;
}

template <typename Row, typename Keep>
std::vector<Row> rows_where(const std::vector<Row>& rows, const Keep& keep) {
  std::vector<Row> kept;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept), keep);
  return kept;
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
                                          const PredictionOptions& draws) {
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

std::string_view round_match_name(RoundMatch match) {
  constexpr std::array<std::string_view, 4> names{"not compared", "exact", "bounded", "differs"};
  return names[static_cast<std::size_t>(match)];
}

RoundAgreement compare_rounds(std::span<const PredictedRequest> predicted, const RunRows& measured) {
  RoundAgreement agreement;
  std::unordered_map<std::string_view, std::vector<const PredictedRequest*>> by_text;
  for (const PredictedRequest& request : predicted) by_text[request.prompt->text].push_back(&request);
  for (const RequestRows& rows : measured.requests) {
    const PredictedRequest* const found = prediction_of(*rows.prompt, by_text[rows.prompt->text]);
    if (found == nullptr) continue;
    const PredictedRequest& request = *found;
    ++agreement.requests;
    const std::string text = difference(counts_of(rows), request.least, request.most);
    const RoundMatch match = !text.empty()                                   ? RoundMatch::differs
                             : request.least.drafted != request.most.drafted ? RoundMatch::bounded
                                                                             : RoundMatch::exact;
    agreement.match = std::max(agreement.match, match);
    if (!text.empty() && agreement.first_difference.empty())
      agreement.first_difference = fmt::format("question {} turn {} repeat {}: {}", rows.prompt->question_id,
                                               rows.prompt->turn, rows.request->repeat, text);
  }
  return agreement;
}

traces::Recording only_requests(const traces::Recording& recording, const RequestFilter& keep) {
  std::unordered_map<traces::RunId, const traces::Run*> runs;
  for (const traces::Run& run : recording.runs) runs.emplace(run.id, &run);
  std::unordered_map<traces::PromptId, const traces::Prompt*> prompts;
  for (const traces::Prompt& prompt : recording.prompts) prompts.emplace(prompt.id, &prompt);

  traces::Recording kept{.path = recording.path,
                         .meta = recording.meta,
                         .closed_cleanly = recording.closed_cleanly,
                         .runs = {},
                         .prompts = recording.prompts,
                         .requests = {},
                         .layer_sets = recording.layer_sets,
                         .rounds = {},
                         .draft_tokens = {},
                         .tracks = recording.tracks};
  std::unordered_set<traces::RunId> kept_runs;
  std::unordered_set<traces::RequestId> kept_requests;
  for (const traces::Request& request : recording.requests) {
    const auto run = runs.find(request.run_id);
    const auto prompt = prompts.find(request.prompt_id);
    if (run == runs.end() || prompt == prompts.end() || !keep(*run->second, *prompt->second, request))
      continue;
    kept_runs.insert(request.run_id);
    kept_requests.insert(request.id);
    kept.requests.push_back(request);
  }
  kept.runs = rows_where(recording.runs, [&](const traces::Run& run) { return kept_runs.contains(run.id); });
  std::unordered_set<traces::RoundId> kept_rounds;
  for (const traces::Round& round : recording.rounds)
    if (kept_requests.contains(round.request_id)) {
      kept_rounds.insert(round.id);
      kept.rounds.push_back(round);
    }
  kept.draft_tokens = rows_where(recording.draft_tokens, [&](const traces::DraftToken& token) {
    return kept_rounds.contains(token.round_id);
  });
  return kept;
}

}  // namespace draftscope::simulator
