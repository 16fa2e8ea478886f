// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Several runs, of one recording or of several, against one of them, on the prompts that both decoded. A
// ratio across recordings is no speedup, because more than the run may have changed; the changed settings are
// listed.

#include <draftscope/simulator/analysis/comparison.h>
#include <optional>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ComparedRun {
  RecordingPointer recording;
  std::size_t run = 0;  ///< Index into OpenedRecording::runs().

  [[nodiscard]] const traces::Run& row() const { return *recording->runs()[run].run; }
  friend bool operator==(const ComparedRun& a, const ComparedRun& b) {
    return a.recording == b.recording && a.run == b.run;
  }
};

struct RunAgainstBaseline {
  ComparedRun run;
  /// Tokens per second relative to the baseline, on shared prompts; absent for the baseline, and without any.
  std::optional<simulator::Speedup> ratio;
  std::optional<double> adjusted_p_value;  ///< Holm-adjusted over the runs compared.
  std::size_t prompts = 0;                 ///< Prompts that both decoded, with tokens and time.
  std::size_t faster_prompts = 0;          ///< Prompts with more tokens per second than the baseline.
  simulator::OutputIdentity identity;
  bool is_baseline = false;
};

/// A prompt that two runs decoded, all repeats together.
struct PromptGain {
  std::string title;        ///< "question 9 (coding)"
  double ratio = 1.0;       ///< Tokens per second relative to the baseline.
  std::size_t request = 0;  ///< First repeat, as an index into the run's Recording::requests.
};
/// Prompts with tokens and time on both sides, in the pairing's order. `opened` is the recording of the
/// pairing's comparison.
[[nodiscard]] std::vector<PromptGain> prompt_gains(const OpenedRecording& opened,
                                                   const simulator::Pairing& pairing);

/// True if exactly one of the interval and p says, at 5 %, that there is a difference. They can disagree: the
/// interval is about all prompts together, weighted by time. p is about how many prompts are faster, and by
/// what rank.
[[nodiscard]] bool interval_and_p_disagree(const RunAgainstBaseline& run);

struct RunsComparison {
  std::vector<RunAgainstBaseline> runs;
  std::size_t shared_requests = 0;  ///< Prompts and repeats that every compared run decoded.
  /// Settings that differ from the baseline's recording, by other recording.
  std::vector<std::pair<std::string, std::vector<simulator::MetaDifference>>> settings;
  std::vector<std::string> tracing;  ///< Costs of finer device traces, a sentence per recording.
};

/// `baseline` is an index into `runs`. With fewer than two runs nothing is compared.
[[nodiscard]] RunsComparison compare(const std::vector<ComparedRun>& runs, std::size_t baseline);

}  // namespace draftscope::gui
