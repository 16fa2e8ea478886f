// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/remedies.h"

#include <draftscope/simulator/analysis/figures.h>
#include <fmt/format.h>

#include <algorithm>

#include "analysis/explain/phrases.h"

namespace draftscope::simulator {

namespace {

/// Strategies of other kinds than the run's, few enough to ask about all: an early exit in the middle and one
/// at two thirds, short and longer, and guesses from the text.
std::vector<std::string> alternatives(std::int32_t n_layers) {
  std::vector<std::string> settings{"prompt-lookup:length=4"};
  for (const std::int32_t exit : {n_layers / 2, 2 * n_layers / 3})
    for (const int gamma : {2, 4})
      if (exit > 0) settings.push_back(fmt::format("layerskip:exit={},gamma={}", exit, gamma));
  return settings;
}

std::string sentence_of(const SimulatedRemedy& remedy, std::size_t asked, const Diagnosis& diagnosis) {
  std::string text =
      fmt::format("{} would give {}", remedy.strategy, speedup_text(remedy.speedup, Characters::ascii));
  const std::string interval =
      remedy.interval_95 ? fmt::format("95 %: {}, ", range_text(remedy.interval_95->low,
                                                                remedy.interval_95->high, Characters::ascii))
                         : std::string();
  text += fmt::format(" ({}rounds {})", interval, answer_status_name(remedy.status));
  if (asked > 1) text += fmt::format(". It is the fastest of {} settings that were asked about", asked);
  const auto& measured = diagnosis.round.speedup;
  if (measured && remedy.speedup <= *measured) text += ". That is no gain";
  if (remedy.speedup < 1.0) text += ". Vanilla decoding is faster";
  if (diagnosis.faster && remedy.speedup <= diagnosis.faster->speedup)
    text += fmt::format(". {}, which was recorded, is faster{}", diagnosis.faster->run->specification,
                        remedy.speedup < 1.0 ? " still" : "");
  return text + ".";
}

}  // namespace

std::string remedies_for(const FindingRow& row, const Evidence& of) {
  std::string text;
  for (const RemedyRow& remedy : row.remedies)
    if (remedy.can_take == nullptr || remedy.can_take(of))
      text.append(text.empty() ? "" : "; ").append(remedy.words);
  return text;
}

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
  return answers_.emplace(strategy, options_.simulate(strategy)).first->second;
}

void Remedies::add_to(Finding& finding, const Judgement& judgement, const Diagnosis& diagnosis) {
  const traces::Run& run = *diagnosis.run;
  const auto refuse = [&](std::string_view reason) {
    finding.simulation = fmt::format("No answer: {}.", reason);
  };
  if (!finding.row->no_simulation.empty()) return refuse(finding.row->no_simulation);
  if (!options_.simulate) return refuse(options_.no_what_if_reason);
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
  finding.simulation = sentence_of(*best, answered, diagnosis);
}

}  // namespace draftscope::simulator
