// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/conversation.h>

#include <draftscope/base/ascii.h>
#include <vector>

namespace draftscope::engine {

Result<std::string> conversation_text(const Tokenizer& tokenizer, const std::string& system,
                                      std::span<const Message> messages) {
  if (system.empty()) return tokenizer.apply_chat_template(messages);
  std::vector<Message> all{{"system", system}};
  all.insert(all.end(), messages.begin(), messages.end());
  Result<std::string> text = tokenizer.apply_chat_template(all);
  // Templates trim their input.
  if (text && text->find(trimmed(system)) != std::string::npos) return text;
  // A template may change the system prompt: what it leaves out makes no difference at all. One that always
  // fails does so here; otherwise it is the system prompt that it does not accept.
  const Result<std::string> without = tokenizer.apply_chat_template(messages);
  if (text && (!without || *without != *text)) return text;
  DRAFTSCOPE_TRY(without);
  return fail("system: the model's chat template {}, expected one that takes a system prompt",
              text ? "leaves it out" : "refuses it");
}

}  // namespace draftscope::engine
