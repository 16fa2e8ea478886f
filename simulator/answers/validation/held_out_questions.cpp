// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <set>

#include "answers/validation/ask_question.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"
#include "strategies/auto/predict_replay.h"

namespace draftscope::simulator {

namespace {

/// The runs that questions are about. Errors: none, or no vanilla run to measure them against.
Result<std::vector<const RunRows*>> measurable_runs(const std::vector<RunRows>& runs,
                                                    const traces::Recording& recording) {
  if (baseline_of(runs) == nullptr)
    return fail("{}: found no vanilla run with a finished request, expected one to measure speedups against",
                recording.path.string());
  std::vector<const RunRows*> measurable;
  for (const RunRows& run : runs)
    if (!run.run->is_baseline && !run.requests.empty()) measurable.push_back(&run);
  if (measurable.empty())
    return fail("{}: found no run but vanilla with a finished request, expected one to ask about",
                recording.path.string());
  return measurable;
}

/// One held-out part, and the questions about it.
struct HeldOut {
  std::string name;
  RequestFilter keep;
  std::vector<AskedRun> questions;
};

class Holdings {
 public:
  Holdings(const std::vector<RunRows>& runs, const std::vector<const RunRows*>& measurable)
      : baseline_(*baseline_of(runs)), measurable_(measurable) {}

  [[nodiscard]] std::vector<HeldOut> all() {
    add_repeats();
    add_runs();
    add_categories();
    return std::move(all_);
  }

 private:
  void add_repeats() {
    std::set<std::int32_t> repeats;
    for (const RequestRows& rows : baseline_.requests) repeats.insert(rows.request->repeat);
    if (repeats.size() < 2) {
      HeldOut nothing{.name = "nothing", .keep = [](auto&&...) { return true; }, .questions = {}};
      for (const RunRows* run : measurable_)
        nothing.questions.push_back({QuestionKind::recorded_again, baseline_, *run});
      all_.push_back(std::move(nothing));
      return;
    }
    for (const std::int32_t repeat : repeats) {
      HeldOut held{.name = fmt::format("repeat {}", repeat),
                   .keep = [repeat](const traces::Run&, const traces::Prompt&,
                                    const traces::Request& request) { return request.repeat != repeat; },
                   .questions = {}};
      for (const RunRows* run : measurable_)
        held.questions.push_back(
            {QuestionKind::recorded_again, only_repeat(baseline_, repeat), only_repeat(*run, repeat)});
      all_.push_back(std::move(held));
    }
  }

  void add_runs() {
    for (const RunRows* run : measurable_) {
      std::vector<StrategySetting> others;
      for (const RunRows* other : measurable_)
        if (other != run) others.push_back(setting_of_run(*other->run));
      const QuestionKind kind = kind_of_setting(setting_of_run(*run->run), others);
      all_.push_back({.name = "run",
                      .keep = [id = run->run->id](const traces::Run& candidate, const traces::Prompt&,
                                                  const traces::Request&) { return candidate.id != id; },
                      .questions = {{kind, baseline_, *run}}});
    }
  }

  void add_categories() {
    const std::vector<std::string> names = categories(baseline_);
    if (names.size() < 2) return;
    for (const std::string& name : names) {
      HeldOut held{.name = "category " + name,
                   .keep = [name](const traces::Run&, const traces::Prompt& prompt,
                                  const traces::Request&) { return prompt.category != name; },
                   .questions = {}};
      for (const RunRows* run : measurable_)
        held.questions.push_back(
            {QuestionKind::unseen_task, only_category(baseline_, name), only_category(*run, name)});
      all_.push_back(std::move(held));
    }
  }

  const RunRows& baseline_;
  const std::vector<const RunRows*>& measurable_;
  std::vector<HeldOut> all_;
};

std::set<std::string_view> texts_of(const std::vector<RunRows>& runs) {
  std::set<std::string_view> texts;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests) texts.insert(rows.prompt->text);
  return texts;
}

}  // namespace

