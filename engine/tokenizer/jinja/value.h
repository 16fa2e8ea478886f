// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The values of a chat template.

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizer/jinja/charge.h"

namespace draftscope::engine::jinja {

struct Value;
using List = std::vector<Value>;
using Dictionary = std::vector<std::pair<std::string, Value>>;  // in order of insertion

struct Undefined {};
struct None {};
struct Namespace;

/// The part of a value that is on the heap. Copies of the value share it, and it never changes.
template <typename Content>
struct Shared {
  Content content;
  int depth;  ///< nesting of lists and dictionaries: 0 for a text, 1 for a list of numbers
  Charge charge;
};

struct Value {
  // A namespace is shared, as in Python, and changes in place. No container can contain a namespace, so that
  // none owns itself.
  std::variant<Undefined, None, bool, std::int64_t, std::shared_ptr<const Shared<std::string>>,
               std::shared_ptr<const Shared<List>>, std::shared_ptr<const Shared<Dictionary>>,
               std::shared_ptr<Namespace>>
      data;

  Value() = default;
  Value(None none) : data(none) {}
  Value(bool boolean) : data(boolean) {}
  Value(std::int64_t integer) : data(integer) {}
  Value(std::shared_ptr<Namespace> space) : data(std::move(space)) {}
  Value(std::string text, Charge charge);
  Value(List list, Charge charge);
  Value(Dictionary entries, Charge charge);

  [[nodiscard]] bool is_undefined() const { return std::holds_alternative<Undefined>(data); }
  [[nodiscard]] bool is_none() const { return std::holds_alternative<None>(data); }
  [[nodiscard]] const std::string* string() const;
  [[nodiscard]] const List* list() const;
  [[nodiscard]] const Dictionary* dictionary() const;
  [[nodiscard]] Namespace* name_space() const;
  [[nodiscard]] bool is_container() const { return list() != nullptr || dictionary() != nullptr; }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] int depth() const;
};

template <typename... Alternatives>
constexpr bool copies_never_fail(const std::variant<Alternatives...>*) {
  return (std::is_nothrow_copy_constructible_v<Alternatives> && ...);
}
// If std::string were among the alternatives, a copy that runs out of memory would jump to an invalid
// address. libstdc++ 12 assumes that such a variant always has a value, even while it undoes the copy.
static_assert(copies_never_fail(static_cast<decltype(Value::data)*>(nullptr)));

struct Namespace {
  Dictionary entries;
};

[[nodiscard]] bool truth(const Value& value);
/// Compares values. Containers are equal if they are the same object or both empty: their members are not
/// compared.
[[nodiscard]] bool equal(const Value& left, const Value& right);
/// Appends text as Python's str() gives it, but nothing for an undefined value. Returns false for lists and
/// dictionaries, which have no text here.
[[nodiscard]] bool append_text(const Value& value, std::string& text);
/// Bytes of a string; otherwise 0.
[[nodiscard]] std::size_t text_size(const Value& value);
/// Name of a value's type for messages: "a string".
[[nodiscard]] std::string type_name(const Value& value);
/// The entry of a dictionary; null if there is none.
[[nodiscard]] const Value* find_entry(const Dictionary& dictionary, const std::string& key);
void set_entry(Dictionary& dictionary, const std::string& key, Value value);

}  // namespace draftscope::engine::jinja
