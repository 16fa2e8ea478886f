// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parses one line of llama.cpp's log into an event. The wording changes from month to month, so all of it is
// in one table, in log_lines.cpp. A line about drafts that the table lacks is reported as unknown.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::traces {

enum class LlamaEvent : std::uint8_t {
  none,        ///< A line about other things.
  unknown,     ///< A line about drafts that the table lacks.
  began,       ///< A slot takes a task.
  prompt,      ///< Values: the slot's context, kept tokens, prompt tokens.
  candidate,   ///< Values: slot, rank, draft position, token; number: the draft's probability. The line names
               ///< no task.
  drafted,     ///< Values: last token, tokens so far, draft tokens, next position.
  accepted,    ///< Values: accepted, drafted; LLAMA_TRACE's line.
  restored,    ///< Values: as `accepted`; the context can't be cut, so accepted tokens are replayed next.
  verified,    ///< Values: accepted, drafted, tokens so far; --verbose's line.
  token,       ///< Values: generated so far, left, token.
  plain_step,  ///< Values: last token; a step without a draft.
  own_token,   ///< Values: the target's own token of a round.
  prompt_time,  ///< Values: prompt tokens; number: ms.
  decode_time,  ///< Values: generated tokens; number: ms.
  acceptance,   ///< Values: accepted, generated draft tokens of the whole task; rest: positions' shares.
  ended,    ///< The slot is free, or the program has ended. Values: tokens in the slot, if stated; whether
            ///< some were discarded.
  timings,  ///< The task's times follow, on lines that name no task, as builds before 2026 wrote them.
  // Events of a command-line program, which names neither slot nor task.
  program_round,        ///< Values: accepted, drafted, the target's own token.
  program_restored,     ///< The program's context can't be cut.
  program_prompt_time,  ///< Values: prompt tokens; number: seconds.
  program_decode_time,  ///< Values: tokens of the text; number: seconds.
  stated_drafted,       ///< Values: draft tokens of the text.
  stated_accepted,      ///< Values: accepted draft tokens of the text.
};

struct LlamaLine {
  LlamaEvent event = LlamaEvent::none;
  std::int64_t time_us = -1;  ///< Time since the process began; -1 = the line has none.
  /// Whether the line names no task; the slot is then 0, or a candidate's sequence.
  bool is_of_a_program = false;
  std::int64_t slot = -1;
  std::int64_t task = -1;
  std::array<std::int64_t, 4> values{};
  double number = 0.0;
  std::string_view rest;  ///< The line after what was matched, as long as the line lives.
};

[[nodiscard]] LlamaLine llama_line(std::string_view line);

}  // namespace draftscope::traces
