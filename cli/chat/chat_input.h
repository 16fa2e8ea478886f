// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads lines from a terminal or a pipe: messages, and commands that begin with a slash.

#include <draftscope/base/result.h>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::cli {

enum class ChatVerb : std::uint8_t { say, system, strategy, reset, save, help, quit };

struct ChatLine {
  ChatVerb verb = ChatVerb::say;
  std::string text;  ///< The message, or the argument of the command.
};

/// Next line that is not blank; none at the end of the input. Errors: a line of more than 1 MiB, an unknown
/// command, a missing or superfluous argument. The line is consumed in each case.
[[nodiscard]] Result<std::optional<ChatLine>> read_chat_line(std::istream& input);

/// Descriptions of the commands, one line each.
[[nodiscard]] std::string_view chat_help();

}  // namespace draftscope::cli
