// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/chat_options.h"

namespace draftscope::cli {

void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what) {
  command.add_flag("--chat", options.chat, "Put " + what + " into the model's chat template");
  command.add_option("--system", options.system, "With --chat: the system prompt in front");
}

Result<void> check(const ChatOptions& options) {
  if (!options.system.empty() && !options.chat)
    return fail("system: found a system prompt without --chat, expected both (the chat template holds it)");
  return {};
}

}  // namespace draftscope::cli
