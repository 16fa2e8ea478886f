// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/functions.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

// tojson occurs in branches about tools, which are not taken here; evaluating it fails.
constexpr std::array<std::string_view, 14> filters{"default", "trim",   "length",     "count",     "string",
                                                   "list",    "items",  "first",      "last",      "join",
                                                   "safe",    "tojson", "selectattr", "rejectattr"};
constexpr std::array<std::string_view, 14> tests{"defined",  "undefined", "none",    "string", "mapping",
                                                 "iterable", "sequence",  "boolean", "true",   "false",
                                                 "number",   "integer",   "equalto", "eq"};
constexpr std::array<std::string_view, 10> methods{"strip", "lstrip",     "rstrip",   "items", "keys",
                                                   "get",   "startswith", "endswith", "split", "replace"};
constexpr std::array<std::string_view, 3> functions{"raise_exception", "namespace", "strftime_now"};

template <std::size_t Count>
bool contains(const std::array<std::string_view, Count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Python's str.strip removes Unicode white space and the four information separators.
bool is_python_space(char32_t c) {
  return tokenizer::is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

Result<Value> strip(std::string_view text, const Arguments& arguments, bool left, bool right,
                    Budget& budget) {
  const auto* set = arguments.empty() ? nullptr : arguments[0].string();
  const auto strips = [&](std::string_view character) -> Result<bool> {
    if (set == nullptr) return is_python_space(tokenizer::scan_utf8(character).code_point);
    DRAFTSCOPE_TRY(budget.bytes_read(set->size()));
    return set->find(character) != std::string::npos;
  };
  DRAFTSCOPE_TRY(budget.bytes_read(text.size()));
  while (left && !text.empty()) {
    const std::string_view first = text.substr(0, tokenizer::scan_utf8(text).length);
    DRAFTSCOPE_TRY_ASSIGN(const bool stripped, strips(first));
    if (!stripped) break;
    text.remove_prefix(first.size());
  }
  while (right && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    DRAFTSCOPE_TRY_ASSIGN(const bool stripped, strips(text.substr(begin)));
    if (!stripped) break;
    text.remove_suffix(text.size() - begin);
  }
  return budget.text(std::string(text));
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

Result<Value> length(const Value& value, Budget& budget) {
  if (const auto* text = value.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    return Value(count_characters(*text));
  }
  if (const auto* list = value.list()) return Value(static_cast<std::int64_t>(list->size()));
  if (const auto* entries = value.dictionary()) return Value(static_cast<std::int64_t>(entries->size()));
  return fail("{} has no length, expected a string, a list or a dictionary", type_name(value));
}

Result<Value> items(const Value& value, Budget& budget) {
  if (value.dictionary() == nullptr) return fail("{} has no items, expected a dictionary", type_name(value));
  DRAFTSCOPE_TRY(budget.steps(value.dictionary()->size()));
  List pairs;
  for (const auto& [key, item] : *value.dictionary()) {
    List pair(2);
    DRAFTSCOPE_TRY_ASSIGN(pair[0], budget.text(key));
    pair[1] = item;
    DRAFTSCOPE_TRY_ASSIGN(auto made, budget.list(std::move(pair)));
    pairs.push_back(std::move(made));
  }
  return budget.list(std::move(pairs));
}

Result<Value> select(const Value& value, const Arguments& arguments, bool wanted, Budget& budget) {
  const auto* list = value.list();
  const bool by_equality = arguments.size() == 3 && arguments[1].string() != nullptr &&
                           (*arguments[1].string() == "equalto" || *arguments[1].string() == "==");
  if (list == nullptr || !by_equality || arguments[0].string() == nullptr)
    return fail("selectattr and rejectattr: found another test, expected 'equalto'");
  DRAFTSCOPE_TRY(budget.steps(list->size()));
  List chosen;
  for (const Value& item : *list) {
    Value attribute;
    if (item.dictionary() != nullptr) {
      DRAFTSCOPE_TRY_ASSIGN(attribute, entry(*item.dictionary(), *arguments[0].string(), budget));
    }
    DRAFTSCOPE_TRY_ASSIGN(const bool found, equal(attribute, arguments[2], budget));
    if (found == wanted) chosen.push_back(item);
  }
  return budget.list(std::move(chosen));
}

Result<Value> join(const List& list, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(list.size()));
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && !arguments.empty() && !append_text(arguments[0], text))
      return fail("join: the separator has no text, expected a string");
    if (text.size() > longest_text)
      return fail("join: the text is too long, expected at most {} bytes", longest_text);
    if (!append_text(list[i], text)) return fail("join of {} is not implemented", type_name(list[i]));
  }
  DRAFTSCOPE_TRY(budget.bytes_read(text.size()));
  return budget.text(std::move(text));
}

