// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A conversation: its messages, and the text and tokens that the next reply follows.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::cli {

class Conversation {
 public:
  /// Turns are joined by blank lines where the tokenizer has no chat template.
  explicit Conversation(const engine::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Sets the system prompt; "" = none. Fails, and changes nothing, where the template does not take it.
  [[nodiscard]] Result<void> set_system(const std::string& system);
  /// Forgets the messages; the system prompt stays.
  void reset() { messages_.clear(); }

  /// Tokens of the conversation with `text` as the user's next message, which is not kept yet.
  [[nodiscard]] Result<std::vector<std::int32_t>> prompt_for(const std::string& text) const;
  void add_turn(const std::string& text, const std::string& reply);

  /// One JSON object a line with role and content, the system prompt first.
  [[nodiscard]] std::string json_lines() const;

 private:
  engine::Tokenizer tokenizer_;
  std::string system_;
  std::vector<engine::Message> messages_;
};

}  // namespace draftscope::cli
