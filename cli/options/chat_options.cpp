// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/chat_options.h"

#include <string_view>
#include <vector>

namespace draftscope::cli {

namespace {

/// Templates trim what they are given.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

}  // namespace

void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what) {
  command.add_flag("--chat", options.chat, "Put " + what + " into the model's chat template");
  command.add_option("--system", options.system,
                     "The system prompt in front: of a conversation, or with --chat");
}

Result<void> check(const ChatOptions& options) {
  if (!options.system.empty() && !options.chat)
    return fail("system: found a system prompt without --chat, expected both (the chat template holds it)");
  return {};
}

Result<std::string> conversation_text(const engine::Tokenizer& tokenizer, const std::string& system,
                                      std::span<const engine::Message> messages) {
  if (system.empty()) return tokenizer.apply_chat_template(messages);
  std::vector<engine::Message> all{{"system", system}};
  all.insert(all.end(), messages.begin(), messages.end());
  Result<std::string> text = tokenizer.apply_chat_template(all);
  if (text && text->find(trimmed(system)) != std::string::npos) return text;
  // Is it the system prompt that the template does not take, or can it do nothing at all?
  DRAFTSCOPE_TRY(tokenizer.apply_chat_template(messages));
  return fail("system: the model's chat template {}, expected one that takes a system prompt",
              text ? "leaves it out" : "refuses it");
}

}  // namespace draftscope::cli
