// SPDX-License-Identifier: GPL-3.0-or-later
// Wording of llama.cpp's programs: of the server's logs in builds from 2025 to 10434 (August 2026), and of
// llama-speculative-simple and llama-speculative.
#include "import/llama_cpp/log_lines.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace draftscope::traces {
namespace {

struct Pattern {
  LlamaEvent event;
  /// Pattern: %d is a whole number, %f a real one, %s a word, a blank any number of blanks, $ the line's end;
  /// other characters match themselves.
  std::string_view words;
  bool is_of_a_program = false;  ///< Whether the line has neither slot nor task.
};

constexpr std::array patterns{
    Pattern{LlamaEvent::restored, "accepted %d/%d draft tokens (restore checkpoint)"},
    Pattern{LlamaEvent::verified, "accepted %d/%d draft tokens, new n_tokens = %d"},
    Pattern{LlamaEvent::verified, "accepted %d/%d draft tokens, new n_past = %d"},
    Pattern{LlamaEvent::accepted, "accepted %d/%d draft tokens $"},
    Pattern{LlamaEvent::candidate, "- seq_id %d, draft candidate %d, pos %d: %d (%f)", true},
    Pattern{LlamaEvent::drafted, "generate_draft: id=%d, #tokens=%d, #draft=%d, pos_next=%d"},
    Pattern{LlamaEvent::own_token, "add accepted tokens: sampled=%d, ids.size=%d, n_draft=%d"},
    Pattern{LlamaEvent::plain_step, "slot decode token, id=%d"},
    Pattern{LlamaEvent::token, "n_gen = %d, n_remaining = %d, next token: %d '"},
    Pattern{LlamaEvent::token, "n_decoded = %d, n_remaining = %d, next token: %d '"},
    Pattern{LlamaEvent::prompt, "new prompt, n_ctx_slot = %d, n_keep = %d, task.n_tokens = %d"},
    Pattern{LlamaEvent::prompt, "new prompt, n_ctx_slot = %d, n_keep = %d, n_prompt_tokens = %d"},
    Pattern{LlamaEvent::began, "processing task"},
    Pattern{LlamaEvent::acceptance, "draft acceptance rate = %f (%d accepted / %d generated)"},
    Pattern{LlamaEvent::acceptance, "draft acceptance = %f (%d accepted / %d generated)"},
    Pattern{LlamaEvent::prompt_time, "prompt eval time = %f ms / %d tokens"},
    Pattern{LlamaEvent::decode_time, "eval time = %f ms / %d tokens"},
    Pattern{LlamaEvent::ended, "stop processing: n_tokens = %d, truncated = %d"},
    Pattern{LlamaEvent::ended, "stop processing:"},
    Pattern{LlamaEvent::drafted, "called impl %s, hist size = %d, call_count = %d, gen = %d", true},
    Pattern{LlamaEvent::program_round, "accepted %d/%d draft tokens, the last target token is: (%d)", true},
    Pattern{LlamaEvent::program_restored, "partial acceptance: %d < %d, restoring checkpoint", true},
    Pattern{LlamaEvent::program_prompt_time, "encoded %d tokens in %f seconds", true},
    Pattern{LlamaEvent::program_decode_time, "decoded %d tokens in %f seconds", true},
    Pattern{LlamaEvent::stated_drafted, "n_drafted = %d $", true},
    Pattern{LlamaEvent::stated_accepted, "n_accept = %d $", true},
    Pattern{LlamaEvent::ended, "accept = ", true},
};

/// Wording about drafts that tells nothing about a round.
constexpr std::array known{std::string_view("max possible draft"), std::string_view("draft model"),
                           std::string_view("speculative"),        std::string_view("acc per pos"),
                           std::string_view("accepted %"),         std::string_view("statistics")};

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
}

template <typename Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Whether the text begins with the pattern; if so, fills the line's values.
bool begins_with(std::string_view text, std::string_view words, LlamaLine& line) {
  std::size_t values = 0;
  while (!words.empty()) {
    if (words.starts_with("%d") || words.starts_with("%f")) {
      skip_blanks(text);
      const bool taken = words[1] == 'f'
                             ? take_number(text, line.number)
                             : values < line.values.size() && take_number(text, line.values[values++]);
      if (!taken) return false;
      words.remove_prefix(2);
    } else if (words.starts_with("%s")) {
      text.remove_prefix(std::min(text.find_first_of(" ,"), text.size()));
      words.remove_prefix(2);
    } else if (words.front() == ' ') {
      skip_blanks(text);
      words.remove_prefix(1);
    } else if (words.front() == '$') {
      skip_blanks(text);
      return text.empty();
    } else {
      if (text.empty() || text.front() != words.front()) return false;
      text.remove_prefix(1);
      words.remove_prefix(1);
    }
  }
  line.rest = text;
  return true;
}

