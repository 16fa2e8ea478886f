// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small recordings with invented times, in round numbers: a vanilla step takes a millisecond by default.

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// Times in microseconds.
struct MadeRound {
  int drafted = 4;
  int accepted = 4;
  int steps = 0;       ///< Depth of the draft, whose further tokens are siblings at its root; 0 = a chain.
  int draft_us = 400;  ///< Time of all steps.
  int verify_us = 1000;
  int decide_us = 0;        ///< Time in phase optimise.
  int control_us = 0;       ///< Time in phase control.
  int uncovered_us = 0;     ///< Time in the round that no phase has.
  int outside_us = 0;       ///< Time after the round.
  double threshold = -1.0;  ///< Confidence below which a draft ends; -1 = none.
};

struct MadeRecording {
  std::string specification = "layerskip:exit=4,gamma=4";
  std::function<MadeRound(int index)> round = [](int) { return MadeRound{}; };
  std::string parameters = "{}";                       ///< JSON of the first run.
  std::string other;                                   ///< Specification of a second run; empty = none.
  std::function<MadeRound(int index)> round_of_other;  ///< Rounds of the second run.
  int prompts = 4;
  int tokens = 61;  ///< Tokens of each output; the first is the prefill's.
  int repeats = 1;
  double slower_repeats = 0.0;  ///< Relative slowdown of each repeat but the first, except for vanilla.
  int at_a_time = 1;            ///< Number of concurrent requests.
  bool with_vanilla = true;
  int vanilla_us = 1000;          ///< Time of a vanilla step.
  int interrupted_vanilla = 0;    ///< Every so many-th vanilla step was interrupted; 0 = none.
  int interrupted_us = 0;         ///< Time of such a step.
  int outside_vanilla_us = 0;     ///< Time after each vanilla step.
  bool with_first_tokens = true;  ///< Whether the times of first tokens are known.
  bool drafts_by_layers = true;   ///< Otherwise drafts come from the text.
  traces::Meta meta;              ///< Additional to the usual keys.
};

/// The recording after it was written, read again and measured.
[[nodiscard]] MeasuredRecording made_recording(const MadeRecording& made);

/// A recording whose rounds are all alike.
[[nodiscard]] MadeRecording alike(const MadeRound& round, MadeRecording made = {});

/// Guesses that come in so many lengths that no width has passes enough for quartiles.
[[nodiscard]] MadeRecording scattered_widths(int verify_us);

/// Diagnosis of the recording's only run that drafts. The test fails where there are more.
[[nodiscard]] Diagnosis only_diagnosis(const MeasuredRecording& measured, const ExplainOptions& options = {});

/// Null if there is no finding of that key.
[[nodiscard]] const Finding* find(const Diagnosis& diagnosis, std::string_view key);

[[nodiscard]] std::string keys_of(const Diagnosis& diagnosis);

}  // namespace draftscope::simulator
