// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/texts.h"

#include <utf8proc.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

Result<void> check_length(const std::string& text) {
  if (text.size() > longest_text)
    return fail("the text is too long, expected at most {} bytes", longest_text);
  return {};
}

bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return c == ' ';
    default:
      return true;
  }
}

void append_quoted(std::string_view text, std::string& output) {
  const bool doubles = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char mark = doubles ? '"' : '\'';
  output += mark;
  for (const std::string_view character : characters(text)) {
    static constexpr std::string_view plain = "\n\r\t\\";
    static constexpr std::string_view names = "nrt\\";
    const char32_t c = tokenizer::scan_utf8(character).code_point;
    if (const auto at = plain.find(character[0]); at != std::string_view::npos) {
      (output += '\\') += names[at];
    } else if (character[0] == mark) {
      (output += '\\') += mark;
    } else if (is_printable(c)) {
      output += character;
    } else {
      output += c < 0x100     ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                : c < 0x10000 ? fmt::format("\\u{:04x}", static_cast<unsigned>(c))
                              : fmt::format("\\U{:08x}", static_cast<unsigned>(c));
    }
  }
  output += mark;
}

Result<void> append_literal(const Value& value, std::string& output, Budget& budget);

Result<void> append_members(const List& list, std::string& output, Budget& budget) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) output += ", ";
    DRAFTSCOPE_TRY(append_literal(list[i], output, budget));
  }
  return {};
}

Result<void> append_list(const List& list, Form form, std::string& output, Budget& budget) {
  if (form == Form::range) {
    const std::int64_t first = list.empty() ? 0 : *list.front().integer();
    const std::int64_t step = list.size() > 1 ? *list[1].integer() - first : 1;
    output += fmt::format("range({}, {}", first, list.empty() ? 0 : *list.back().integer() + step);
    output += step == 1 ? ")" : fmt::format(", {})", step);
    return {};
  }
  const bool tuple = form == Form::tuple || form == Form::group;
  const char* name = form == Form::keys     ? "dict_keys("
                     : form == Form::values ? "dict_values("
                     : form == Form::items  ? "dict_items("
                                            : "";
  (output += name) += tuple ? '(' : '[';
  DRAFTSCOPE_TRY(append_members(list, output, budget));
  if (tuple && list.size() == 1) output += ',';
  output += tuple ? ')' : ']';
  if (*name != '\0') output += ')';
  return {};
}

Result<void> append_literal(const Value& value, std::string& output, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(1));
  DRAFTSCOPE_TRY(check_length(output));
  if (const auto* text = value.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    if (value.form() == Form::markup) output += "Markup(";
    append_quoted(*text, output);
    if (value.form() == Form::markup) output += ')';
  } else if (const auto* list = value.list()) {
    return append_list(*list, value.form(), output, budget);
  } else if (const auto* entries = value.dictionary()) {
    output += '{';
    for (std::size_t i = 0; i < entries->size(); ++i) {
      if (i > 0) output += ", ";
      DRAFTSCOPE_TRY(append_literal((*entries)[i].first, output, budget));
      output += ": ";
      DRAFTSCOPE_TRY(append_literal((*entries)[i].second, output, budget));
    }
    output += '}';
  } else if (value.is_undefined()) {
    output += "Undefined";
  } else if (value.object() != nullptr) {
    return fail("printing {} is not implemented", type_name(value));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const std::string simple, plain_text(value, budget));
    output += simple;
  }
  return {};
}

void append_json_string(std::string_view text, bool only_ascii, std::string& output) {
  static constexpr std::string_view plain = "\"\\\b\f\n\r\t";
  static constexpr std::string_view names = "\"\\bfnrt";
  output += '"';
  for (const std::string_view character : characters(text)) {
    const char32_t c = tokenizer::scan_utf8(character).code_point;
    if (const auto at = plain.find(character[0]); at != std::string_view::npos) {
      (output += '\\') += names[at];
    } else if (c < 0x20 || (only_ascii && c > 0x7E && c < 0x10000)) {
      output += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (only_ascii && c >= 0x10000) {
      output += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + static_cast<unsigned>((c - 0x10000U) >> 10U),
                            0xDC00U + static_cast<unsigned>((c - 0x10000U) & 0x3FFU));
    } else {
      output += character;
    }
  }
  output += '"';
}

