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

/// One text, from its beginning to its end. Times are on the log's clock. A time or count of -1 is unknown.
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
  std::vector<LlamaCandidate> draft;  ///< of the current round
  std::int64_t draft_tokens = -1;     ///< of the current round
  std::int64_t own_token = -1;        ///< the target's token in the current round
  std::int64_t replayed = -1;         ///< accepted tokens whose replay is to come; -1 = none
  bool may_repeat = false;            ///< the last round's line may come again, in --verbose's words
  std::optional<LlamaLine> unsaid;    ///< a round whose line has not come yet
  bool is_plain = false;              ///< a step without a draft is under way
};

/// Takes a line between the task's first and last. Errors begin with `where`: counts that no round can have;
/// too many of anything.
[[nodiscard]] Result<void> take_line(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// Takes the task's last line.
[[nodiscard]] Result<void> take_end(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// Where a task's rows go, and how it is named there.
struct LlamaPlace {
  ForeignWriter& rows;
  std::string run;
  std::int32_t repeat = 0;
  std::int64_t number = 1;     ///< number of the task in its log
  std::int64_t offset_ns = 0;  ///< added to the log's clock
};

struct LlamaWritten {
  std::int64_t end_ns = 0;     ///< of the request; 0 = not known
  std::int64_t undrafted = 0;  ///< tokens of steps without a draft, which have no line
};

/// Writes the task's rows. `is_cut`: the log ends within the task, whose sums then differ from its lines'.
/// Errors begin with `where`: the task states other sums than its lines give; a rule of the schema is broken.
[[nodiscard]] Result<LlamaWritten> write_task(LlamaTask& task, bool is_cut, const LlamaPlace& place,
                                              const std::string& where);

}  // namespace draftscope::traces
