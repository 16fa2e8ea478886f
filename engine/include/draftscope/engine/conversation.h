// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats conversations with a model's chat template.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <span>
#include <string>

namespace draftscope::engine {

/// The text up to the point where the assistant's next answer begins, with the system prompt `system` in
/// front unless it is empty. Fails as Tokenizer::apply_chat_template() does, and if the template refuses or
/// drops a system prompt.
[[nodiscard]] Result<std::string> conversation_text(const Tokenizer& tokenizer, const std::string& system,
                                                    std::span<const Message> messages);

}  // namespace draftscope::engine
