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
std::shared_ptr<const Shared<Content>> share(Content content, int depth, Charge charge) {
  return std::make_shared<const Shared<Content>>(
      Shared<Content>{std::move(content), depth, std::move(charge)});
}

int deepest(const List& list) {
  int depth = 0;
  for (const Value& item : list) depth = std::max(depth, item.depth());
  return depth;
}

int deepest(const Dictionary& entries) {
  int depth = 0;
  for (const auto& [key, value] : entries) depth = std::max(depth, value.depth());
  return depth;
}

}  // namespace

Value::Value(std::string text, Charge charge) : data(share(std::move(text), 0, std::move(charge))) {}

Value::Value(List list, Charge charge) {
  const int depth = deepest(list) + 1;
  data = share(std::move(list), depth, std::move(charge));
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

Namespace* Value::name_space() const {
  const auto* pointer = std::get_if<std::shared_ptr<Namespace>>(&data);
  return pointer == nullptr ? nullptr : pointer->get();
}

int Value::depth() const {
  if (const auto* held = shared<List>(*this)) return held->depth;
  if (const auto* held = shared<Dictionary>(*this)) return held->depth;
  return 0;
}

bool truth(const Value& value) {
  if (const auto* boolean = std::get_if<bool>(&value.data)) return *boolean;
  if (const auto* integer = value.integer()) return *integer != 0;
  if (const auto* text = value.string()) return !text->empty();
  if (const auto* list = value.list()) return !list->empty();
  if (const auto* dictionary = value.dictionary()) return !dictionary->empty();
  return value.name_space() != nullptr;
}

bool equal(const Value& left, const Value& right) {
  const auto number = [](const Value& value) -> const Value {
    const auto* boolean = std::get_if<bool>(&value.data);
    return boolean == nullptr ? value : Value(static_cast<std::int64_t>(*boolean));
  };
  const Value a = number(left);
  const Value b = number(right);
  if (a.data.index() != b.data.index()) return false;
  if (const auto* integer = a.integer()) return *integer == *b.integer();
  if (const auto* text = a.string()) return *text == *b.string();
  if (const auto* list = a.list()) return list == b.list() || (list->empty() && b.list()->empty());
  if (const auto* entries = a.dictionary())
    return entries == b.dictionary() || (entries->empty() && b.dictionary()->empty());
  return a.name_space() == b.name_space();
}

bool append_text(const Value& value, std::string& text) {
  if (value.is_undefined()) return true;
  if (value.is_none()) {
    text += "None";
  } else if (const auto* boolean = std::get_if<bool>(&value.data)) {
    text += *boolean ? "True" : "False";
  } else if (const auto* integer = value.integer()) {
    text += std::to_string(*integer);
  } else if (const auto* string = value.string()) {
    text += *string;
  } else {
    return false;
  }
  return true;
}

std::size_t text_size(const Value& value) {
  const auto* text = value.string();
  return text == nullptr ? 0 : text->size();
}

std::string type_name(const Value& value) {
  static constexpr std::array names{"undefined", "none",   "a boolean",    "an integer",
                                    "a string",  "a list", "a dictionary", "a namespace"};
  return names.at(value.data.index());
}

const Value* find_entry(const Dictionary& dictionary, const std::string& key) {
  const auto it =
      std::find_if(dictionary.begin(), dictionary.end(), [&](const auto& e) { return e.first == key; });
  return it == dictionary.end() ? nullptr : &it->second;
}

void set_entry(Dictionary& dictionary, const std::string& key, Value value) {
  const auto it =
      std::find_if(dictionary.begin(), dictionary.end(), [&](const auto& e) { return e.first == key; });
  if (it != dictionary.end()) {
    it->second = std::move(value);
  } else {
    dictionary.emplace_back(key, std::move(value));
  }
}

}  // namespace draftscope::engine::jinja
