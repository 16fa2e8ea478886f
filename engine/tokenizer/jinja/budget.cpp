// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/budget.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace draftscope::engine::jinja {
namespace {

// Whether a value changes in place and holds others: if a container held it, it could come to own itself.
bool owns_others(const Value& value) {
  const Object* object = value.object();
  if (object == nullptr) return false;
  if (object->kind == ObjectKind::method) return owns_others(object->items.front());
  return object->kind == ObjectKind::name_space || object->kind == ObjectKind::loop;
}

}  // namespace

Result<void> Budget::steps(std::size_t count) {
  if (count > limits_.steps - steps_)
    return fail("line {}: more than {} steps, expected at most {}", line_, limits_.steps, limits_.steps);
  steps_ += count;
  return {};
}

Result<void> Budget::room(std::size_t bytes) const {
  if (bytes > limits_.value_bytes - held_bytes_)
    return fail("line {}: more than {} bytes of values, expected at most {}", line_, limits_.value_bytes,
                limits_.value_bytes);
  return {};
}

Result<void> Budget::enter() {
  if (++levels_ > limits_.levels)
    return fail("line {}: calls nested too deep, expected at most {} levels", line_, limits_.levels);
  return {};
}

Result<Value> Budget::checked(Value value) const {
  if (value.depth() > limits_.depth)
    return fail("line {}: values nested more than {} deep, expected at most {}", line_, limits_.depth,
                limits_.depth);
  return value;
}

template <typename Content>
Result<Value> Budget::hold(Content content, std::size_t bytes, Form form) {
  bytes += sizeof(Shared<Content>) + 2 * sizeof(void*);  // Includes the reference counts.
  DRAFTSCOPE_TRY(room(bytes));
  Charge charge(bytes, held_bytes_);
  if constexpr (std::is_same_v<Content, Dictionary>) {
    return checked(Value(std::move(content), std::move(charge)));
  } else {
    return checked(Value(std::move(content), std::move(charge), form));
  }
}

Result<Value> Budget::text(std::string text, Form form) {
  if (text.size() > longest_text)
    return fail("the text is too long, expected at most {} bytes", longest_text);
  const std::size_t bytes = text.capacity();
  return hold(std::move(text), bytes, form);
}

Result<Value> Budget::list(List list, Form form) {
  if (std::any_of(list.begin(), list.end(), owns_others))
    return fail("a namespace or a loop within a list or dictionary is not implemented");
  const std::size_t bytes = list.capacity() * sizeof(Value);
  return hold(std::move(list), bytes, form);
}

Result<Value> Budget::dictionary(Dictionary entries) {
  for (const auto& [key, value] : entries)
    if (owns_others(key) || owns_others(value))
      return fail("a namespace or a loop within a list or dictionary is not implemented");
  const std::size_t bytes = entries.capacity() * sizeof(Dictionary::value_type);
  return hold(std::move(entries), bytes, Form::plain);
}

Result<Value> Budget::object(Object object) {
  if (object.kind != ObjectKind::method && std::any_of(object.items.begin(), object.items.end(), owns_others))
    return fail("a namespace or a loop within {} is not implemented",
                type_name(Value(std::make_shared<Object>(std::move(object)))));
  const std::size_t bytes = sizeof(Object) + object.items.capacity() * sizeof(Value) + object.name.capacity();
  DRAFTSCOPE_TRY(room(bytes));
  object.nesting = 1;
  for (const Value& item : object.items) object.nesting = std::max(object.nesting, item.depth() + 1);
  object.charge = std::make_shared<const Charge>(bytes, held_bytes_);
  return checked(Value(std::make_shared<Object>(std::move(object))));
}

Result<Value> Budget::generator(List items) {
  return object({.kind = ObjectKind::generator, .name = {}, .items = std::move(items)});
}

Result<void> Budget::append(std::string& output, std::string_view text) {
  if (text.size() > limits_.output_bytes - open_output_bytes_)
    return fail("line {}: more than {} bytes of output, expected at most {}", line_, limits_.output_bytes,
                limits_.output_bytes);
  output += text;
  open_output_bytes_ += text.size();
  return bytes_read(text.size());
}

}  // namespace draftscope::engine::jinja
