// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers as a trace that everything which opens a recording opens too: the same texts, round by round, with
// a cost model's times.
//
// - One run an answer, and vanilla decoding on the same machine; one request a prompt, one after the other on
//   a clock that starts at 0. Sums of a run's rounds are the answer's tokens and rounds, and its time to half
//   a nanosecond a request (of a bounded answer, those with the fewest draft tokens).
// - Rounds are those of the recording or of a replay. Draft tokens that a replay can't know have token -1 and
//   no confidence.
// - A round's time without draft and verification is priced as one; it is split into accept and control as
//   the recording's rounds are.
// - A prefill takes as long as the recorded ones of its prompt did (their median), or 1 ns on another machine
//   or model, where `lacks` says so.
// - `meta` says that it is predicted, from what, for which machine and how certain each run's rounds are
//   (traces/SCHEMA.md).

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/writer.h>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// A question and its answer.
struct PredictedRun {
  StrategyRounds rounds;
  Answer answer;
};

struct PredictedTrace {
  Machine machine;  ///< that all answers are of
  std::vector<PredictedRun> runs;
  traces::Meta meta;  ///< further rows of the table: what predicted, how it was called
  bool overwrite = false;
};

/// Whole or not at all. `recording` is what `what_if` learnt from. Errors: modelled rounds; drafts of a model
/// with another number of layers that are no exits; the target exists or can't be written.
[[nodiscard]] Result<void> write_predicted_trace(const WhatIf& what_if, const traces::Recording& recording,
                                                 const PredictedTrace& trace,
                                                 const std::filesystem::path& target);

}  // namespace draftscope::simulator
