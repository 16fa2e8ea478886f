// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {
namespace {

constexpr int widest = 10'000;

// How one value is written: the parts of %-08.2f and of {:>+10,.2f}.
struct Specification {
  std::string fill = " ";
  char align = '\0';  // < > ^ = or none
  char sign = '-';
  bool alternative = false;
  bool zero = false;
  bool thousands = false;
  int width = 0;
  int precision = -1;
  char kind = '\0';
};

int take_number(std::string_view& text, int missing) {
  int number = missing;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return read.ec == std::errc() ? number : missing;
}

bool take(std::string_view& text, char mark) {
  if (text.empty() || text[0] != mark) return false;
  text.remove_prefix(1);
  return true;
}

std::string with_thousands(std::string digits) {
  std::size_t end = std::min(digits.find_first_of(".e"), digits.size());
  while (end > 3) {
    end -= 3;
    digits.insert(end, ",");
  }
  return digits;
}

// Digits of a number without its sign.
Result<std::string> digits_of(const Value& value, const Specification& form) {
  const auto whole = value.integer();
  const char kind = form.kind;
  if (whole && std::string_view("dixXob").find(kind == '\0' ? 'd' : kind) != std::string_view::npos) {
    const std::uint64_t size =
        *whole < 0 ? 0 - static_cast<std::uint64_t>(*whole) : static_cast<std::uint64_t>(*whole);
    const std::string prefix =
        form.alternative && std::string_view("xXob").find(kind) != std::string_view::npos
            ? std::string("0") + kind
            : "";
    if (kind == 'x') return prefix + fmt::format("{:x}", size);
    if (kind == 'X') return prefix + fmt::format("{:X}", size);
    if (kind == 'o') return prefix + fmt::format("{:o}", size);
    if (kind == 'b') return prefix + fmt::format("{:b}", size);
    return fmt::format("{}", size);
  }
  const double size = std::fabs(*value.number());
  const int precision = form.precision < 0 ? 6 : form.precision;
  if (kind == 'f' || kind == 'F') return fmt::format("{:.{}f}", size, precision);
  if (kind == 'e') return fmt::format("{:.{}e}", size, precision);
  if (kind == 'g' || kind == 'G') return fmt::format("{:.{}g}", size, precision);
  if (kind == '%') return fmt::format("{:.{}f}%", size * 100, precision);
  if (kind == 'd' || kind == 'i') return fmt::format("{:.0f}", std::trunc(size));
  if (kind != '\0') return fail("a format {} of a number is not implemented", quote(std::string(1, kind)));
  return form.precision < 0 ? number_text(size) : fmt::format("{:.{}g}", size, form.precision);
}

Result<std::string> formatted(const Value& value, const Specification& form, Budget& budget) {
  if (form.width > widest || form.precision > widest)
    return fail("a format has a width of {}, expected at most {}", std::max(form.width, form.precision),
                widest);
  std::string body;
  std::string sign;
  const bool as_text =
      form.kind == 's' || !value.number() || (form.kind == '\0' && std::holds_alternative<bool>(value.data));
  if (as_text) {
    DRAFTSCOPE_TRY_ASSIGN(body, plain_text(value, budget));
    if (form.kind != 's' && form.kind != '\0')
      return fail("a format {} of {} is not possible, expected a number", quote(std::string(1, form.kind)),
                  type_name(value));
    if (form.precision >= 0) {
      const auto letters = characters(body);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < std::min(letters.size(), static_cast<std::size_t>(form.precision)); ++i)
        bytes += letters[i].size();
      body.resize(bytes);
    }
  } else {
    DRAFTSCOPE_TRY_ASSIGN(body, digits_of(value, form));
    if (form.thousands) body = with_thousands(std::move(body));
    sign = std::signbit(*value.number()) ? "-" : form.sign == '-' ? "" : std::string(1, form.sign);
  }
  const std::int64_t used = count_characters(body) + static_cast<std::int64_t>(sign.size());
  std::string padding;
  for (std::int64_t i = used; i < form.width; ++i) padding += form.zero ? "0" : form.fill;
  const char align = form.align != '\0' ? form.align : form.zero && !as_text ? '=' : as_text ? '<' : '>';
  if (align == '<') return sign + body + padding;
  if (align == '=') return sign + padding + body;
  if (align == '>') return padding + sign + body;
  return centered(sign + body, form.width, form.fill);
}

Result<Specification> read_specification(std::string_view text) {
  static constexpr std::string_view aligns = "<>=^";
  Specification form;
  const auto letters = characters(text);
  if (letters.size() > 1 && aligns.find(letters[1]) != std::string_view::npos) {
    form.fill = letters[0];
    text.remove_prefix(letters[0].size());
  }
  if (!text.empty() && aligns.find(text[0]) != std::string_view::npos) {
    form.align = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && (text[0] == '+' || text[0] == '-' || text[0] == ' ')) {
    form.sign = text[0];
    text.remove_prefix(1);
  }
  form.alternative = take(text, '#');
  form.zero = take(text, '0');
  form.width = take_number(text, 0);
  form.thousands = take(text, ',');
  if (take(text, '.')) form.precision = take_number(text, 0);
  if (!text.empty()) form.kind = text[0];
  if (text.size() > 1 || form.width < 0 || form.precision < -1)
    return fail("a format ends in {}, expected a letter for the kind", quote(text));
  return form;
}

}  // namespace

