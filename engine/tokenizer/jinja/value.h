// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The values of a chat template.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tokenizer/jinja/charge.h"

namespace draftscope::engine::jinja {

struct Value;
using List = std::vector<Value>;
using Dictionary = std::vector<std::pair<Value, Value>>;       // in order of insertion
using Variables = std::vector<std::pair<std::string, Value>>;  // of a scope, a namespace, a call

struct Undefined {};
struct None {};
struct Object;

/// Class of a text or a list, as Python would see it. Markup is a text that needs no escaping, a group is
/// the pair that groupby makes, and views are what a dictionary's methods return.
enum class Form : std::uint8_t { plain, markup, tuple, group, range, keys, values, items };

/// The part of a value that is on the heap. Copies of the value share it, and it never changes.
template <typename Content>
struct Shared {
  Content content;
  int depth;  ///< nesting of lists and dictionaries: 0 for a text, 1 for a list of numbers
  Form form;
  Charge charge;
};

struct Value {
  // An object is shared, as in Python, and may change in place. No container can contain a namespace or a
  // loop, so that none owns itself.
  std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const Shared<std::string>>,
               std::shared_ptr<const Shared<List>>, std::shared_ptr<const Shared<Dictionary>>,
               std::shared_ptr<Object>>
      data;

  Value() = default;
  Value(None none) : data(none) {}
  Value(bool boolean) : data(boolean) {}
  Value(std::int64_t integer) : data(integer) {}
  Value(double number) : data(number) {}
  Value(const char* text);  // Charges nothing, as for all that the rendering is given.
  Value(std::shared_ptr<Object> object) : data(std::move(object)) {}
  Value(std::string text, Charge charge, Form form = Form::plain);
  Value(List list, Charge charge, Form form = Form::plain);
  Value(Dictionary entries, Charge charge);

  [[nodiscard]] bool is_undefined() const { return std::holds_alternative<Undefined>(data); }
  [[nodiscard]] bool is_none() const { return std::holds_alternative<None>(data); }
  [[nodiscard]] const std::string* string() const;
  [[nodiscard]] const List* list() const;
  [[nodiscard]] const Dictionary* dictionary() const;
  [[nodiscard]] Object* object() const;
  [[nodiscard]] Form form() const;
  [[nodiscard]] bool is_container() const { return list() != nullptr || dictionary() != nullptr; }
  /// An integer, or a boolean as 0 or 1.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  /// An integer, a boolean or a number with a fraction.
  [[nodiscard]] std::optional<double> number() const;
  [[nodiscard]] int depth() const;
};

template <typename... Alternatives>
constexpr bool copies_never_fail(const std::variant<Alternatives...>*) {
  return (std::is_nothrow_copy_constructible_v<Alternatives> && ...);
}
// If std::string were among the alternatives, a copy that runs out of memory would jump to an invalid
// address. libstdc++ 12 assumes that such a variant always has a value, even while it undoes the copy.
static_assert(copies_never_fail(static_cast<decltype(Value::data)*>(nullptr)));

struct Statement;
struct Scope;

enum class ObjectKind : std::uint8_t { name_space, macro, loop, cycler, joiner, method, function, generator };

/// A value with an identity. Of its members each kind uses those that the comment names.
struct Object {
  ObjectKind kind;
  std::string name;                      // macro, method, function; generator: why it fails
  Variables entries{};                   // name_space
  List items{};                          // loop, cycler, generator; joiner: its separator; method: its value
  std::size_t at = 0;                    // loop, cycler: index; joiner: whether it was called
  std::size_t depth = 0;                 // loop
  Value changed{};                       // loop: a list of what changed() saw last
  int nesting = 0;                       // depth of the items
  const Statement* statement = nullptr;  // macro, loop
  std::shared_ptr<const Charge> charge{};
  Scope* scope = nullptr;  // macro, loop: where it was made; the renderer owns it
};

[[nodiscard]] bool truth(const Value& value);
/// Bytes of a string; otherwise 0.
[[nodiscard]] std::size_t text_size(const Value& value);
/// Name of a value's type for messages: "a string".
[[nodiscard]] std::string type_name(const Value& value);
/// The entry of a scope; null if there is none.
[[nodiscard]] Value* find_entry(Variables& variables, std::string_view name);
void set_entry(Variables& variables, std::string_view name, Value value);

}  // namespace draftscope::engine::jinja