class JsonWriter {
 public:
  JsonWriter(const JsonForm& form, Budget& budget) : form_(form), budget_(budget) {}

  Result<void> write(const Value& value) {
    DRAFTSCOPE_TRY(budget_.steps(1));
    DRAFTSCOPE_TRY(check_length(output));
    if (const auto* text = value.string()) {
      DRAFTSCOPE_TRY(budget_.bytes_read(text->size()));
      append_json_string(*text, form_.only_ascii, output);
      return {};
    }
    if (value.dictionary() != nullptr) return write_entries(*value.dictionary());
    const Form kind = value.form();
    if (value.list() != nullptr && (kind == Form::plain || kind == Form::tuple || kind == Form::group))
      return write_members(*value.list());
    DRAFTSCOPE_TRY_ASSIGN(const std::string simple, simple_text(value));
    output += simple;
    return {};
  }

  std::string output;

 private:
  static Result<std::string> simple_text(const Value& value) {
    if (value.is_none()) return "null";
    if (const auto* boolean = std::get_if<bool>(&value.data)) return *boolean ? "true" : "false";
    if (const auto* number = std::get_if<double>(&value.data)) {
      if (std::isnan(*number)) return "NaN";
      if (std::isinf(*number)) return *number < 0 ? "-Infinity" : "Infinity";
      return number_text(*number);
    }
    if (const auto whole = value.integer()) return std::to_string(*whole);
    return fail("tojson of {} is not possible, expected a value that JSON has", type_name(value));
  }

  void break_line() {
    if (form_.indent < 0) return;
    output += '\n';
    output.append(static_cast<std::size_t>(form_.indent) * level_, ' ');
  }

  Result<void> write_members(const List& list) {
    output += '[';
    ++level_;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) output += form_.item_separator;
      break_line();
      DRAFTSCOPE_TRY(write(list[i]));
    }
    --level_;
    if (!list.empty()) break_line();
    output += ']';
    return {};
  }

  Result<void> write_entries(const Dictionary& entries) {
    std::vector<const Dictionary::value_type*> order;
    order.reserve(entries.size());
    for (const auto& entry : entries) order.push_back(&entry);
    if (form_.sorts_keys) {
      if (std::any_of(entries.begin(), entries.end(),
                      [](const auto& e) { return e.first.string() == nullptr; }))
        return fail("tojson: sort_keys found a key that is no string, expected strings");
      DRAFTSCOPE_TRY(budget_.steps(entries.size() * 16));
      std::stable_sort(order.begin(), order.end(),
                       [](const auto* a, const auto* b) { return *a->first.string() < *b->first.string(); });
    }
    output += '{';
    ++level_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) output += form_.item_separator;
      break_line();
      if (const auto* key = order[i]->first.string()) {
        append_json_string(*key, form_.only_ascii, output);
      } else {
        DRAFTSCOPE_TRY_ASSIGN(const std::string key_text, simple_text(order[i]->first));
        output += '"' + key_text + '"';
      }
      output += form_.key_separator;
      DRAFTSCOPE_TRY(write(order[i]->second));
    }
    --level_;
    if (!entries.empty()) break_line();
    output += '}';
    return {};
  }

  const JsonForm& form_;
  Budget& budget_;
  std::size_t level_ = 0;
};

