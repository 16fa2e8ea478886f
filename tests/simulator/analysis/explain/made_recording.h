// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small recordings whose times are made up, in round numbers: a vanilla step takes a millisecond unless told
// otherwise.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <cstdint>
#include <functional>
#include <string>

namespace draftscope::simulator {

/// Times in microseconds.
struct MadeRound {
  int drafted = 4;
  int accepted = 4;
  int rows = 0;        ///< of the verification; 0: one more than drafted
  int draft_us = 400;  ///< of all steps
  int verify_us = 1000;
  int accept_us = 0;
  int decide_us = 0;   ///< in phase optimise
  int outside_us = 0;  ///< behind the round
};

struct MadeRecording {
  std::string specification = "layerskip:exit=4,gamma=4";
  std::function<MadeRound(int index)> round = [](int) { return MadeRound{}; };
  int prompts = 4;
  int tokens = 61;  ///< of each output; the first is the prefill's
  int repeats = 1;
  double slower_repeats = 0.0;  ///< each repeat but the first takes so much longer, vanilla's excepted
  int at_a_time = 1;            ///< requests that run beside one another
  bool with_vanilla = true;
  int vanilla_us = 1000;         ///< of a vanilla step
  bool drafts_by_layers = true;  ///< else from the text
  traces::Meta meta;             ///< beside the usual keys
};

/// Written, read again and measured.
[[nodiscard]] MeasuredRecording made_recording(const MadeRecording& made);

}  // namespace draftscope::simulator
