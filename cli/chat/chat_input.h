// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines that somebody types, or a pipe holds: messages, and commands that begin with a slash.

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
  std::string text;  ///< the message, or what stands behind the command
};

/// The next line that is not blank; none at the input's end. Fails on a line of more than a mebibyte, a
/// command that does not exist, and one without what it needs or with what it does not take; the line is
/// consumed then.
[[nodiscard]] Result<std::optional<ChatLine>> read_chat_line(std::istream& input);

/// Commands with what they do, a line each.
[[nodiscard]] std::string_view chat_help();

}  // namespace draftscope::cli
