// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tokenizer.h>

namespace draftscope::engine {

bool Tokenizer::has_chat_template() const { return false; }

Result<std::string> Tokenizer::apply_chat_template(std::span<const Message> /*messages*/) const {
  return fail("chat template: none is known");
}

}  // namespace draftscope::engine
