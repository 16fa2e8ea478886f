// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The chat template of a tokenizer_config.json: a Jinja template over the messages and the special tokens.

#include <draftscope/engine/tokenizer.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tokenizer/jinja/syntax.h"
#include "tokenizer/read_json.h"

namespace draftscope::engine::tokenizer {

class ChatTemplate {
 public:
  /// Fails if the configuration is malformed. If a template uses something that is not implemented, apply()
  /// fails with the stored reason, but the tokenizer still encodes.
  [[nodiscard]] static Result<ChatTemplate> parse(const JsonField& configuration);

  /// Sets a template from a separate file, which replaces the configuration's.
  void set_source(std::string_view source, const std::string& label);

  [[nodiscard]] bool usable() const { return block_.has_value(); }
  [[nodiscard]] Result<std::string> apply(std::span<const Message> messages) const;

 private:
  std::optional<jinja::Block> block_;
  std::string label_ = "chat template";
  std::string problem_ = "chat template: found none, expected one with the tokenizer";
  jinja::Dictionary special_tokens_;
};

}  // namespace draftscope::engine::tokenizer
