// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Several runs, of one recording or of several, against one of them: on the prompts that both decoded. A
// ratio across recordings is no speedup, because more than the run may have changed; what did is listed.

#include <draftscope/simulator/analysis/comparison.h>
#include <optional>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ComparedRun {
  RecordingPointer recording;
  std::size_t run = 0;  ///< index into OpenedRecording::runs()

  [[nodiscard]] const traces::Run& row() const { return *recording->runs()[run].run; }
  friend bool operator==(const ComparedRun& a, const ComparedRun& b) {
    return a.recording == b.recording && a.run == b.run;
  }
};

struct RunAgainstBaseline {
  ComparedRun run;
  /// Tokens a second over the baseline's on the prompts of both; absent for the baseline, and without any.
  std::optional<simulator::Speedup> ratio;
  std::optional<double> adjusted_p_value;  ///< Holm, over the runs compared
  std::size_t prompts = 0;                 ///< that both decoded, with tokens and time
  std::size_t faster_prompts = 0;          ///< of them, those with more tokens a second than the baseline
  simulator::OutputIdentity identity;
  bool is_baseline = false;
};

/// A prompt that two runs decoded, all repeats together.
struct PromptGain {
  std::string title;        ///< "question 9 (coding)"
  double ratio = 1.0;       ///< tokens a second over the baseline's
  std::size_t request = 0;  ///< index into the run's Recording::requests: the first repeat
};
/// Those with tokens and time on both sides, in the pairing's order. `opened` is the recording of the
/// pairing's comparison.
[[nodiscard]] std::vector<PromptGain> prompt_gains(const OpenedRecording& opened,
                                                   const simulator::Pairing& pairing);

/// The interval of a ratio and its p can point to different answers: the interval is of all prompts together,
/// weighed by their time, p of how many prompts are faster and by what rank. True if one of them says that
/// there is a difference, at 5 %, and the other does not.
[[nodiscard]] bool interval_and_p_disagree(const RunAgainstBaseline& run);

struct RunsComparison {
  std::vector<RunAgainstBaseline> runs;
  std::size_t shared_requests = 0;  ///< prompts and repeats that every compared run decoded
  /// Against the baseline's recording: what was set differently, by other recording.
  std::vector<std::pair<std::string, std::vector<simulator::MetaDifference>>> settings;
};

/// `baseline` is an index into `runs`. With fewer than two runs nothing is compared.
[[nodiscard]] RunsComparison compare(const std::vector<ComparedRun>& runs, std::size_t baseline);

}  // namespace draftscope::gui