Result<Value> replace(const std::string& text, const std::string& from, const std::string& to,
                      Budget& budget) {
  if (from.empty()) return fail("replace of an empty string is not implemented");
  DRAFTSCOPE_TRY(budget.bytes_read(text.size() + from.size()));
  std::string replaced;
  std::size_t copied = 0;
  for (auto at = find_text(text, from); at != std::string::npos; at = find_text(text, from, copied)) {
    replaced.append(text, copied, at - copied).append(to);
    if (replaced.size() > longest_text)
      return fail("replace: the text is too long, expected at most {} bytes", longest_text);
    DRAFTSCOPE_TRY(budget.steps(1));
    copied = at + from.size();
  }
  replaced.append(text, copied, std::string::npos);
  DRAFTSCOPE_TRY(budget.bytes_read(replaced.size()));
  return budget.text(std::move(replaced));
}

Result<Value> split(const std::string& text, const std::string& separator, Budget& budget) {
  if (separator.empty()) return fail("split: found an empty separator, expected one of a character or more");
  DRAFTSCOPE_TRY(budget.bytes_read(text.size() + separator.size()));
  List parts;
  std::size_t begin = 0;
  while (begin != std::string::npos) {
    DRAFTSCOPE_TRY(budget.steps(1));
    const std::size_t at = find_text(text, separator, begin);
    const bool last = at == std::string::npos;
    DRAFTSCOPE_TRY_ASSIGN(auto part, budget.text(text.substr(begin, last ? at : at - begin)));
    parts.push_back(std::move(part));
    begin = last ? at : at + separator.size();
  }
  return budget.list(std::move(parts));
}

Result<Value> today(const std::string& format, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(format.size()));
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::array<char, 256> text{};
  if (localtime_r(&now, &local) == nullptr) return fail("strftime_now: found no local time, expected one");
    // The format comes from the template: Hugging Face passes it to strftime in the same way.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const std::size_t size = std::strftime(text.data(), text.size(), format.c_str(), &local);
#pragma GCC diagnostic pop
  return budget.text(std::string(text.data(), size));
}

}  // namespace

bool is_known_filter(std::string_view name) {
  return contains(filters, name);
}
bool is_known_test(std::string_view name) {
  return contains(tests, name);
}
bool is_known_method(std::string_view name) {
  return contains(methods, name);
}
bool is_known_function(std::string_view name) {
  return contains(functions, name);
}

Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget) {
  if (name == "default" && arguments.size() == 1) return value.is_undefined() ? arguments[0] : value;
  if (name == "length" || name == "count") return length(value, budget);
  if (name == "items") return items(value, budget);
  if (name == "selectattr" || name == "rejectattr")
    return select(value, arguments, name == "selectattr", budget);
  if (name == "trim" || name == "string" || name == "safe") {
    std::string text;
    if (!append_text(value, text)) return fail("{} of {} is not implemented", name, type_name(value));
    if (name == "trim") return strip(text, arguments, true, true, budget);
    DRAFTSCOPE_TRY(budget.bytes_read(text.size()));
    return budget.text(std::move(text));
  }
  const auto* list = value.list();
  if (list != nullptr) {
    if (name == "list") return value;
    if (name == "join") return join(*list, arguments, budget);
    if (name == "first" || name == "last")
      return list->empty() ? Value() : name == "first" ? list->front() : list->back();
  }
  return fail("filter '{}' of {} is not implemented", name, type_name(value));
}

Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget) {
  const auto* boolean = std::get_if<bool>(&value.data);
  if (name == "defined") return !value.is_undefined();
  if (name == "undefined") return value.is_undefined();
  if (name == "none") return value.is_none();
  if (name == "string") return value.string() != nullptr;
  if (name == "mapping") return value.dictionary() != nullptr;
  if (name == "iterable" || name == "sequence")
    return value.is_container() || value.string() != nullptr || value.is_undefined();
  if (name == "boolean") return boolean != nullptr;
  if (name == "true") return boolean != nullptr && *boolean;
  if (name == "false") return boolean != nullptr && !*boolean;
  if (name == "integer") return value.integer() != nullptr;
  if (name == "number") return value.integer() != nullptr || boolean != nullptr;
  if (arguments.size() != 1) return fail("test '{}': found another number of arguments, expected one", name);
  return equal(value, arguments[0], budget);
}

