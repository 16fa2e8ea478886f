// SPDX-License-Identifier: GPL-3.0-or-later
#include "learnt_recording.h"

#include <draftscope/simulator/policy_choice.h>
#include <draftscope/simulator/predicted_trace.h>
#include <draftscope/traces/import_lacks.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

/// What no cost model and no gain can be learnt from.
Result<void> check(const traces::Recording& recording) {
  const std::string name = recording.path.filename().string();
  if (traces::is_imported(recording.meta))
    return fail(
        "{}: is imported and has no times that costs could be learnt from, expected a recording of "
        "draftscope record --shadow; draftscope simulate answers for an imported one with --gpu and --model",
        name);
  if (simulator::is_predicted(recording.meta))
    return fail("{}: is predicted itself, expected the recording that it was predicted from", name);
  if (std::none_of(recording.runs.begin(), recording.runs.end(),
                   [](const traces::Run& run) { return run.is_baseline; }))
    return fail("{}: found no vanilla run, expected one to gain over: record with --strategy vanilla", name);
  return {};
}

bool verifies_above_exit(const std::string& strategy) {
  return strategy.find("verify=above-exit") != std::string::npos;
}

std::string why_no_replay(const simulator::WhatIf& what_if, const traces::Recording& recording) {
  const simulator::PolicyChoice text = simulator::text_choice(recording);
  if (text.status == simulator::AnswerStatus::invalid) return text.reason;
  if (what_if.tables().empty())
    return "found no shadow tokens, which say what other exit layers would have drafted; record with "
           "--shadow";
  return "";
}

}  // namespace

Result<LearntPointer> LearntRecording::learn(RecordingPointer recording,
                                             std::function<bool(std::int64_t, std::int64_t)> progress) {
  DRAFTSCOPE_TRY(check(recording->recording()));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(recording->recording().path));
  simulator::WhatIfOptions options;
  options.progress = std::move(progress);
  auto what_if = simulator::WhatIf::learn(reader, recording->recording(), options);
  if (!what_if) return fail("{}: {}", recording->name(), what_if.error().message);
  std::shared_ptr<LearntRecording> learnt(new LearntRecording(std::move(recording), *std::move(what_if)));
  learnt->list_runs();
  learnt->no_replay_reason_ = why_no_replay(learnt->what_if_, learnt->recording());
  return LearntPointer(std::move(learnt));
}

void LearntRecording::list_runs() {
  const auto model = simulator::replay_model(recording());
  for (const traces::Run& run : recording().runs) {
    if (run.is_baseline ||
        std::find(strategies_.begin(), strategies_.end(), run.specification) != strategies_.end())
      continue;
    strategies_.push_back(run.specification);
    if (!model || run.strategy != "layerskip") continue;
    const auto choice = simulator::policy_of_specification(run.specification, *model);
    if (!choice || choice->policy == nullptr) continue;
    simulator::PlannedRound plan;
    choice->policy->plan({}, plan);
    points_.push_back({run.specification, plan.exit, plan.length, verifies_above_exit(run.specification)});
  }
}

Question LearntRecording::question_of(const std::string& strategy) const {
  Question question{.kind = StrategyKind::recorded,
                    .recorded = strategy,
                    .exit = std::max(1, n_layers() / 4),
                    .verifies_above_exit = verifies_above_exit(strategy)};
  for (const RecordedPoint& point : points_)
    if (point.strategy == strategy) {
      question.exit = point.exit;
      question.gamma = point.gamma;
    }
  return question;
}

}  // namespace draftscope::gui