/// Reads "0.01.268.762 I " at the text's beginning: minutes, seconds, milliseconds and microseconds since the
/// process began.
std::int64_t take_time(std::string_view& text) {
  std::string_view rest = text;
  std::int64_t total = 0;
  constexpr std::array<std::int64_t, 4> factors{60, 1000, 1000, 1};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::int64_t part = 0;
    if (rest.empty() || rest.front() < '0' || rest.front() > '9' || !take_number(rest, part)) return -1;
    constexpr std::int64_t max_minutes = 10'000'000;
    if (part > (i == 0 ? max_minutes : 999)) return -1;
    total = (total + part) * factors[i];  // seconds, ms, us, us
    if (i + 1 < factors.size()) {
      if (rest.empty() || rest.front() != '.') return -1;
      rest.remove_prefix(1);
    }
  }
  if (rest.size() < 3 || rest[0] != ' ' || rest[2] != ' ') return -1;
  text = rest.substr(3);
  return total;
}

/// Reads the line's time, which may come after what a container, a collector or a router put before it.
std::int64_t take_time_of_line(std::string_view& text) {
  constexpr std::size_t max_words = 8;
  std::string_view rest = text;
  for (std::size_t word = 0; word < max_words && !rest.empty(); ++word) {
    if (const std::int64_t time_us = take_time(rest); time_us >= 0) {
      text = rest;
      return time_us;
    }
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    skip_blanks(rest);
  }
  return -1;
}

/// Removes the name of the program's part that wrote the line: "spec        draft: …".
std::string_view behind_source(std::string_view text) {
  const std::size_t colon = text.starts_with("spec ") ? text.find(": ") : std::string_view::npos;
  if (colon == std::string_view::npos) return text;
  text.remove_prefix(colon + 1);
  skip_blanks(text);
  return text;
}

bool speaks_of_drafts(std::string_view message) {
  if (message.find("draft") == std::string_view::npos) return false;
  for (const std::string_view words : known)
    if (message.find(words) != std::string_view::npos) return false;
  return true;
}

/// Reads a task's times or sums from a line that does not name it.
void read_timing(std::string_view text, LlamaLine& line) {
  for (const Pattern& pattern : patterns) {
    if (pattern.event != LlamaEvent::acceptance && pattern.event != LlamaEvent::prompt_time &&
        pattern.event != LlamaEvent::decode_time)
      continue;
    const std::size_t begin = text.find(pattern.words.substr(0, pattern.words.find('%')));
    if (begin == std::string_view::npos || !begins_with(text.substr(begin), pattern.words, line)) continue;
    line.event = pattern.event;
    return;
  }
}

}  // namespace

LlamaLine llama_line(std::string_view text) {
  LlamaLine line;
  line.time_us = take_time_of_line(text);
  // Lines have the form "slot update_slots: id  1 | task 0 | …". A line about candidates names its sequence,
  // which is the slot.
  constexpr std::string_view task_words = "| task ";
  const std::size_t task = text.find(task_words);
  const std::size_t candidate = text.find("- seq_id ");
  std::string_view message;
  if (task != std::string_view::npos && task < candidate) {
    const std::size_t id = text.rfind("id ", task);
    if (id == std::string_view::npos) return line;
    std::string_view number = text.substr(id + 3);
    skip_blanks(number);
    message = text.substr(task + task_words.size());
    skip_blanks(message);
    if (!take_number(number, line.slot) || !take_number(message, line.task)) return line;
    skip_blanks(message);
    if (!message.starts_with("|")) return line;
    message.remove_prefix(1);
    skip_blanks(message);
  } else {
    line.is_of_a_program = true;
    line.slot = 0;
    message = candidate != std::string_view::npos ? text.substr(candidate) : behind_source(text);
  }
  if (!line.is_of_a_program && message.empty()) line.event = LlamaEvent::timings;
  for (const Pattern& pattern : patterns) {
    if (pattern.is_of_a_program != line.is_of_a_program || !begins_with(message, pattern.words, line))
      continue;
    line.event = pattern.event;
    if (line.event == LlamaEvent::candidate) line.slot = line.values[0];
    return line;
  }
  if (line.is_of_a_program) read_timing(text, line);
  if (!line.is_of_a_program && speaks_of_drafts(message)) line.event = LlamaEvent::unknown;
  return line;
}

}  // namespace draftscope::traces
