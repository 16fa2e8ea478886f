// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction_file.h>

#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>

#include <algorithm>
#include <set>

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/sha256.h>

#include "answers/validation/round_agreement.h"

namespace draftscope::simulator {

namespace {

Result<std::int64_t> start_of(const traces::Recording& measured) {
  const std::string text = meta_value(measured.meta, "clock_start_realtime_ns");
  const auto ns = parse_number<std::int64_t>(text);
  if (!ns)
    return fail("{}: meta clock_start_realtime_ns is {}, expected when the recording began",
                measured.path.string(), quote(text));
  return *ns;
}

/// Texts of the recording that the prediction was not learnt from.
struct PromptAgreement {
  std::size_t measured = 0;
  std::size_t learnt = 0;
};

PromptAgreement compare_prompts(const PredictionFile& prediction, const std::vector<RunRows>& runs) {
  std::set<std::string> learnt;
  for (const LearntPrompt& prompt : prediction.prompts) learnt.insert(prompt.sha256);
  std::set<const traces::Prompt*> known;
  PromptAgreement agreement;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests) {
      if (!known.insert(rows.prompt).second) continue;
      ++agreement.measured;
      agreement.learnt += learnt.contains(sha256_of(rows.prompt->text)) ? 1 : 0;
    }
  return agreement;
}

/// Why the recording does not answer the question; "" if it does.
std::string not_measured(const PredictedQuestion& question, const traces::Recording& measured,
                         const ModelShape& shape) {
  if (!speculation::same_sizes(question.shape, shape))
    return fmt::format("predicted for the sizes of {}, measured on {}", question.shape.name, shape.name);
  if (const std::string dtype = meta_value(measured.meta, "dtype"); question.weights != dtype)
    return fmt::format("predicted for {} weights, measured with {}", question.weights, dtype);
  if (question.batch != 1 || question.tensor_parallel != 1)
    return fmt::format("predicted for a batch of {} on {} GPUs, measured one request at a time on one device",
                       question.batch, question.tensor_parallel);
  if (question.gpu.empty()) return "";
  const std::string device = is_gpu_recording(measured.meta) ? recorded_gpu_name(measured.meta)
                                                             : meta_value(measured.meta, "device");
  const auto known = find_gpu_of_driver(device);
  if (device == question.gpu || (known && known->name == question.gpu)) return "";
  return fmt::format("predicted for {}, measured on {}", question.gpu, device);
}

std::vector<std::string> differences_of(const PredictionFile& prediction, const traces::Recording& measured,
                                        const PromptAgreement& prompts) {
  std::vector<std::string> lines;
  const auto differences = meta_differences(Baseline(prediction.recording_meta), Comparison(measured.meta));
  for (const MetaDifference& difference : differences)
    if (difference.changes_experiment)
      lines.push_back(fmt::format("{}: learnt from \"{}\", measured \"{}\"", difference.key,
                                  difference.baseline, difference.comparison));
  if (prompts.learnt < prompts.measured)
    lines.push_back(fmt::format("prompts: {} of the {} measured are among the {} learnt from", prompts.learnt,
                                prompts.measured, prediction.prompts.size()));
  else if (prompts.measured < prediction.prompts.size())
    lines.push_back(fmt::format("prompts: only {} of the {} learnt from were measured", prompts.measured,
                                prediction.prompts.size()));
  return lines;
}

Result<void> check_order(const PredictionFile& prediction, const traces::Recording& measured,
                         PredictionScore& score) {
  DRAFTSCOPE_TRY_ASSIGN(score.measured_realtime_ns, start_of(measured));
  if (score.measured_realtime_ns <= prediction.created_realtime_ns)
    return fail("{}: was begun at {}, expected after the prediction of {}", measured.path.string(),
                utc_text(score.measured_realtime_ns), utc_text(prediction.created_realtime_ns));
  const std::string made_for = meta_value(measured.meta, "prediction_digest");
  if (!made_for.empty() && made_for != prediction.digest)
    return fail("{}: was recorded for the prediction {}, expected {}", measured.path.string(), made_for,
                prediction.digest);
  score.recorded_for_it = !made_for.empty();
  return {};
}

}  // namespace

Result<PredictionScore> score_prediction(const PredictionFile& prediction,
                                         const traces::Recording& measured) {
  PredictionScore score;
  DRAFTSCOPE_TRY(check_order(prediction, measured, score));
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape shape, recorded_shape(measured.meta));
  const std::vector<RunRows> runs = rows_by_run(measured);
  const auto baseline =
      std::find_if(runs.begin(), runs.end(), [](const RunRows& run) { return run.run->is_baseline; });
  if (baseline == runs.end())
    return fail("{}: found no vanilla run, expected one to measure speedups against", measured.path.string());
  const PromptAgreement prompts = compare_prompts(prediction, runs);
  score.differences = differences_of(prediction, measured, prompts);

  for (const PredictedQuestion& question : prediction.questions) {
    std::string reason = not_measured(question, measured, shape);
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const RunRows& candidate) {
      return candidate.run->specification == question.strategy;
    });
    if (reason.empty() && run == runs.end()) reason = "no run of it was recorded";
    if (reason.empty()) {
      auto figures = measured_decoding(*baseline, *run);
      if (figures) {
        CheckedAnswer answer{.kind = question.kind,
                             .strategy = question.strategy,
                             .held_out = question.machine,
                             .predicted = question.decoding,
                             .measured = *std::move(figures),
                             .rounds = compare_rounds(question.requests, *run),
                             .refusal = {},
                             .notes = question.notes};
        if (prompts.learnt < prompts.measured) answer.kind = std::max(answer.kind, QuestionKind::unseen_task);
        score.answers.push_back(std::move(answer));
        continue;
      }
      reason = figures.error().message;
    }
    score.unmeasured.push_back({question.strategy, question.machine, std::move(reason)});
  }
  if (score.answers.empty())
    return fail("{}: answers none of the {} predictions: {}", measured.path.string(),
                prediction.questions.size(),
                score.unmeasured.empty() ? "there is none" : score.unmeasured.front().reason);
  return score;
}

}  // namespace draftscope::simulator
