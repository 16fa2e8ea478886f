// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/functions.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

// tojson stands in branches about tools, which are not taken here; where it is reached it fails.
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

// Python's str.strip takes Unicode white space and the four information separators.
bool is_python_space(char32_t c) {
  return tokenizer::is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

std::string strip(std::string_view text, const Arguments& arguments, bool left, bool right) {
  const auto* set = arguments.empty() ? nullptr : arguments[0].string();
  const auto strips = [&](std::string_view character) {
    return set == nullptr ? is_python_space(tokenizer::scan_utf8(character).code_point)
                          : set->find(character) != std::string::npos;
  };
  while (left && !text.empty()) {
    const std::string_view first = text.substr(0, tokenizer::scan_utf8(text).length);
    if (!strips(first)) break;
    text.remove_prefix(first.size());
  }
  while (right && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    if (!strips(text.substr(begin))) break;
    text.remove_suffix(text.size() - begin);
  }
  return std::string(text);
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

Result<Value> length(const Value& value) {
  if (const auto* text = value.string()) return Value(count_characters(*text));
  if (const auto* list = value.list()) return Value(static_cast<std::int64_t>(list->size()));
  if (const auto* entries = value.dictionary()) return Value(static_cast<std::int64_t>(entries->size()));
  return fail("{} has no length", type_name(value));
}

Result<Value> items(const Value& value) {
  if (value.dictionary() == nullptr) return fail("{} has no items", type_name(value));
  List pairs;
  for (const auto& [key, item] : *value.dictionary()) pairs.emplace_back(List{Value(key), item});
  return Value(std::move(pairs));
}

Result<Value> select(const Value& value, const Arguments& arguments, bool wanted) {
  const auto* list = value.list();
  const bool by_equality = arguments.size() == 3 && arguments[1].string() != nullptr &&
                           (*arguments[1].string() == "equalto" || *arguments[1].string() == "==");
  if (list == nullptr || !by_equality || arguments[0].string() == nullptr)
    return fail("selectattr and rejectattr are implemented with 'equalto' only");
  List chosen;
  for (const Value& item : *list) {
    const Value attribute =
        item.dictionary() == nullptr ? Value() : entry(*item.dictionary(), *arguments[0].string());
    if (equal(attribute, arguments[2]) == wanted) chosen.push_back(item);
  }
  return Value(std::move(chosen));
}

Result<Value> join(const List& list, const Arguments& arguments) {
  std::string text;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && !arguments.empty() && !append_text(arguments[0], text)) return fail("join: a bad separator");
    if (text.size() > longest_value) return fail("join: the text is too long");
    if (!append_text(list[i], text)) return fail("join of {} is not implemented", type_name(list[i]));
  }
  return Value(std::move(text));
}

Result<Value> replace(const std::string& text, const std::string& from, const std::string& to) {
  if (from.empty()) return fail("replace of an empty string is not implemented");
  std::string replaced;
  std::size_t copied = 0;
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, copied)) {
    replaced.append(text, copied, at - copied).append(to);
    if (replaced.size() > longest_value) return fail("replace: the text is too long");
    copied = at + from.size();
  }
  return Value(replaced.append(text, copied, std::string::npos));
}

Result<Value> split(const std::string& text, const std::string& separator) {
  if (separator.empty()) return fail("split at an empty string");
  List parts;
  std::size_t begin = 0;
  for (auto at = text.find(separator); at != std::string::npos; at = text.find(separator, begin)) {
    parts.emplace_back(text.substr(begin, at - begin));
    begin = at + separator.size();
  }
  parts.emplace_back(text.substr(begin));
  return Value(std::move(parts));
}

Result<Value> today(const std::string& format) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  std::array<char, 256> text{};
  if (localtime_r(&now, &local) == nullptr) return fail("strftime_now: no local time");
    // The format is the template's own: Hugging Face hands it to strftime the same way.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const std::size_t size = std::strftime(text.data(), text.size(), format.c_str(), &local);
#pragma GCC diagnostic pop
  return Value(std::string(text.data(), size));
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

Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments) {
  if (name == "default" && arguments.size() == 1) return value.is_undefined() ? arguments[0] : value;
  if (name == "length" || name == "count") return length(value);
  if (name == "items") return items(value);
  if (name == "selectattr" || name == "rejectattr") return select(value, arguments, name == "selectattr");
  if (name == "trim" || name == "string" || name == "safe") {
    std::string text;
    if (!append_text(value, text)) return fail("{} of {} is not implemented", name, type_name(value));
    return Value(name == "trim" ? strip(text, arguments, true, true) : text);
  }
  const auto* list = value.list();
  if (list != nullptr) {
    if (name == "list") return value;
    if (name == "join") return join(*list, arguments);
    if (name == "first" || name == "last")
      return list->empty() ? Value() : name == "first" ? list->front() : list->back();
  }
  return fail("filter '{}' of {} is not implemented", name, type_name(value));
}

Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments) {
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
  if (arguments.size() != 1) return fail("test '{}' takes one argument", name);
  return equal(value, arguments[0]);
}

Result<Value> call_method(const std::string& name, const Value& value, const Arguments& arguments) {
  const auto* text = value.string();
  const auto argument = [&](std::size_t i) { return i < arguments.size() ? arguments[i].string() : nullptr; };
  if (text != nullptr) {
    if (name == "strip" || name == "lstrip" || name == "rstrip")
      return Value(strip(*text, arguments, name != "rstrip", name != "lstrip"));
    if (name == "startswith" && argument(0) != nullptr) return Value(text->rfind(*argument(0), 0) == 0);
    if (name == "endswith" && argument(0) != nullptr)
      return Value(text->size() >= argument(0)->size() &&
                   text->compare(text->size() - argument(0)->size(), std::string::npos, *argument(0)) == 0);
    if (name == "split" && arguments.size() == 1 && argument(0) != nullptr) return split(*text, *argument(0));
    if (name == "replace" && arguments.size() == 2 && argument(0) != nullptr && argument(1) != nullptr)
      return replace(*text, *argument(0), *argument(1));
  }
  if (const auto* entries = value.dictionary()) {
    if (name == "items") return items(value);
    if (name == "get" && argument(0) != nullptr) {
      Value found = entry(*entries, *argument(0));
      if (!found.is_undefined()) return found;
      return arguments.size() > 1 ? arguments[1] : Value(None{});
    }
    if (name == "keys") {
      List keys;
      for (const auto& [key, item] : *entries) keys.emplace_back(key);
      return Value(std::move(keys));
    }
  }
  return fail("method '{}' of {} with {} arguments is not implemented", name, type_name(value),
              arguments.size());
}

Result<Value> call_function(const std::string& name, const Arguments& arguments, Dictionary keywords) {
  if (name == "namespace") return Value(std::make_shared<Namespace>(Namespace{std::move(keywords)}));
  const auto* text = arguments.size() == 1 ? arguments[0].string() : nullptr;
  if (text == nullptr) return fail("{} takes one string", name);
  if (name == "strftime_now") return today(*text);
  return fail("{}", *text);
}

}  // namespace draftscope::engine::jinja
