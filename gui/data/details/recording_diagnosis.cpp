// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_diagnosis.h"

#include <draftscope/simulator/answers/simulated_remedies.h>

#include <algorithm>
#include <utility>

namespace draftscope::gui {

namespace {

std::vector<simulator::Diagnosis> explain_with_simulator(const OpenedRecording& recording) {
  const simulator::MeasuredRecording& measured = recording.measured();
  auto reader = traces::Reader::open(recording.recording().path);
  if (!reader) return simulator::explain(measured, {.no_what_if_reason = reader.error().message});
  const auto what_if = simulator::train_to_explain(*reader, *measured.recording);
  if (!what_if) return simulator::explain(measured, {.no_what_if_reason = what_if.error().message});
  return simulator::explain(measured, {.simulate = simulator::simulated_remedies(*what_if)});
}

}  // namespace

const simulator::Diagnosis* RecordingDiagnosis::of(std::size_t run_index) const {
  const traces::Run* run = recording->runs()[run_index].run;
  const auto found = std::find_if(
      runs.begin(), runs.end(), [&](const simulator::Diagnosis& diagnosis) { return diagnosis.run == run; });
  return found == runs.end() ? nullptr : &*found;
}

DiagnosisPointer diagnose(const RecordingPointer& recording, Remedies remedies) {
  auto made = std::make_shared<RecordingDiagnosis>();
  made->recording = recording;
  made->remedies = remedies;
  made->runs =
      remedies == Remedies::simulated
          ? explain_with_simulator(*recording)
          : simulator::explain(recording->measured(), {.no_what_if_reason = "the simulator was not asked"});
  return made;
}

std::vector<TokenTimeStep> token_waterfall(const simulator::RoundAccount& round) {
  if (round.unit != simulator::RoundUnit::vanilla_step || !(round.unit_ns > 0.0) || !round.takes ||
      !round.parts || !round.yields || !(*round.yields > 0.0))
    return {};
  const double step_per_token = round.unit_ns / *round.yields;
  const simulator::RoundParts& parts = *round.parts;
  std::vector<TokenTimeStep> steps{{TokenTime::vanilla, round.unit_ns, 0.0}};
  double at = round.unit_ns;
  for (const auto& [what, ns] : {std::pair(TokenTime::fewer_steps, step_per_token - round.unit_ns),
                                 std::pair(TokenTime::verification, (parts.verify - 1.0) * step_per_token),
                                 std::pair(TokenTime::draft, parts.draft * step_per_token),
                                 std::pair(TokenTime::decide, parts.decide * step_per_token),
                                 std::pair(TokenTime::accept, parts.accept * step_per_token),
                                 std::pair(TokenTime::outside, parts.outside * step_per_token)}) {
    steps.push_back({what, ns, at});
    at += ns;
  }
  steps.push_back({TokenTime::run, *round.takes * step_per_token, 0.0});
  return steps;
}

}  // namespace draftscope::gui