Result<Value> call_method(const std::string& name, const Value& value, const Arguments& arguments,
                          Budget& budget) {
  const auto* text = value.string();
  const auto argument = [&](std::size_t i) { return i < arguments.size() ? arguments[i].string() : nullptr; };
  if (text != nullptr) {
    if (name == "strip" || name == "lstrip" || name == "rstrip")
      return strip(*text, arguments, name != "rstrip", name != "lstrip", budget);
    if (name == "startswith" || name == "endswith") DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    if (name == "startswith" && argument(0) != nullptr) return Value(text->rfind(*argument(0), 0) == 0);
    if (name == "endswith" && argument(0) != nullptr)
      return Value(text->size() >= argument(0)->size() &&
                   text->compare(text->size() - argument(0)->size(), std::string::npos, *argument(0)) == 0);
    if (name == "split" && arguments.size() == 1 && argument(0) != nullptr)
      return split(*text, *argument(0), budget);
    if (name == "replace" && arguments.size() == 2 && argument(0) != nullptr && argument(1) != nullptr)
      return replace(*text, *argument(0), *argument(1), budget);
  }
  if (const auto* entries = value.dictionary()) {
    if (name == "items") return items(value, budget);
    if (name == "get" && argument(0) != nullptr) {
      DRAFTSCOPE_TRY_ASSIGN(Value found, entry(*entries, *argument(0), budget));
      if (!found.is_undefined()) return found;
      return arguments.size() > 1 ? arguments[1] : Value(None{});
    }
    if (name == "keys") return keys(*entries, budget);
  }
  return fail("method '{}' of {} with {} arguments is not implemented", name, type_name(value),
              arguments.size());
}

Result<Value> call_function(const std::string& name, const Arguments& arguments, Dictionary keywords,
                            Budget& budget) {
  if (name == "namespace") return Value(std::make_shared<Namespace>(Namespace{std::move(keywords)}));
  const auto* text = arguments.size() == 1 ? arguments[0].string() : nullptr;
  if (text == nullptr) return fail("{}: found other arguments, expected one string", name);
  if (name == "strftime_now") return today(*text, budget);
  return fail("{}", excerpt(*text));
}

Result<Value> keys(const Dictionary& entries, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(entries.size()));
  List names;
  for (const auto& [key, item] : entries) {
    DRAFTSCOPE_TRY_ASSIGN(auto name, budget.text(key));
    names.push_back(std::move(name));
  }
  return budget.list(std::move(names));
}

Result<Value> entry(const Dictionary& dictionary, const std::string& key, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(dictionary.size()));
  DRAFTSCOPE_TRY(budget.bytes_read(key.size()));
  const Value* found = find_entry(dictionary, key);
  return found == nullptr ? Value() : *found;
}

Result<bool> equal(const Value& left, const Value& right, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(std::min(text_size(left), text_size(right))));
  return equal(left, right);
}

std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) {
  // std::string::find takes time proportional to the product of the lengths for repeated letters.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace draftscope::engine::jinja
