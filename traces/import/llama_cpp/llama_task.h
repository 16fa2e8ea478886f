// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the lines of llama.cpp's log say of one task of a slot, or of the one text of a command-line program,
// and the rows that it makes.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foreign/foreign_round.h"
#include "foreign/foreign_writer.h"
#include "import/llama_cpp/log_lines.h"

namespace draftscope::traces {

/// A draft token that the log shows before anyone knows how long the draft is.
struct LlamaCandidate {
  std::int32_t token = -1;
  double probability = 0.0;
};

/// One text, from its beginning to its end. Times are those of the log's clock; -1 = not said, of counts too.
struct LlamaTask {
  std::int64_t id = -1;
  std::int64_t line = 0;         ///< where it began
  bool is_of_a_program = false;  ///< of a command-line program: the first round gives the first token
  std::int64_t start_us = -1;
  std::int64_t first_token_us = -1;
  std::int64_t drafted_us = -1;  ///< end of the drafting that is under way
  std::int64_t prompt_tokens = -1;
  std::int64_t generated = -1;
  double prompt_ms = -1.0;
  double decode_ms = -1.0;  ///< of a command-line program
  std::int64_t stated_accepted = -1;
  std::int64_t stated_drafted = -1;
  std::int64_t end_us = -1;
  std::vector<std::int32_t> tokens;
  std::vector<ForeignRound> rounds;   ///< their times are still microseconds
  std::vector<LlamaCandidate> draft;  ///< of the round under way
  std::int64_t draft_tokens = -1;     ///< of that round
  std::int64_t own_token = -1;        ///< the target's, of that round
  std::int64_t replayed = -1;         ///< accepted tokens whose replay is to come; -1 = none
  bool may_repeat = false;            ///< the last round's line may come again, in --verbose's words
  std::optional<LlamaLine> unsaid;    ///< a round whose line has not come yet
  bool is_plain = false;              ///< a step without a draft is under way
};

/// Takes a line about the task, but for those of its beginning and end. Errors begin with `where`: counts
/// that no round can have; too many of anything.
[[nodiscard]] Result<void> take_line(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// Takes the line of its end.
[[nodiscard]] Result<void> take_end(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// Where a task's rows go, and how it is named there.
struct LlamaPlace {
  ForeignWriter& rows;
  std::string run;
  std::int32_t repeat = 0;
  std::int64_t number = 1;     ///< the task's, among those of its log
  std::int64_t offset_ns = 0;  ///< of the log's clock
};

struct LlamaWritten {
  std::int64_t end_ns = 0;     ///< of the request; 0 = not known
  std::int64_t undrafted = 0;  ///< tokens of steps without a draft, which have no line
};

/// The task's rows. `is_cut`: the log ends within it, and its sums are not those of its lines. Errors begin
/// with `where`: the task says other sums than its lines give; what breaks a rule of the schema.
[[nodiscard]] Result<LlamaWritten> write_task(LlamaTask& task, bool is_cut, const LlamaPlace& place,
                                              const std::string& where);

}  // namespace draftscope::traces
