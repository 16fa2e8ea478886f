// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The options of commands that put texts into the model's chat template.

#include <draftscope/base/result.h>
#include <CLI/CLI.hpp>
#include <string>

namespace draftscope::cli {

struct ChatOptions {
  bool chat = false;   ///< prompts go into the chat template
  std::string system;  ///< system prompt; "" = none, or what the template itself puts there
};

/// `what` goes into the template: "the prompt".
void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what);

/// Fails on a system prompt without the template that it belongs into.
[[nodiscard]] Result<void> check(const ChatOptions& options);

}  // namespace draftscope::cli
