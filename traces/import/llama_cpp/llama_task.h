// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The content of llama.cpp's log lines about one task of a slot, or about the one text of a command-line
// program, and the rows made of it.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foreign/foreign_round.h"
#include "foreign/foreign_writer.h"
#include "import/llama_cpp/log_lines.h"

namespace draftscope::traces {

/// Maximum time on a log's clock, 71 years.
inline constexpr std::int64_t max_llama_us = std::int64_t{1} << 51U;

/// A draft token that the log shows before anyone knows how long the draft is.
struct LlamaCandidate {
  std::int32_t token = -1;
  double probability = 0.0;
};

/// One text, from its beginning to its end. Times are on the log's clock. A time or count of -1 is unknown.
struct LlamaTask {
  std::int64_t id = -1;
  std::int64_t line = 0;  ///< Line number of its beginning.
  /// Whether a command-line program wrote it, whose first round gives the first token.
  bool is_of_a_program = false;
  std::int64_t start_us = -1;
  std::int64_t first_token_us = -1;
  std::int64_t drafted_us = -1;  ///< End of the drafting in progress.
  std::int64_t prompt_tokens = -1;
  std::int64_t generated = -1;
  double prompt_ms = -1.0;
  double decode_ms = -1.0;  ///< Decoding time; only for a command-line program.
  std::int64_t stated_accepted = -1;
  std::int64_t stated_drafted = -1;
  double stated_length = 0.0;            ///< Mean accepted length with the bonus token; 0 = not stated.
  std::vector<double> stated_positions;  ///< Accepted share of the verifications by draft position.
  std::int64_t end_us = -1;
  std::vector<std::int32_t> tokens;
  std::vector<ForeignRound> rounds;   ///< Rounds, with times that are still microseconds.
  std::vector<LlamaCandidate> draft;  ///< Draft candidates of the current round.
  std::int64_t draft_tokens = -1;     ///< Draft tokens of the current round.
  std::int64_t own_token = -1;        ///< The target's token in the current round.
  std::int64_t replayed = -1;         ///< Accepted tokens whose replay follows; -1 = none.
  bool may_repeat = false;            ///< Whether --verbose may log the last round again in other words.
  std::optional<LlamaLine> unsaid;    ///< A round whose line has not come yet.
  bool is_plain = false;              ///< Whether a step without a draft is in progress.
};

/// Takes a line between the task's first and last. Errors begin with `where`: counts that no round can have;
/// too many rounds, tokens or candidates.
[[nodiscard]] Result<void> take_line(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// Takes the task's last line.
[[nodiscard]] Result<void> take_end(const LlamaLine& line, LlamaTask& task, const std::string& where);

/// The place of a task's rows in the trace, and its name there.
struct LlamaPlace {
  ForeignWriter& rows;
  std::string run;
  std::int32_t repeat = 0;
  std::int64_t number = 1;     ///< Number of the task in its log.
  std::int64_t offset_ns = 0;  ///< Offset to add to the log's clock.
  std::int64_t begin_us = 0;   ///< Start of a task whose log has no clock.
};

struct LlamaWritten {
  std::int64_t end_ns = 0;     ///< End of the request; 0 = not known.
  std::int64_t undrafted = 0;  ///< Tokens of steps without a draft, which have no line.
};

/// Writes the task's rows. `is_cut`: the log ends within the task, whose sums then differ from its lines'.
/// Errors begin with `where`: the task states other sums than its lines give; a rule of the schema is broken.
[[nodiscard]] Result<LlamaWritten> write_task(LlamaTask& task, bool is_cut, const LlamaPlace& place,
                                              const std::string& where);

}  // namespace draftscope::traces
