// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A conversation: its messages, and the text and tokens of the prompt for the next reply.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::cli {

/// Text up to the assistant's next answer. Without a chat template the messages follow each other, with an
/// empty line after each answer. Errors: those of conversation_text(); a system prompt without a template.
[[nodiscard]] Result<std::string> conversation_prompt(const engine::Tokenizer& tokenizer,
                                                      const std::string& system,
                                                      std::span<const engine::Message> messages);

class Conversation {
 public:
  /// Turns are joined by blank lines if the tokenizer has no chat template.
  explicit Conversation(const engine::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Sets the system prompt; "" = none. If the template does not accept it, fails and changes nothing.
  [[nodiscard]] Result<void> set_system(const std::string& system);
  /// Forgets the messages; the system prompt stays.
  void reset() { messages_.clear(); }

  /// Tokens of the conversation with `text` as the user's next message, which is not added to it.
  [[nodiscard]] Result<std::vector<std::int32_t>> prompt_for(const std::string& text) const;
  void add_turn(const std::string& text, const std::string& reply);

  /// Messages as one JSON object per line, with role and content; the system prompt is first.
  [[nodiscard]] std::string json_lines() const;

 private:
  engine::Tokenizer tokenizer_;
  std::string system_;
  std::vector<engine::Message> messages_;
};

}  // namespace draftscope::cli
