// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <charconv>
#include <cmath>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

Form text_form(const Value& value) {
  return value.form() == Form::markup ? Form::markup : Form::plain;
}

// A filter that maps a text to a text.
template <auto Map>
Result<Value> mapped(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  return budget.text(Map(text), text_form(value));
}

std::string title_of(const std::string& text) {
  // Words begin after white space, a hyphen or an opening bracket.
  std::string output;
  bool begins = true;
  for (const std::string_view character : characters(text)) {
    output += begins ? upper(character) : lower(character);
    begins = is_space(character) || std::string_view("-({[<").find(character) != std::string_view::npos;
  }
  return output;
}

Result<Value> trim(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  const auto* set = at(arguments, 0).string();
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view inside, stripped(text, set, true, true, budget));
  return budget.text(std::string(inside), text_form(value));
}

Result<Value> string(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.string() != nullptr) {
    DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
    return budget.text(*value.string(), value.form());
  }
  DRAFTSCOPE_TRY_ASSIGN(std::string text, plain_text(value, budget));
  return budget.text(std::move(text));
}

Result<Value> safe(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(std::string text, plain_text(value, budget));
  return budget.text(std::move(text), Form::markup);
}

Result<Value> escape(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.form() == Form::markup) return value;
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  return budget.text(escaped(text), Form::markup);
}

Result<Value> force_escape(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  return budget.text(escaped(text), Form::markup);
}

Result<Value> replace(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::string from, plain_text(at(arguments, 0), budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::string to, plain_text(at(arguments, 1), budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count, integer_at(arguments, 2, -1));
  DRAFTSCOPE_TRY_ASSIGN(std::string output, replaced(text, from, to, count, budget));
  return budget.text(std::move(output), text_form(value));
}

Result<Value> indent(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(std::string text, plain_text(value, budget));
  std::string margin;
  if (const auto* given = at(arguments, 0).string()) {
    margin = *given;
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t width, integer_at(arguments, 0, 4));
    margin.assign(static_cast<std::size_t>(std::clamp<std::int64_t>(width, 0, longest_text)), ' ');
  }
  const bool blank = truth(at(arguments, 2));
  text += '\n';
  std::string output;
  bool first = true;
  for (const std::string_view line : lines_of(text)) {
    if (!first) output += '\n';
    if (first ? truth(at(arguments, 1)) : (blank || !line.empty())) output += margin;
    output += line;
    first = false;
    if (output.size() > longest_text)
      return fail("indent: the text is too long, expected at most {} bytes", longest_text);
  }
  DRAFTSCOPE_TRY(budget.bytes_read(output.size()));
  return budget.text(std::move(output), text_form(value));
}

Result<Value> center(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t width, integer_at(arguments, 0, 80));
  if (width > static_cast<std::int64_t>(longest_text))
    return fail("center: the text is too long, expected at most {} bytes", longest_text);
  return budget.text(centered(text, width, " "), text_form(value));
}

Result<Value> word_count(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  std::int64_t count = 0;
  bool inside = false;
  for (const std::string_view character : characters(text)) {
    const bool is_part = tokenizer::is_word(tokenizer::scan_utf8(character).code_point);
    if (is_part && !inside) ++count;
    inside = is_part;
  }
  return Value(count);
}

// The parts of a line between which it may be broken: white space, and words, also after a hyphen in them.
std::vector<std::vector<std::string_view>> chunks_of(std::string_view line, bool breaks_hyphens) {
  std::vector<std::vector<std::string_view>> chunks;
  const auto letters = characters(line);
  const auto letter = [&](std::size_t i) {
    return i < letters.size() && !tokenizer::is_numeric(tokenizer::scan_utf8(letters[i]).code_point) &&
           tokenizer::is_word(tokenizer::scan_utf8(letters[i]).code_point);
  };
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool after_hyphen = breaks_hyphens && i > 2 && letters[i - 1] == "-" && letter(i - 2) &&
                              letter(i - 3) && letter(i) && letter(i + 1);
    if (i == 0 || after_hyphen || is_space(letters[i]) != is_space(letters[i - 1])) chunks.emplace_back();
    chunks.back().push_back(letters[i]);
  }
  std::reverse(chunks.begin(), chunks.end());
  return chunks;
}

