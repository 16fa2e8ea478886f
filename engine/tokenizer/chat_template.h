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

  /// Notes that there is a template, and why it cannot be rendered.
  void set_problem(std::string problem);

  /// Whether there is a template, even one that cannot be rendered.
  [[nodiscard]] bool present() const { return present_; }
  /// Renders the messages. `arguments` is a JSON object of further variables, or empty.
  [[nodiscard]] Result<std::string> apply(std::span<const Message> messages,
                                          std::string_view arguments) const;

 private:
  std::optional<jinja::Block> block_;
  bool present_ = false;
  std::string label_ = "chat template";
  std::string problem_ = "chat template: found none, expected one with the tokenizer";
  jinja::Variables special_tokens_;
};

/// Variables of a template as a JSON object gives them. Fails for another text, for "messages" and for values
/// nested too deep.
[[nodiscard]] Result<jinja::Variables> read_template_arguments(std::string_view json);

}  // namespace draftscope::engine::tokenizer
