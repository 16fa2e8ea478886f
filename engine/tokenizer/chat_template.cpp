// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/chat_template.h"

#include <draftscope/base/quote.h>
#include <limits>
#include <nlohmann/json.hpp>
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

constexpr int deepest_argument = 50;

Result<jinja::Value> template_value(const nlohmann::ordered_json& json, int depth) {
  using jinja::Charge, jinja::Value;
  if (json.is_null()) return Value(jinja::None{});
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_string()) return Value{json.get<std::string>(), Charge()};
  if (json.is_number_float()) return Value(json.get<double>());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return fail("{} is too large, expected at most 64 bits", json.dump());
  if (json.is_number()) return Value(json.get<std::int64_t>());
  if (depth == 0) return fail("is nested too deep, expected at most {} levels", deepest_argument);
  jinja::List list;
  jinja::Dictionary entries;
  for (const auto& [key, member] : json.items()) {
    DRAFTSCOPE_TRY_ASSIGN(auto value, template_value(member, depth - 1));
    if (json.is_array()) list.push_back(value);
    entries.emplace_back(Value{key, Charge()}, std::move(value));
  }
  return json.is_array() ? Value{std::move(list), Charge()} : Value{std::move(entries), Charge()};
}

}  // namespace

Result<jinja::Variables> read_template_arguments(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return fail("template arguments: found {}, expected a JSON object", quote(text));
  jinja::Variables variables;
  for (const auto& [name, member] : json.items()) {
    if (name == "messages")
      return fail("template argument {}: is what the conversation gives, expected another name", name);
    auto value = template_value(member, deepest_argument);
    if (!value) return fail("template argument {}: {}", excerpt(name), value.error().message);
    variables.emplace_back(name, *std::move(value));
  }
  return variables;
}

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
    chat.set_problem(fmt::format("{}: none of the templates is called 'default'", field.name()));
    return chat;
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto source, chosen->text());
  chat.set_source(source, chosen->name());
  return chat;
}

void ChatTemplate::set_source(std::string_view source, const std::string& label) {
  label_ = label;
  present_ = true;
  auto parsed = jinja::parse_template(source);
  if (parsed) {
    block_ = *std::move(parsed);
  } else {
    set_problem(fmt::format("{}: {}", label, parsed.error().message));
  }
}

void ChatTemplate::set_problem(std::string problem) {
  present_ = true;
  block_.reset();
  problem_ = std::move(problem);
}

Result<std::string> ChatTemplate::apply(std::span<const Message> messages, std::string_view arguments) const {
  if (!block_) return fail("{}", problem_);
  using jinja::Charge, jinja::Value;
  jinja::List list;
  for (const Message& message : messages)
    list.emplace_back(jinja::Dictionary{{"role", Value(message.role, Charge())},
                                        {"content", Value(message.content, Charge())}},
                      Charge());
  jinja::Variables variables = special_tokens_;
  variables.emplace_back("messages", Value(std::move(list), Charge()));
  variables.emplace_back("tools", jinja::None{});
  variables.emplace_back("documents", jinja::None{});
  variables.emplace_back("add_generation_prompt", true);
  if (!arguments.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto given, read_template_arguments(arguments));
    for (const auto& [name, value] : given) jinja::set_entry(variables, name, value);
  }
  return jinja::render(*block_, std::move(variables)).map_error([&](const Error& error) {
    return Error{fmt::format("{}: {}", label_, error.message)};
  });
}

}  // namespace draftscope::engine::tokenizer