Result<Value> word_wrap(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t given_width, integer_at(arguments, 0, 79));
  if (given_width < 1) return fail("wordwrap: the width is {}, expected at least 1", given_width);
  const auto width = static_cast<std::size_t>(given_width);
  const bool breaks_words = at(arguments, 1).is_undefined() || truth(at(arguments, 1));
  DRAFTSCOPE_TRY_ASSIGN(const std::string line_end, text_at(arguments, 2, "\n"));
  const bool breaks_hyphens = at(arguments, 3).is_undefined() || truth(at(arguments, 3));
  std::string output;
  bool first_line = true;
  for (const std::string_view line : lines_of(text)) {
    auto chunks = chunks_of(line, breaks_hyphens);
    bool first_part = true;
    if (!first_line) output += line_end;
    while (!chunks.empty()) {
      DRAFTSCOPE_TRY(budget.steps(1));
      if (!first_part && is_space(chunks.back()[0])) chunks.pop_back();
      std::vector<std::vector<std::string_view>> taken;
      std::size_t used = 0;
      while (!chunks.empty() && used + chunks.back().size() <= width) {
        used += chunks.back().size();
        taken.push_back(std::move(chunks.back()));
        chunks.pop_back();
      }
      if (!chunks.empty() && chunks.back().size() > width) {
        auto& chunk = chunks.back();
        const std::size_t cut = breaks_words    ? std::max<std::size_t>(width - used, 1)
                                : taken.empty() ? chunk.size()
                                                : 0;
        const auto end = chunk.begin() + static_cast<std::ptrdiff_t>(cut);
        taken.emplace_back(chunk.begin(), end);
        chunk.erase(chunk.begin(), end);
        if (chunk.empty()) chunks.pop_back();
        if (taken.back().empty()) taken.pop_back();
      }
      if (!taken.empty() && is_space(taken.back()[0])) taken.pop_back();
      if (taken.empty()) continue;
      if (!first_part) output += line_end;
      first_part = false;
      for (const auto& chunk : taken)
        for (const std::string_view letter : chunk) output += letter;
    }
    first_line = false;
  }
  return budget.text(std::move(output));
}

Result<Value> truncate(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t length, integer_at(arguments, 0, 255));
  DRAFTSCOPE_TRY_ASSIGN(const std::string end, text_at(arguments, 2, "..."));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t leeway, integer_at(arguments, 3, 5));
  const std::int64_t room = length - count_characters(end);
  if (room < 0 || leeway < 0)
    return fail("truncate: the length is {}, expected at least that of the end", length);
  const auto letters = characters(text);
  if (static_cast<std::int64_t>(letters.size()) <= length + leeway)
    return budget.text(text, text_form(value));
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(letters.size(), static_cast<std::size_t>(room)); ++i)
    bytes += letters[i].size();
  std::string kept = text.substr(0, bytes);
  if (!truth(at(arguments, 1))) kept = kept.substr(0, kept.rfind(' '));
  return budget.text(kept + end, text_form(value));
}

Result<Value> strip_tags(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(std::string text, plain_text(value, budget));
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>("<!--", "-->"), {"<", ">"}}) {
    std::string kept;
    std::size_t from = 0;
    while (true) {
      const std::size_t begin = find_text(text, open, from);
      const std::size_t end = begin == std::string::npos ? begin : find_text(text, close, begin);
      kept.append(text, from, end == std::string::npos ? end : begin - from);
      if (end == std::string::npos) break;
      from = end + close.size();
    }
    text = std::move(kept);
  }
  std::string output;
  for (const std::string_view word : words_of(text)) (output += output.empty() ? "" : " ") += word;
  for (const auto& [name, mark] : {std::pair<std::string_view, std::string_view>("&lt;", "<"),
                                   {"&gt;", ">"},
                                   {"&#39;", "'"},
                                   {"&#34;", "\""},
                                   {"&quot;", "\""},
                                   {"&amp;", "&"}}) {
    DRAFTSCOPE_TRY_ASSIGN(output, replaced(output, name, mark, -1, budget));
  }
  return budget.text(std::move(output));
}

