// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A conversation in the terminal, with a strategy that can be changed between replies.

#include <draftscope/base/result.h>
#include <draftscope/engine/decode.h>
#include <string>

#include "options/model_options.h"

namespace draftscope::cli {

struct ConversationOptions {
  ModelOptions model;
  engine::DecodingOptions decoding;
  std::string strategy;
  std::string system;  ///< System prompt; "" = none.
  std::string colour;  ///< Value "auto", "always" or "never".
  bool quiet = false;
};

/// Reads lines from standard input until it ends or a line says /quit. Returns the exit code.
[[nodiscard]] Result<int> converse(const ConversationOptions& options);

}  // namespace draftscope::cli