Result<std::vector<CheckedAnswer>> ask_held_out(traces::Reader& reader, const traces::Recording& recording,
                                                const ValidationOptions& options) {
  if (traces::is_imported(recording.meta))
    return fail("{}: is imported, expected a recording (draftscope record) to hold parts out of",
                recording.path.string());
  const std::vector<RunRows> runs = rows_by_run(recording);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<const RunRows*> measurable, measurable_runs(runs, recording));
  const std::vector<HeldOut> all = Holdings(runs, measurable).all();
  std::vector<CheckedAnswer> answers;
  std::int64_t done = 0;
  for (const HeldOut& held : all) {
    const traces::Recording learnt = only_requests(recording, held.keep);
    const auto what_if = WhatIf::train(reader, learnt, {.recorded_on = options.recorded_on});
    for (const AskedRun& question : held.questions)
      if (auto answer = ask_question(what_if, learnt, question, {}, options.draws)) {
        answer->held_out = held.name;
        answers.push_back(*std::move(answer));
      }
    if (options.progress) options.progress(++done, static_cast<std::int64_t>(all.size()));
  }
  return answers;
}

Result<std::vector<CheckedAnswer>> ask_across(traces::Reader& reader, const traces::Recording& learnt,
                                              const traces::Recording& target,
                                              const ValidationOptions& options) {
  const std::vector<RunRows> target_runs = rows_by_run(target);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<const RunRows*> measurable, measurable_runs(target_runs, target));
  DRAFTSCOPE_TRY_ASSIGN(const Elsewhere elsewhere, elsewhere_of(learnt.meta, target.meta));

  const std::set<std::string_view> asked_texts = texts_of(target_runs);
  const std::set<std::string_view> learnt_texts = texts_of(rows_by_run(learnt));
  const bool same_texts =
      std::includes(learnt_texts.begin(), learnt_texts.end(), asked_texts.begin(), asked_texts.end());
  const traces::Recording from =
      only_requests(learnt, [&](const traces::Run&, const traces::Prompt& prompt, const traces::Request&) {
        return !same_texts || asked_texts.contains(prompt.text);
      });
  std::vector<StrategySetting> known;
  for (const traces::Run& run : from.runs)
    if (!run.is_baseline) known.push_back(setting_of_run(run));

  const auto what_if = WhatIf::train(reader, from, {.recorded_on = options.recorded_on});
  std::vector<CheckedAnswer> answers;
  std::int64_t done = 0;
  for (const RunRows* run : measurable) {
    QuestionKind kind = std::max(kind_of_setting(setting_of_run(*run->run), known), elsewhere.kind);
    if (!same_texts) kind = std::max(kind, QuestionKind::unseen_task);
    if (auto answer =
            ask_question(what_if, from, {kind, *baseline_of(target_runs), *run}, elsewhere, options.draws)) {
      answer->held_out = target.path.filename().string();
      answers.push_back(*std::move(answer));
    }
    if (options.progress) options.progress(++done, static_cast<std::int64_t>(measurable.size()));
  }
  return answers;
}

Result<std::vector<RunReplay>> check_replays(traces::Reader& reader, const traces::Recording& recording) {
  std::vector<RunReplay> replays;
  DRAFTSCOPE_TRY_ASSIGN(const ShadowTables found, shadow_tables(reader, recording));
  const auto model = replay_model(recording);
  for (const RunRows& run : rows_by_run(recording)) {
    if (run.requests.empty()) continue;
    if (model && is_auto(*run.run, model->n_layers)) {
      DRAFTSCOPE_TRY_ASSIGN(ReplayCheck check, auto_replays_recorded(run, recording));
      replays.push_back({run.run->specification, std::move(check)});
      continue;
    }
    if (found.tables.empty()) continue;
    if (!model) return tl::unexpected<Error>(model.error());
    DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice, policy_of_run(*run.run, *model));
    if (choice.policy == nullptr) continue;
    DRAFTSCOPE_TRY_ASSIGN(ReplayCheck check, replays_recorded(run, found.tables, recording));
    replays.push_back({run.run->specification, std::move(check)});
  }
  return replays;
}

}  // namespace draftscope::simulator
