// SPDX-License-Identifier: GPL-3.0-or-later
#include "chat/chat_input.h"

#include <draftscope/base/ascii.h>
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <cstddef>

namespace draftscope::cli {

namespace {

constexpr std::size_t max_line_bytes = std::size_t{1} << 20U;

enum class Needs : std::uint8_t { nothing, text, text_or_nothing };

struct Command {
  std::string_view name;
  ChatVerb verb;
  Needs needs;
};

constexpr std::array<Command, 6> commands{{{"/system", ChatVerb::system, Needs::text_or_nothing},
                                           {"/strategy", ChatVerb::strategy, Needs::text},
                                           {"/reset", ChatVerb::reset, Needs::nothing},
                                           {"/save", ChatVerb::save, Needs::text},
                                           {"/help", ChatVerb::help, Needs::nothing},
                                           {"/quit", ChatVerb::quit, Needs::nothing}}};

/// One line without its line end; none at the end of the input.
Result<std::optional<std::string>> read_line(std::istream& input) {
  std::string line;
  bool is_too_long = false;
  int letter = input.get();
  if (letter == std::istream::traits_type::eof()) return std::nullopt;
  for (; letter != std::istream::traits_type::eof() && letter != '\n'; letter = input.get()) {
    is_too_long = is_too_long || line.size() == max_line_bytes;
    if (!is_too_long) line += static_cast<char>(letter);
  }
  if (is_too_long)
    return fail("input: found a line of more than {} bytes, expected at most that", max_line_bytes);
  return line;
}

Result<ChatLine> parse(std::string_view line) {
  if (!line.starts_with('/')) return ChatLine{ChatVerb::say, std::string(line)};
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view name = line.substr(0, end);
  const std::string_view text = trimmed(line.substr(end));
  const auto* const command =
      std::find_if(commands.begin(), commands.end(), [&](const Command& one) { return one.name == name; });
  if (command == commands.end())
    return fail("chat: {} is no command, expected /system, /strategy, /reset, /save, /help or /quit",
                quote(name));
  if (command->needs == Needs::text && text.empty())
    return fail("chat: {} has nothing after it, expected {}", name,
                command->verb == ChatVerb::save ? "a file" : "a strategy");
  if (command->needs == Needs::nothing && !text.empty())
    return fail("chat: found {} after {}, expected nothing", quote(text), name);
  return ChatLine{command->verb, std::string(text)};
}

}  // namespace

Result<std::optional<ChatLine>> read_chat_line(std::istream& input) {
  while (true) {
    DRAFTSCOPE_TRY_ASSIGN(const std::optional<std::string> line, read_line(input));
    if (!line) return std::nullopt;
    const std::string_view text = trimmed(*line);
    if (text.empty()) continue;
    DRAFTSCOPE_TRY_ASSIGN(ChatLine parsed, parse(text));
    return std::optional<ChatLine>(std::move(parsed));
  }
}

std::string_view chat_help() {
  return "/system TEXT    sets the system prompt, from the next message on; without TEXT: none\n"
         "/strategy SPEC  decodes by another strategy (draftscope strategies lists them)\n"
         "/reset          begins a new conversation; the system prompt stays\n"
         "/save FILE      writes the conversation, a JSON object a line\n"
         "/help           shows this\n"
         "/quit           leaves, as Ctrl-D does; Ctrl-C stops a reply\n";
}

}  // namespace draftscope::cli
