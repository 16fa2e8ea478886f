// SPDX-License-Identifier: GPL-3.0-or-later
#include "explain/remedies.h"

#include <draftscope/simulator/figures/figures.h>
#include <draftscope/simulator/predicted_trace/predicted_trace.h>
#include <draftscope/simulator/what_if/answer.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>

#include "explain/phrases.h"

namespace draftscope::simulator {

namespace {

/// Strategies of other kinds than a run may be, few enough to ask about all: an early exit in the middle and
/// one at two thirds, short and longer, and guesses from the text.
std::vector<std::string> alternatives(std::int32_t n_layers) {
  std::vector<std::string> settings{"prompt-lookup:length=4"};
  for (const std::int32_t exit : {n_layers / 2, 2 * n_layers / 3})
    for (const int gamma : {2, 4})
      if (exit > 0) settings.push_back(fmt::format("layerskip:exit={},gamma={}", exit, gamma));
  return settings;
}

Result<SimulatedRemedy> ask_about(const WhatIf& what_if, const std::string& strategy,
                                  const SweepOptions& draws) {
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds rounds, what_if.rounds(strategy));
  const Machine machine{"as recorded", what_if.recorded_scenario(), nullptr, {}};
  DRAFTSCOPE_TRY_ASSIGN(const Answer answer, ask(what_if.costs().model, rounds, machine, draws));
  SimulatedRemedy remedy{.strategy = strategy,
                         .status = answer.status,
                         .speedup = answer.speedup.min_drafted.total.value,
                         .interval_95 = outermost_interval_95(answer.speedup)};
  if (answer.speedup.max_drafted)
    remedy.speedup = std::min(remedy.speedup, answer.speedup.max_drafted->total.value);
  return remedy;
}

std::string sentence_of(const SimulatedRemedy& remedy, std::size_t asked, std::optional<double> measured) {
  std::string text =
      fmt::format("{} would give {}", remedy.strategy, speedup_text(remedy.speedup, Characters::ascii));
  const std::string interval =
      remedy.interval_95 ? fmt::format("95 %: {}, ", range_text(remedy.interval_95->low,
                                                                remedy.interval_95->high, Characters::ascii))
                         : std::string();
  text += fmt::format(" ({}rounds {})", interval, answer_status_name(remedy.status));
  if (asked > 1) text += fmt::format(". It is the fastest of {} settings that were asked about", asked);
  if (measured && remedy.speedup <= *measured) text += ". That is no gain";
  if (remedy.speedup < 1.0) text += ". Vanilla decoding is faster";
  return text + ".";
}

}  // namespace

std::vector<std::string> Remedies::settings_of(const Judgement& judgement, const traces::Run& run) const {
  std::vector<std::string> settings = judgement.settings;
  if (judgement.wants_alternatives)
    for (std::string& setting : alternatives(model_layers(recording_)))
      settings.push_back(std::move(setting));
  std::erase(settings, run.specification);
  return settings;
}

const Result<SimulatedRemedy>& Remedies::answer(const std::string& strategy) {
  const auto known = answers_.find(strategy);
  if (known != answers_.end()) return known->second;
  return answers_.emplace(strategy, ask_about(*options_.what_if, strategy, options_.draws)).first->second;
}

void Remedies::add_to(Finding& finding, const Judgement& judgement, const traces::Run& run,
                      std::optional<double> measured) {
  const auto refuse = [&](std::string_view reason) {
    finding.simulation = fmt::format("No answer: {}.", reason);
  };
  if (!finding.row->no_simulation.empty()) return refuse(finding.row->no_simulation);
  if (options_.what_if == nullptr) return refuse(options_.no_what_if_reason);
  const std::vector<std::string> settings = settings_of(judgement, run);
  if (settings.empty()) return refuse(run.strategy + " has no parameter for it");
  std::size_t answered = 0;
  const SimulatedRemedy* best = nullptr;
  for (const std::string& setting : settings) {
    const Result<SimulatedRemedy>& found = answer(setting);
    if (!found) continue;
    ++answered;
    if (best == nullptr || found->speedup > best->speedup) best = &*found;
  }
  if (best == nullptr) return refuse(answer(settings.front()).error().message);
  finding.simulated = *best;
  finding.simulation = sentence_of(*best, answered, measured);
}

Result<WhatIf> train_to_explain(traces::Reader& reader, const traces::Recording& recording) {
  if (is_predicted(recording.meta))
    return fail("found a predicted recording, expected the one that it was predicted from");
  if (traces::is_imported(recording.meta))
    return fail(
        "found an imported recording, expected one with times that costs can be learnt from; simulate --gpu "
        "GPU "
        "--model MODEL prices its acceptance by specifications");
  return WhatIf::train(reader, recording);
}

}  // namespace draftscope::simulator