std::string url_quoted(std::string_view text, bool in_query) {
  std::string output;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !in_query);
    if (plain) {
      output += c;
    } else if (c == ' ' && in_query) {
      output += '+';
    } else {
      output += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return output;
}

Result<Value> url_encode(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.dictionary() == nullptr && value.list() == nullptr) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
    return budget.text(url_quoted(text, false));
  }
  DRAFTSCOPE_TRY_ASSIGN(const Value pairs, value.dictionary() != nullptr
                                               ? call_method("items", value, {}, budget)
                                               : Result<Value>(value));
  std::string output;
  for (const Value& pair : *pairs.list()) {
    if (pair.list() == nullptr || pair.list()->size() != 2)
      return fail("urlencode: found {}, expected a name and a value", type_name(pair));
    DRAFTSCOPE_TRY_ASSIGN(const std::string name, plain_text((*pair.list())[0], budget));
    DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text((*pair.list())[1], budget));
    output += (output.empty() ? "" : "&") + url_quoted(name, true) + "=" + url_quoted(text, true);
  }
  return budget.text(std::move(output));
}

Result<Value> xml_attributes(const Value& value, const Arguments& arguments, Budget& budget) {
  if (value.dictionary() == nullptr)
    return fail("xmlattr: found {}, expected a dictionary", type_name(value));
  std::string output;
  for (const auto& [key, item] : *value.dictionary()) {
    if (item.is_none() || item.is_undefined()) continue;
    DRAFTSCOPE_TRY_ASSIGN(const std::string name, plain_text(key, budget));
    if (name.find_first_of(" \t\n\r\f/>=") != std::string::npos)
      return fail("xmlattr: a name has a space or a mark, expected an attribute's name");
    DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(item, budget));
    output += (output.empty() ? "" : " ") + escaped(name) + "=\"" + escaped(text) + "\"";
  }
  const bool spaced = at(arguments, 0).is_undefined() || truth(at(arguments, 0));
  return budget.text((spaced && !output.empty() ? " " : "") + output);
}

Result<Value> file_size(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!value.number()) return fail("filesizeformat: found {}, expected a number", type_name(value));
  const bool binary_units = truth(at(arguments, 0));
  const double base = binary_units ? 1024 : 1000;
  const double bytes = *value.number();
  if (bytes == 1) return budget.text("1 Byte");
  if (bytes < base) return budget.text(fmt::format("{:.0f} Bytes", std::trunc(bytes)));
  static constexpr std::string_view letters = "kMGTPEZY";
  double unit = base;
  std::size_t i = 0;
  while (unit *= base, i + 1 < letters.size() && bytes >= unit) ++i;
  return budget.text(fmt::format("{:.1f} {}{}", base * bytes / unit,
                                 binary_units && i == 0 ? 'K' : letters[i], binary_units ? "iB" : "B"));
}

Result<Value> format(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!arguments.named.empty() && !arguments.positional.empty())
    return fail("format: found values with and without names, expected one kind");
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(value, budget));
  if (arguments.named.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const Value values, budget.list(arguments.positional, Form::tuple));
    return percent_format(text, values, budget);
  }
  DRAFTSCOPE_TRY_ASSIGN(const Value names, call_function("dict", arguments, budget));
  return percent_format(text, names, budget);
}

