// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One line of llama.cpp's log as an event. The wording moves from month to month, so all of it is in one
// table, in log_lines.cpp. A line about drafts that the table lacks is reported as unknown.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::traces {

enum class LlamaEvent : std::uint8_t {
  none,         ///< a line about other things
  unknown,      ///< a line about drafts that the table lacks
  began,        ///< a slot takes a task
  prompt,       ///< values: slots' context, kept, prompt tokens
  candidate,    ///< values: slot, rank, draft position, token; number: the draft's probability. Names no task
  drafted,      ///< values: last token, tokens so far, draft tokens, next position
  accepted,     ///< values: accepted, drafted; LLAMA_TRACE's line
  restored,     ///< values: as `accepted`; the context can't be cut, so accepted tokens are replayed next
  verified,     ///< values: accepted, drafted, tokens so far; --verbose's line
  token,        ///< values: generated so far, left, token
  plain_step,   ///< values: last token; a step without a draft
  own_token,    ///< values: the target's own token of a round
  prompt_time,  ///< values: prompt tokens; number: ms
  decode_time,  ///< values: generated tokens; number: ms
  acceptance,   ///< values: accepted, generated draft tokens of the whole task
  ended,        ///< the slot is free, or the program at its end
  // Of a command-line program, which names neither slot nor task.
  program_round,        ///< values: accepted, drafted, the target's own token
  program_restored,     ///< its context can't be cut
  program_prompt_time,  ///< values: prompt tokens; number: seconds
  program_decode_time,  ///< values: tokens of the text; number: seconds
  stated_drafted,       ///< values: draft tokens of the text
  stated_accepted,      ///< values: accepted draft tokens of the text
};

struct LlamaLine {
  LlamaEvent event = LlamaEvent::none;
  std::int64_t time_us = -1;     ///< since the process began; -1 = the line has none
  bool is_of_a_program = false;  ///< it names no task; the slot is 0, or a candidate's sequence
  std::int64_t slot = -1;
  std::int64_t task = -1;
  std::array<std::int64_t, 4> values{};
  double number = 0.0;
};

[[nodiscard]] LlamaLine llama_line(std::string_view line);

}  // namespace draftscope::traces
