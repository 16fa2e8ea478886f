// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/chat_template.h"

#include <utility>

#include "tokenizer/jinja/render.h"

namespace draftscope::engine::tokenizer {
namespace {

// Reads a special token: its text, or an object that contains the text.
Result<std::string> special_token(const JsonField& field) {
  if (field.value().is_object()) return field["content"].text();
  return field.text();
}

// Finds the template, or the one called "default" if a configuration names several.
Result<std::optional<JsonField>> default_template(const JsonField& field) {
  if (!field.value().is_array()) return field;
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, field.list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY(element.object());
    DRAFTSCOPE_TRY_ASSIGN(const auto name, element["name"].text());
    if (name == "default") return element["template"];
  }
  return std::nullopt;
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(const JsonField& configuration) {
  DRAFTSCOPE_TRY(configuration.object());
  ChatTemplate chat;
  for (const char* name :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
    if (configuration[name].is_null()) continue;
    DRAFTSCOPE_TRY_ASSIGN(auto token, special_token(configuration[name]));
    chat.special_tokens_.emplace_back(name, jinja::Value(std::move(token), jinja::Charge()));
  }
  const JsonField field = configuration["chat_template"];
  if (field.value().is_null()) return chat;
  DRAFTSCOPE_TRY_ASSIGN(const auto chosen, default_template(field));
  if (!chosen) {
    chat.problem_ = fmt::format("{}: none of the templates is called 'default'", field.name());
    return chat;
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto source, chosen->text());
  chat.set_source(source, chosen->name());
  return chat;
}

void ChatTemplate::set_source(std::string_view source, const std::string& label) {
  label_ = label;
  auto parsed = jinja::parse_template(source);
  if (parsed) {
    block_ = *std::move(parsed);
  } else {
    block_.reset();
    problem_ = fmt::format("{}: {}", label, parsed.error().message);
  }
}

Result<std::string> ChatTemplate::apply(std::span<const Message> messages) const {
  if (!block_) return fail("{}", problem_);
  using jinja::Charge, jinja::Value;
  jinja::List list;
  for (const Message& message : messages)
    list.emplace_back(jinja::Dictionary{{"role", Value(message.role, Charge())},
                                        {"content", Value(message.content, Charge())}},
                      Charge());
  jinja::Dictionary variables = special_tokens_;
  variables.emplace_back("messages", Value(std::move(list), Charge()));
  variables.emplace_back("tools", jinja::None{});
  variables.emplace_back("documents", jinja::None{});
  variables.emplace_back("add_generation_prompt", true);
  return jinja::render(*block_, std::move(variables)).map_error([&](const Error& error) {
    return Error{fmt::format("{}: {}", label_, error.message)};
  });
}

}  // namespace draftscope::engine::tokenizer
