// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Conversations as a model's chat template writes them.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <span>
#include <string>

namespace draftscope::engine {

/// The text that the assistant's next answer follows, with the system prompt `system` in front unless it is
/// empty. Fails as Tokenizer::apply_chat_template() does, and if the template refuses a system prompt or
/// leaves it out.
[[nodiscard]] Result<std::string> conversation_text(const Tokenizer& tokenizer, const std::string& system,
                                                    std::span<const Message> messages);

}  // namespace draftscope::engine
