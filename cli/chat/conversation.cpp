// SPDX-License-Identifier: GPL-3.0-or-later
#include "chat/conversation.h"

#include <draftscope/engine/conversation.h>
#include <draftscope/engine/prompt_tokens.h>

#include <nlohmann/json.hpp>

#include "options/model_options.h"

namespace draftscope::cli {

Result<std::string> conversation_prompt(const engine::Tokenizer& tokenizer, const std::string& system,
                                        std::span<const engine::Message> messages) {
  if (tokenizer.has_chat_template() || !system.empty()) return conversation_text(tokenizer, system, messages);
  std::string joined;
  for (const engine::Message& message : messages)
    joined += message.content + (message.role == "assistant" ? "\n\n" : "");
  return joined;
}

Result<void> Conversation::set_system(const std::string& system) {
  if (!system.empty()) {
    const engine::Message message{.role = "user", .content = "?"};
    DRAFTSCOPE_TRY(conversation_text(tokenizer_, system, std::span(&message, 1)));
  }
  system_ = system;
  return {};
}

Result<std::vector<std::int32_t>> Conversation::prompt_for(const std::string& text) const {
  std::vector<engine::Message> messages = messages_;
  messages.push_back({.role = "user", .content = text});
  DRAFTSCOPE_TRY_ASSIGN(const std::string whole, conversation_prompt(tokenizer_, system_, messages));
  if (tokenizer_.has_chat_template()) return tokenizer_.encode(whole, {.add_special_tokens = false});
  DRAFTSCOPE_TRY_ASSIGN(engine::PromptTokens prompt, engine::prompt_tokens(tokenizer_, whole));
  return std::move(prompt.tokens);
}

void Conversation::add_turn(const std::string& text, const std::string& reply) {
  messages_.push_back({.role = "user", .content = text});
  messages_.push_back({.role = "assistant", .content = reply});
}

std::string Conversation::json_lines() const {
  std::string lines;
  const auto add = [&lines](const std::string& role, const std::string& content) {
    const nlohmann::ordered_json line{{"role", role}, {"content", content}};
    lines += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  };
  if (!system_.empty()) add("system", system_);
  for (const engine::Message& message : messages_) add(message.role, message.content);
  return lines;
}

}  // namespace draftscope::cli
