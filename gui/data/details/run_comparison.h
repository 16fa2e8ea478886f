// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Several runs, of one recording or of several, against one of them, on the prompts that both decoded. A
// ratio across recordings is no speedup, because more than the run may have changed; the changed settings are
// listed.

#include <draftscope/simulator/analysis/comparison.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct ComparedRun {
  RecordingPointer recording;
  std::size_t run = 0;  ///< Index into OpenedRecording::runs().

  [[nodiscard]] const traces::Run& row() const { return *recording->runs()[run].run; }
  friend bool operator==(const ComparedRun&, const ComparedRun&) = default;
};

struct RunAgainstBaseline {
  ComparedRun run;
  /// Tokens per second relative to the baseline, on shared prompts; absent for the baseline, without any, and
  /// without wall times of both.
  std::optional<simulator::Speedup> ratio;
  std::optional<double> adjusted_p_value;  ///< Holm-adjusted over the runs compared.
  std::size_t prompts = 0;                 ///< Prompts that both decoded, with tokens and a known time.
  std::size_t faster_prompts = 0;          ///< Prompts with more tokens per second than the baseline.
  /// Absent for the baseline, without shared prompts, and without token ids of both.
  std::optional<simulator::OutputIdentity> identity;
  bool is_baseline = false;
};

/// A prompt that two runs decoded, all repeats together.
struct PromptGain {
  std::string title;        ///< "question 9 (coding)"
  double ratio = 1.0;       ///< Tokens per second relative to the baseline.
  std::size_t request = 0;  ///< First repeat, as an index into the run's Recording::requests.
};
/// Prompts with tokens and a known time on both sides, in the pairing's order. `opened` is the recording of
/// the pairing's comparison.
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

// Order of a recording's runs by speed, and what follows from it: the run that is shown first, the runs that
// are compared first, and a colour that a run keeps on every page.

/// Runs with rounds, as indices into OpenedRecording::runs(), in order of falling tokens per second with the
/// prefill, like the overview's table.
[[nodiscard]] std::vector<std::size_t> runs_by_speed(const OpenedRecording& opened);

/// The fastest run that drafts; 0 if no run drafts.
[[nodiscard]] std::size_t run_to_open(const OpenedRecording& opened);

/// The vanilla run and the fastest others, `count` runs at most.
[[nodiscard]] std::vector<ComparedRun> runs_to_compare(const RecordingPointer& opened, std::size_t count);

/// Index for series_color() of each run: 0 for vanilla decoding, else the run's place among the others by
/// speed, from 1. If two of these runs would be alike, the later one takes the next free index.
[[nodiscard]] std::vector<std::size_t> run_colors(const std::vector<ComparedRun>& runs);

// All runs of the open recordings against one of them: their gains, the winner on each category of prompts,
// and the gain on each prompt.

/// Gain of a run on the prompts of one category.
struct CategoryGain {
  std::string category;  ///< empty = all prompts
  simulator::Speedup ratio;
};

struct RunStanding {
  ComparedRun run;
  bool is_baseline = false;
  std::optional<simulator::Speedup> ratio;  ///< absent for the baseline
  std::vector<CategoryGain> by_category;    ///< Categories of the baseline that the run has prompts of.
  std::vector<PromptGain> by_prompt;        ///< In order of falling gain.
};

/// The fastest run on a category; the baseline may win.
struct CategoryWinner {
  std::string category;
  std::size_t run = 0;  ///< Index into AllRuns::runs.
  /// Whether its lead over the next run is more than chance. It was chosen for being the largest.
  bool is_clear = false;
};

struct AllRuns {
  std::vector<RunStanding> runs;  ///< Runs that share prompts with the baseline (ratio 1), the fastest first.
  std::vector<std::string> categories;  ///< Categories of the baseline's prompts; empty if there is only one.
  std::vector<CategoryWinner> winners;  ///< The winner on all prompts, then one per category.
};

/// Ranks all runs with requests against one of them. `should_continue` is asked before each run; false makes
/// the result empty.
[[nodiscard]] AllRuns all_runs(const std::vector<RecordingPointer>& opened, const ComparedRun& baseline,
                               const std::function<bool()>& should_continue = {});

}  // namespace draftscope::gui
