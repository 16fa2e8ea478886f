// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/json_field.h"

#include <limits>
#include <utility>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::tokenizer {
namespace {

const nlohmann::json null_value;

std::string describe(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::null:
      return "is missing";
    case nlohmann::json::value_t::object:
      return "is an object";
    case nlohmann::json::value_t::array:
      return "is an array";
    case nlohmann::json::value_t::string:
      return "is a string";
    case nlohmann::json::value_t::boolean:
      return "is a boolean";
    default:
      return fmt::format("is {}", value.dump());
  }
}

}  // namespace

JsonField::JsonField(const nlohmann::json& value, std::string label)
    : JsonField(value, std::move(label), true) {}

JsonField::JsonField(const nlohmann::json& value, std::string path, bool is_root)
    : value_(&value), path_(std::move(path)), is_root_(is_root) {}

bool JsonField::has(std::string_view key) const {
  return !member(key).value().is_null();
}

JsonField JsonField::member(std::string_view key) const {
  const auto* found = &null_value;
  if (value_->is_object())
    if (const auto it = value_->find(key); it != value_->end()) found = &*it;
  return {*found, fmt::format("{}{}{}", path_, is_root_ ? ": " : ".", key), false};
}

JsonField JsonField::element(std::size_t index) const {
  return {(*value_)[index], fmt::format("{}[{}]", path_, index), false};
}

Result<void> JsonField::expect_object() const {
  if (!value_->is_object()) return wrong("an object");
  return {};
}

Result<std::vector<JsonField>> JsonField::elements() const {
  if (!value_->is_array()) return wrong("an array");
  std::vector<JsonField> fields;
  fields.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) fields.push_back(element(i));
  return fields;
}

Result<std::string> JsonField::string() const {
  if (!value_->is_string()) return wrong("a string");
  return value_->get<std::string>();
}

Result<bool> JsonField::boolean() const {
  if (!value_->is_boolean()) return wrong("true or false");
  return value_->get<bool>();
}

Result<bool> JsonField::boolean_or(bool missing) const {
  if (value_->is_null()) return missing;
  return boolean();
}

Result<std::int32_t> JsonField::non_negative() const {
  constexpr auto limit = std::numeric_limits<std::int32_t>::max();
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() > limit)
    return wrong(fmt::format("an integer from 0 to {}", limit));
  return value_->get<std::int32_t>();
}

Result<std::string> JsonField::character() const {
  DRAFTSCOPE_TRY_ASSIGN(auto text, string());
  if (text.empty() || scan_utf8(text).length != text.size()) return wrong("a single character");
  return text;
}

Result<std::string> JsonField::type() const {
  DRAFTSCOPE_TRY(expect_object());
  return member("type").string();
}

tl::unexpected<Error> JsonField::wrong(std::string_view expected) const {
  return fail("{}{}{}, expected {}", path_, is_root_ ? " " : ": ", describe(*value_), expected);
}

Result<nlohmann::json> parse_json(std::string_view text, std::string_view label) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    return fail("{}: not JSON from byte {} on", label, error.byte);
  } catch (const nlohmann::json::exception& error) {
    return fail("{}: not JSON: {}", label, error.what());
  }
}

}  // namespace draftscope::engine::tokenizer
