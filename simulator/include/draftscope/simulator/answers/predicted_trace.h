// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers as a trace, which everything that opens a recording can open. It has the same texts, round by
// round, with a cost model's times.
//
// - It has one run per answer and vanilla decoding on the same machine, with one request per prompt. Requests
//   follow each other on a clock that starts at 0. Sums of a run's rounds are the answer's tokens and rounds.
//   Their time matches to half a nanosecond per request (for a bounded answer, with the fewest draft tokens).
// - Rounds are those of the recording or of a replay. Draft tokens that a replay can't know have token -1 and
//   no confidence.
// - A round's time without draft and verification has one price; it is split into accept and control in the
//   ratio of the recording's rounds.
// - A prefill takes the median time of the recorded ones of its prompt, or 1 ns on another machine or model,
//   where `lacks` says so.
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
  Machine machine;  ///< Machine of all answers.
  std::vector<PredictedRun> runs;
  traces::Meta meta;  ///< Further rows of the table: the predicting program and its command line.
  bool overwrite = false;
};

/// Writes the trace completely or not at all. `recording` is the one that `what_if` was trained on. Errors:
/// modelled rounds; drafts of a model with another number of layers that are no exits; the target exists or
/// can't be written.
[[nodiscard]] Result<void> write_predicted_trace(const WhatIf& what_if, const traces::Recording& recording,
                                                 const PredictedTrace& trace,
                                                 const std::filesystem::path& target);

}  // namespace draftscope::simulator
