// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The values of a chat template.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace draftscope::engine::jinja {

struct Value;
using List = std::vector<Value>;
using Dictionary = std::vector<std::pair<std::string, Value>>;  // in order of insertion

struct Undefined {};
struct None {};
struct Namespace;

struct Value {
  // Shared as in Python: a namespace changes in place. No container holds a namespace, so that none owns
  // itself.
  std::variant<Undefined, None, bool, std::int64_t, std::string, std::shared_ptr<const List>,
               std::shared_ptr<const Dictionary>, std::shared_ptr<Namespace>>
      data;

  Value() = default;
  template <typename T>
  Value(T value) : data(std::move(value)) {}
  Value(const char* text) : data(std::string(text)) {}
  Value(List list) : data(std::make_shared<const List>(std::move(list))) {}
  Value(Dictionary entries) : data(std::make_shared<const Dictionary>(std::move(entries))) {}

  [[nodiscard]] bool is_undefined() const { return std::holds_alternative<Undefined>(data); }
  [[nodiscard]] bool is_none() const { return std::holds_alternative<None>(data); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] const List* list() const;
  [[nodiscard]] const Dictionary* dictionary() const;
  [[nodiscard]] Namespace* name_space() const;
  [[nodiscard]] bool is_container() const { return list() != nullptr || dictionary() != nullptr; }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
};

struct Namespace {
  Dictionary entries;
};

[[nodiscard]] bool truth(const Value& value);
/// Containers are equal to themselves, and when both are empty: their members are not compared.
[[nodiscard]] bool equal(const Value& left, const Value& right);
/// Text as Python's str() gives it, but nothing for an undefined value. Lists and dictionaries have no text
/// here.
[[nodiscard]] bool append_text(const Value& value, std::string& text);
/// "a string", for messages.
[[nodiscard]] std::string type_name(const Value& value);
/// The entry of a dictionary, else undefined.
[[nodiscard]] Value entry(const Dictionary& dictionary, const std::string& key);
void set_entry(Dictionary& dictionary, const std::string& key, Value value);

}  // namespace draftscope::engine::jinja
