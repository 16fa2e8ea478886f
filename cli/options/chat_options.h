// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Conversations as a model's chat template writes them, with a system prompt in front if one is given.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <CLI/CLI.hpp>
#include <span>
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

/// The text that the assistant's next answer follows. Fails as the template does, and on one that takes
/// `system` only by raising an error or by leaving it out.
[[nodiscard]] Result<std::string> conversation_text(const engine::Tokenizer& tokenizer,
                                                    const std::string& system,
                                                    std::span<const engine::Message> messages);

}  // namespace draftscope::cli