// Maps each character; utf8proc has the mappings to one character, and ß is the one of daily use that has
// two.
std::string mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t), bool to_upper) {
  std::string output;
  output.reserve(text.size());
  for (const std::string_view character : characters(text)) {
    const char32_t c = tokenizer::scan_utf8(character).code_point;
    if (to_upper && c == 0xDF) {
      output += "SS";
    } else {
      tokenizer::append_utf8(output, static_cast<char32_t>(map(static_cast<utf8proc_int32_t>(c))));
    }
  }
  return output;
}

}  // namespace

std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer{};
  // Python writes the shortest digits, as a power of ten below 1e-4 and from 1e16 on.
  const double size = std::fabs(number);
  const bool power = size != 0 && (size < 1e-4 || size >= 1e16);
  const auto format = power ? std::chars_format::scientific : std::chars_format::fixed;
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, format);
  std::string text(buffer.data(), written.ptr);
  if (!power && text.find('.') == std::string::npos) text += ".0";
  return text;
}

Result<std::string> plain_text(const Value& value, Budget& budget) {
  if (value.is_undefined()) return std::string();
  if (value.is_none()) return "None";
  if (const auto* boolean = std::get_if<bool>(&value.data)) return *boolean ? "True" : "False";
  if (const auto* number = std::get_if<double>(&value.data)) return number_text(*number);
  if (const auto whole = value.integer()) return std::to_string(*whole);
  if (const auto* text = value.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    return *text;
  }
  return literal_text(value, budget);
}

Result<std::string> literal_text(const Value& value, Budget& budget) {
  std::string output;
  DRAFTSCOPE_TRY(append_literal(value, output, budget));
  return output;
}

Result<std::string> json_text(const Value& value, const JsonForm& form, Budget& budget) {
  JsonWriter writer(form, budget);
  DRAFTSCOPE_TRY(writer.write(value));
  return std::move(writer.output);
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  all.reserve(text.size());
  while (!text.empty()) {
    all.push_back(text.substr(0, tokenizer::scan_utf8(text).length));
    text.remove_prefix(all.back().size());
  }
  return all;
}

std::int64_t count_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

bool is_space(std::string_view character) {
  // Python counts the four information separators too.
  const char32_t c = tokenizer::scan_utf8(character).code_point;
  return tokenizer::is_white_space(c) || (c >= 0x1C && c <= 0x1F);
}

std::string upper(std::string_view text) {
  return mapped(text, utf8proc_toupper, true);
}

std::string lower(std::string_view text) {
  return mapped(text, utf8proc_tolower, false);
}

std::string capitalized(std::string_view text) {
  const std::size_t first = text.empty() ? 0 : tokenizer::scan_utf8(text).length;
  return upper(text.substr(0, first)) + lower(text.substr(first));
}

std::string escaped(std::string_view text) {
  std::string output;
  for (const char c : text) {
    static constexpr std::string_view marks = "&<>'\"";
    static constexpr std::array<std::string_view, 5> names{"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const auto at = marks.find(c);
    if (at == std::string_view::npos) {
      output += c;
    } else {
      output += names[at];
    }
  }
  return output;
}

std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) {
  // std::string::find takes time proportional to the product of the lengths for repeated letters.
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

Result<std::string> replaced(std::string_view text, std::string_view from, std::string_view to,
                             std::int64_t count, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(text.size() + from.size()));
  std::string output;
  std::size_t copied = 0;
  std::size_t at = 0;
  for (; count != 0; --count) {
    at = find_text(text, from, at);
    if (at == std::string_view::npos) break;
    output.append(text.substr(copied, at - copied)).append(to);
    DRAFTSCOPE_TRY(check_length(output));
    DRAFTSCOPE_TRY(budget.steps(1));
    copied = at + from.size();
    if (!from.empty()) {
      at = copied;
    } else if (at == text.size()) {
      break;
    } else {
      at += tokenizer::scan_utf8(text.substr(at)).length;
    }
  }
  output.append(text.substr(copied));
  DRAFTSCOPE_TRY(budget.bytes_read(output.size()));
  return output;
}

}  // namespace draftscope::engine::jinja