Result<Value> percent_format(const std::string& text, const Value& values, Budget& budget) {
  const List one{values};
  const bool many = values.list() != nullptr && values.form() == Form::tuple;
  const List& list = many ? *values.list() : one;
  std::size_t used = 0;
  bool by_name = false;
  std::string output;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t mark = std::min(rest.find('%'), rest.size());
    output += rest.substr(0, mark);
    rest.remove_prefix(mark);
    if (!take(rest, '%')) break;
    if (take(rest, '%')) {
      output += '%';
      continue;
    }
    Value value;
    if (take(rest, '(')) {
      const std::size_t close = rest.find(')');
      if (close == std::string_view::npos || values.dictionary() == nullptr)
        return fail("%: found a name, expected a dictionary beside the text");
      DRAFTSCOPE_TRY_ASSIGN(const Value key, budget.text(std::string(rest.substr(0, close))));
      DRAFTSCOPE_TRY_ASSIGN(value, entry(*values.dictionary(), key, budget));
      rest.remove_prefix(close + 1);
      by_name = true;
    }
    Specification form;
    for (; !rest.empty() && std::string_view("-+ #0").find(rest[0]) != std::string_view::npos;
         rest.remove_prefix(1)) {
      if (rest[0] == '-') form.align = '<';
      if (rest[0] == '+' || (rest[0] == ' ' && form.sign == '-')) form.sign = rest[0];
      form.alternative = form.alternative || rest[0] == '#';
      form.zero = form.zero || rest[0] == '0';
    }
    form.zero = form.zero && form.align != '<';
    form.width = take_number(rest, 0);
    if (take(rest, '.')) form.precision = take_number(rest, 0);
    if (rest.empty()) return fail("%: the text ends in a format, expected a letter for the kind");
    form.kind = rest[0];
    rest.remove_prefix(1);
    if (!by_name) {
      if (used == list.size()) return fail("%: found {} values, expected one for each format", list.size());
      value = list[used++];
    }
    const bool as_text = form.kind == 's' || form.kind == 'r';
    if (form.kind == 'r') {
      DRAFTSCOPE_TRY_ASSIGN(std::string literal, literal_text(value, budget));
      DRAFTSCOPE_TRY_ASSIGN(value, budget.text(std::move(literal)));
    }
    if (as_text) form.kind = 's';
    if (as_text && form.align == '\0') form.align = '>';
    DRAFTSCOPE_TRY_ASSIGN(const std::string part, formatted(value, form, budget));
    output += part;
    DRAFTSCOPE_TRY(budget.bytes_read(part.size()));
    if (output.size() > longest_text)
      return fail("%: the text is too long, expected at most {} bytes", longest_text);
  }
  if (!by_name && used != list.size() && (many || values.dictionary() == nullptr))
    return fail("%: found {} values, expected {}", list.size(), used);
  return budget.text(std::move(output));
}

Result<Value> brace_format(const std::string& text, const List& positional, const Variables& named,
                           Budget& budget) {
  std::string output;
  std::size_t next = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t mark = std::min(rest.find_first_of("{}"), rest.size());
    output += rest.substr(0, mark);
    rest.remove_prefix(mark);
    if (rest.empty()) break;
    if (rest.substr(0, 2) == "{{" || rest.substr(0, 2) == "}}") {
      output += rest[0];
      rest.remove_prefix(2);
      continue;
    }
    const std::size_t close = rest.find('}');
    if (rest[0] == '}' || close == std::string_view::npos)
      return fail("format: found a single brace, expected {{{{ or }}}} for one");
    std::string_view field = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    const std::size_t colon = std::min(field.find(':'), field.size());
    const std::string_view form_text = field.substr(std::min(colon + 1, field.size()));
    field = field.substr(0, colon);
    const std::size_t conversion = std::min(field.find('!'), field.size());
    const bool literal = field.substr(conversion) == "!r";
    field = field.substr(0, conversion);
    const std::string name(field.substr(0, field.find_first_of(".[")));
    if (name.size() != field.size()) return fail("format: a member of {} is not implemented", quote(name));
    std::string_view digits = name;
    const bool indexed = name.empty() || (name[0] >= '0' && name[0] <= '9');
    const std::size_t index = name.empty() ? next++ : static_cast<std::size_t>(take_number(digits, 0));
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const auto& entry) { return entry.first == name; });
    if (indexed ? index >= positional.size() : found == named.end())
      return fail("format: found no argument {}, expected one", quote(name));
    Value value = indexed ? positional[index] : found->second;
    if (literal) {
      DRAFTSCOPE_TRY_ASSIGN(std::string written, literal_text(value, budget));
      DRAFTSCOPE_TRY_ASSIGN(value, budget.text(std::move(written)));
    }
    DRAFTSCOPE_TRY_ASSIGN(const Specification form, read_specification(form_text));
    DRAFTSCOPE_TRY_ASSIGN(const std::string part, formatted(value, form, budget));
    output += part;
    DRAFTSCOPE_TRY(budget.bytes_read(part.size() + 1));
    if (output.size() > longest_text)
      return fail("format: the text is too long, expected at most {} bytes", longest_text);
  }
  return budget.text(std::move(output));
}

}  // namespace draftscope::engine::jinja