Result<Value> to_json(const Value& value, const Arguments& arguments, Budget& budget) {
  JsonForm form;
  form.only_ascii = truth(at(arguments, 0));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t spaces, integer_at(arguments, 1, -1));
  if (spaces > 1'000) return fail("tojson: the indent is {}, expected at most 1000", spaces);
  form.indent = static_cast<int>(std::max<std::int64_t>(spaces, -1));
  if (form.indent >= 0) form.item_separator = ",";
  if (const auto* separators = at(arguments, 2).list()) {
    if (separators->size() != 2 || separators->front().string() == nullptr ||
        separators->back().string() == nullptr)
      return fail("tojson: found other separators, expected two strings");
    form.item_separator = *separators->front().string();
    form.key_separator = *separators->back().string();
  }
  form.sorts_keys = truth(at(arguments, 3));
  DRAFTSCOPE_TRY_ASSIGN(std::string text, json_text(value, form, budget));
  return budget.text(std::move(text));
}

constexpr Function text_filters[] = {
    {"trim", "chars", trim},
    {"string", "", string},
    {"safe", "", safe},
    {"escape", "", escape},
    {"e", "", escape},
    {"forceescape", "", force_escape},
    {"upper", "", mapped<upper>},
    {"lower", "", mapped<lower>},
    {"title", "", mapped<title_of>},
    {"capitalize", "", mapped<capitalized>},
    {"replace", "old,new,count", replace},
    {"indent", "width,first,blank", indent},
    {"center", "width", center},
    {"wordcount", "", word_count},
    {"wordwrap", "width,break_long_words,wrapstring,break_on_hyphens", word_wrap},
    {"truncate", "length,killwords,end,leeway", truncate},
    {"striptags", "", strip_tags},
    {"urlencode", "", url_encode},
    {"xmlattr", "autospace", xml_attributes},
    {"filesizeformat", "binary", file_size},
    {"format", "*", format},
    {"tojson", "ensure_ascii,indent,separators,sort_keys", to_json},
    {"pprint", "verbose",
     [](const Value& value, const Arguments&, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY_ASSIGN(std::string text, literal_text(value, budget));
       if (text.size() > 80) return fail("pprint of {} bytes is not implemented", text.size());
       return budget.text(std::move(text));
     }},
};

}  // namespace

const Function* find_text_filter(std::string_view name) {
  return find_function(text_filters, name);
}

std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto scan = tokenizer::scan_utf8(text.substr(i));
    const char32_t c = scan.code_point;
    std::size_t next = i + scan.length;
    const bool ends =
        (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
    if (c == '\r' && next < text.size() && text[next] == '\n') ++next;
    if (ends) {
      lines.push_back(text.substr(begin, (keeps_ends ? next : i) - begin));
      begin = next;
    }
    i = next;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = text.size();
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = tokenizer::scan_utf8(text.substr(i)).length;
    const bool space = is_space(text.substr(i, length));
    if (!space && begin == text.size()) begin = i;
    if (space && begin < i) {
      words.push_back(text.substr(begin, i - begin));
      begin = text.size();
    }
    if (space) begin = text.size();
    i += length;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

Result<std::string_view> stripped(std::string_view text, const std::string* set, bool left, bool right,
                                  Budget& budget) {
  const auto strips = [&](std::string_view character) -> Result<bool> {
    if (set == nullptr) return is_space(character);
    DRAFTSCOPE_TRY(budget.bytes_read(set->size()));
    return set->find(character) != std::string::npos;
  };
  DRAFTSCOPE_TRY(budget.bytes_read(text.size()));
  while (left && !text.empty()) {
    const std::string_view first = text.substr(0, tokenizer::scan_utf8(text).length);
    DRAFTSCOPE_TRY_ASSIGN(const bool taken, strips(first));
    if (!taken) break;
    text.remove_prefix(first.size());
  }
  while (right && !text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    DRAFTSCOPE_TRY_ASSIGN(const bool taken, strips(text.substr(begin)));
    if (!taken) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string centered(std::string_view text, std::int64_t width, std::string_view fill) {
  const std::int64_t missing = std::max<std::int64_t>(width - count_characters(text), 0);
  const std::int64_t left = missing / 2 + (missing & width & 1);
  std::string output;
  for (std::int64_t i = 0; i < left; ++i) output += fill;
  output += text;
  for (std::int64_t i = left; i < missing; ++i) output += fill;
  return output;
}

}  // namespace draftscope::engine::jinja
