// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The common form of answer files of every kind: one answer per turn, with the lengths of its rounds.
// AnswerWriter alone turns them into rows, so that each format's reader only reads.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "foreign/foreign_writer.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {

/// One turn of one question, decoded once. Times in nanoseconds, -1 = unknown.
struct Answer {
  std::string run;  ///< Specification of its run.
  std::int64_t question_id = 0;
  std::int32_t turn = 0;
  std::int32_t repeat = 0;
  std::string category;
  std::string text;
  std::int64_t prompt_tokens = -1;  ///< Number of prompt tokens; -1 = unknown.
  std::int64_t new_tokens = -1;     ///< Number of new tokens; -1 = unknown.
  std::int64_t wall_ns = -1;
  std::int64_t first_token_ns = -1;  ///< Time after the start.
  std::vector<ForeignRound> rounds;
};

/// Writes answers as requests that follow one another without a gap, from 0 ns on.
class AnswerWriter {
 public:
  /// Creates a writer. `draft_length` is that of ImportOptions. Target and rows must outlive it.
  AnswerWriter(PacedTrace& target, ForeignWriter& rows, std::int32_t draft_length)
      : target_(target), rows_(rows), draft_length_(draft_length) {}

  /// Creates the run of that specification if it is new (ForeignWriter::run()).
  void run(const std::string& specification, bool is_baseline, const std::string& parameters = "{}");

  /// Adds an answer. Every error begins with `where`.
  [[nodiscard]] Result<void> add(Answer answer, const std::string& where);

 private:
  PacedTrace& target_;
  ForeignWriter& rows_;
  std::int32_t draft_length_;
  std::int64_t now_ns_ = 0;
  std::int64_t answers_ = 0;
  std::set<std::string> baselines_;  // Runs that draft nothing, whatever draft_length_ says.
};

}  // namespace draftscope::traces
