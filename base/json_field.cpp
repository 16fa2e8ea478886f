// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_field.h>

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>

#include <algorithm>

namespace draftscope {

JsonField::JsonField(const nlohmann::json& value, std::string_view file, std::string path)
    : value_(&value), file_(file), path_(std::move(path)) {}

const nlohmann::json& JsonField::value() const {
  static const nlohmann::json null;
  return value_ == nullptr ? null : *value_;
}

std::string JsonField::name() const {
  return path_.empty() ? std::string(file_) : fmt::format("{}: {}", file_, path_);
}

JsonField JsonField::operator[](std::string_view key) const {
  std::string path = path_;
  if (!path.empty()) path += '.';
  path += key;
  const nlohmann::json& object = value();
  if (!object.is_object()) return {Missing{}, file_, std::move(path)};
  const auto place = object.find(key);
  if (place == object.end()) return {Missing{}, file_, std::move(path)};
  return {*place, file_, std::move(path)};
}

Result<JsonField> JsonField::object() const {
  if (!value().is_object()) return wrong("an object");
  return *this;
}

Result<std::vector<JsonField>> JsonField::list() const {
  if (!value().is_array()) return wrong("a list");
  std::vector<JsonField> elements;
  elements.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i)
    elements.emplace_back((*value_)[i], file_, fmt::format("{}[{}]", path_, i));
  return elements;
}

Result<std::vector<std::pair<std::string, JsonField>>> JsonField::members() const {
  DRAFTSCOPE_TRY(object());
  std::vector<std::pair<std::string, JsonField>> fields;
  fields.reserve(value_->size());
  for (const auto& [key, member] : value_->items()) {
    // A key of an untrusted file must not break the line of an error.
    const std::string quoted = quote(key);
    const bool plain = quoted.size() == key.size() + 2;
    std::string path = path_.empty() ? "" : path_ + ".";
    path += plain ? key : quoted;
    fields.emplace_back(key, JsonField(member, file_, std::move(path)));
  }
  return fields;
}

Result<void> JsonField::knows_only(std::span<const char* const> known, std::string_view expected) const {
  for (const auto& [key, member] : value().items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail("{}: unknown field {}{}{}, expected {}", file_, path_, path_.empty() ? "" : ".", quote(key),
                  expected);
  return {};
}

Result<std::string> JsonField::text() const {
  if (!value().is_string()) return wrong("a string");
  return value_->get<std::string>();
}

Result<std::vector<std::string>> JsonField::texts() const {
  if (!value().is_array()) return wrong("a list of strings");
  std::vector<std::string> texts;
  for (const nlohmann::json& element : *value_) {
    if (!element.is_string()) return fail("{} holds {}, expected strings", name(), describe(element));
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

Result<bool> JsonField::boolean() const {
  if (!value().is_boolean()) return wrong("true or false");
  return value_->get<bool>();
}

Result<double> JsonField::number(Range<double> range) const {
  if (value().is_number()) {
    const auto number = value_->get<double>();
    if (std::isfinite(number) && number >= range.min && number <= range.max) return number;
  }
  const Range<double> whole;
  const bool low = range.min != whole.min;
  const bool high = range.max != whole.max;
  return wrong(low && high ? fmt::format("a number from {} to {}", range.min, range.max)
               : low       ? fmt::format("a number from {}", range.min)
               : high      ? fmt::format("a number to {}", range.max)
                           : "a number");
}

Result<std::vector<double>> JsonField::numbers() const {
  if (!value().is_array()) return wrong("a list of numbers");
  std::vector<double> numbers;
  for (const nlohmann::json& element : *value_) {
    if (!element.is_number()) return fail("{} holds {}, expected numbers", name(), describe(element));
    numbers.push_back(element.get<double>());
  }
  return numbers;
}

Result<std::string> JsonField::text_or(std::string otherwise) const {
  if (is_null()) return otherwise;
  return text();
}

Result<bool> JsonField::boolean_or(bool otherwise) const {
  if (is_null()) return otherwise;
  return boolean();
}

Result<double> JsonField::number_or(Range<double> range, double otherwise) const {
  if (is_null()) return otherwise;
  return number(range);
}

tl::unexpected<Error> JsonField::wrong(std::string_view expected) const {
  return fail("{} is {}, expected {}", name(), is_missing() ? "missing" : describe(*value_), expected);
}

}  // namespace draftscope
