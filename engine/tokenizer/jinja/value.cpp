// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/value.h"

#include <algorithm>
#include <array>

namespace draftscope::engine::jinja {

namespace {

template <typename Content>
const Shared<Content>* shared(const Value& value) {
  const auto* pointer = std::get_if<std::shared_ptr<const Shared<Content>>>(&value.data);
  return pointer == nullptr ? nullptr : pointer->get();
}

template <typename Content>
const Content* content(const Value& value) {
  const auto* held = shared<Content>(value);
  return held == nullptr ? nullptr : &held->content;
}

template <typename Content>
std::shared_ptr<const Shared<Content>> share(Content content, int depth, Charge charge,
                                             Form form = Form::plain) {
  return std::make_shared<const Shared<Content>>(
      Shared<Content>{std::move(content), depth, form, std::move(charge)});
}

int deepest(const List& list) {
  int depth = 0;
  for (const Value& item : list) depth = std::max(depth, item.depth());
  return depth;
}

int deepest(const Dictionary& entries) {
  int depth = 0;
  for (const auto& [key, value] : entries) depth = std::max({depth, key.depth(), value.depth()});
  return depth;
}

}  // namespace

Value::Value(const char* text) : data(share(std::string(text), 0, Charge())) {}

Value::Value(std::string text, Charge charge, Form form)
    : data(share(std::move(text), 0, std::move(charge), form)) {}

Value::Value(List list, Charge charge, Form form) {
  const int depth = deepest(list) + 1;
  data = share(std::move(list), depth, std::move(charge), form);
}

Value::Value(Dictionary entries, Charge charge) {
  const int depth = deepest(entries) + 1;
  data = share(std::move(entries), depth, std::move(charge));
}

const std::string* Value::string() const {
  return content<std::string>(*this);
}

const List* Value::list() const {
  return content<List>(*this);
}

const Dictionary* Value::dictionary() const {
  return content<Dictionary>(*this);
}

Object* Value::object() const {
  const auto* pointer = std::get_if<std::shared_ptr<Object>>(&data);
  return pointer == nullptr ? nullptr : pointer->get();
}

Form Value::form() const {
  if (const auto* held = shared<std::string>(*this)) return held->form;
  if (const auto* held = shared<List>(*this)) return held->form;
  return Form::plain;
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto* boolean = std::get_if<bool>(&data)) return *boolean ? 1 : 0;
  if (const auto* whole = std::get_if<std::int64_t>(&data)) return *whole;
  return std::nullopt;
}

std::optional<double> Value::number() const {
  if (const auto* number = std::get_if<double>(&data)) return *number;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

int Value::depth() const {
  if (const auto* held = shared<List>(*this)) return held->depth;
  if (const auto* held = shared<Dictionary>(*this)) return held->depth;
  return object() == nullptr ? 0 : object()->nesting;
}

bool truth(const Value& value) {
  if (const auto number = value.number()) return *number != 0;
  if (const auto* text = value.string()) return !text->empty();
  if (const auto* list = value.list()) return !list->empty();
  if (const auto* dictionary = value.dictionary()) return !dictionary->empty();
  return value.object() != nullptr;
}

std::size_t text_size(const Value& value) {
  const auto* text = value.string();
  return text == nullptr ? 0 : text->size();
}

std::string type_name(const Value& value) {
  static constexpr std::array names{"undefined", "none",   "a boolean",    "an integer", "a number",
                                    "a string",  "a list", "a dictionary", "an object"};
  static constexpr std::array objects{"a namespace", "a macro",  "a loop",     "a cycler",
                                      "a joiner",    "a method", "a function", "a generator"};
  if (const auto* object = value.object()) return objects.at(static_cast<std::size_t>(object->kind));
  return value.form() == Form::tuple ? "a tuple" : names.at(value.data.index());
}

Value* find_entry(Variables& variables, std::string_view name) {
  const auto it = std::find_if(variables.begin(), variables.end(),
                               [&](const auto& entry) { return entry.first == name; });
  return it == variables.end() ? nullptr : &it->second;
}

void set_entry(Variables& variables, std::string_view name, Value value) {
  if (Value* found = find_entry(variables, name)) {
    *found = std::move(value);
  } else {
    variables.emplace_back(name, std::move(value));
  }
}

}  // namespace draftscope::engine::jinja
