// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The common form of answer files of every kind: one answer per turn, with the lengths of its rounds.
// AnswerWriter alone turns them into rows, so that each format's reader only reads.

#include <draftscope/base/result.h>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "writing/paced_trace.h"

namespace draftscope::traces {

/// One verification. Lengths in tokens.
struct AnswerRound {
  std::int32_t drafted = -1;  ///< Drafted tokens; -1 = unknown.
  std::int32_t accepted = 0;
  std::int32_t emitted = 0;
};

/// One turn of one question, decoded once. Times in nanoseconds, -1 = unknown.
struct Answer {
  std::int64_t question_id = 0;
  std::int32_t turn = 0;
  std::int32_t repeat = 0;
  std::string category;
  std::string text;
  std::int64_t new_tokens = -1;  ///< Number of new tokens; -1 = unknown.
  std::int64_t wall_ns = -1;
  std::int64_t first_token_ns = -1;  ///< Time after the start.
  std::vector<AnswerRound> rounds;
};

/// Writes answers as rows. All runs of the import share prompts; requests follow one another without a gap,
/// from 0 ns on.
class AnswerWriter {
 public:
  /// Creates a writer. `draft_length` is that of ImportOptions. The target must outlive it.
  AnswerWriter(PacedTrace& target, std::int32_t draft_length)
      : target_(target), draft_length_(draft_length) {}

  /// The run of that specification, created if it is new: files of several repeats share one. A run named
  /// "vanilla" is a baseline too.
  RunId run(const std::string& specification, bool is_baseline, const std::string& parameters = "{}");

  /// Adds an answer. Every error begins with `where`.
  [[nodiscard]] Result<void> add(RunId run_id, const Answer& answer, const std::string& where);

 private:
  PromptId prompt_of(const Answer& answer);
  [[nodiscard]] Result<void> add_round(RunId run_id, const AnswerRound& row, Round& round,
                                       const std::string& where);

  PacedTrace& target_;
  std::int32_t draft_length_;
  std::int64_t now_ns_ = 0;
  std::map<std::string, RunId> runs_;
  std::set<RunId> baselines_;  // Runs that draft nothing, whatever draft_length_ says.
  std::map<std::tuple<std::int64_t, std::int32_t, std::string>, PromptId> prompts_;
};

}  // namespace draftscope::traces
