// SPDX-License-Identifier: GPL-3.0-or-later
// The methods of Python's str, list, tuple and dict that change nothing: the sandbox of jinja2 refuses the
// others.

#include <draftscope/base/quote.h>
#include <algorithm>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"
#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

Result<Value> same_form(const Value& value, std::string text, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value) + text.size()));
  return budget.text(std::move(text), value.form());
}

template <auto Map>
Result<Value> mapped_text(const Value& value, const Arguments& /*none*/, Budget& budget) {
  return same_form(value, Map(*value.string()), budget);
}

std::string swapped_case(const std::string& text) {
  std::string output;
  for (const std::string_view letter : characters(text))
    output += upper(letter) == letter ? lower(letter) : upper(letter);
  return output;
}

// A letter after something that is no letter begins a word.
std::string python_title(const std::string& text) {
  std::string output;
  bool begins = true;
  for (const std::string_view letter : characters(text)) {
    output += begins ? upper(letter) : lower(letter);
    begins = upper(letter) == lower(letter);
  }
  return output;
}

template <bool Left, bool Right>
Result<Value> strip(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string set, text_at(arguments, 0, ""));
  const bool given = at(arguments, 0).string() != nullptr;
  DRAFTSCOPE_TRY_ASSIGN(const auto text,
                        stripped(*value.string(), given ? &set : nullptr, Left, Right, budget));
  return budget.text(std::string(text), value.form());
}

template <bool AtStart>
Result<Value> has_affix(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
  const Value& given = at(arguments, 0);
  const List one{given};
  const List& affixes = given.list() != nullptr && given.form() == Form::tuple ? *given.list() : one;
  const std::string& text = *value.string();
  for (const Value& affix : affixes) {
    const auto* part = affix.string();
    if (part == nullptr)
      return fail("startswith and endswith: found {}, expected a string", type_name(affix));
    DRAFTSCOPE_TRY(budget.bytes_read(part->size()));
    if (text.size() >= part->size() &&
        text.compare(AtStart ? 0 : text.size() - part->size(), part->size(), *part) == 0)
      return Value(true);
  }
  return Value(false);
}

template <bool AtStart>
Result<Value> without_affix(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value found, (has_affix<AtStart>(value, arguments, budget)));
  std::string text = *value.string();
  if (truth(found))
    text = AtStart ? text.substr(text_size(at(arguments, 0)))
                   : text.substr(0, text.size() - text_size(at(arguments, 0)));
  return same_form(value, std::move(text), budget);
}

// Texts as a list of Python's.
Result<Value> text_list(const std::vector<std::string_view>& parts, Form form, Budget& budget,
                        Form list_form = Form::plain) {
  DRAFTSCOPE_TRY(budget.steps(parts.size()));
  DRAFTSCOPE_TRY(budget.room_for_members(parts.size()));
  List list;
  list.reserve(parts.size());
  for (const std::string_view part : parts) {
    DRAFTSCOPE_TRY_ASSIGN(auto text, budget.text(std::string(part), form));
    list.push_back(std::move(text));
  }
  return budget.list(std::move(list), list_form);
}

template <bool FromRight>
Result<Value> split(const Value& value, const Arguments& arguments, Budget& budget) {
  std::string_view rest = *value.string();
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t given_limit, integer_at(arguments, 1, -1));
  const std::size_t most = given_limit < 0 ? rest.size() + 1 : static_cast<std::size_t>(given_limit);
  DRAFTSCOPE_TRY(budget.bytes_read(rest.size() + text_size(at(arguments, 0))));
  std::vector<std::string_view> parts;
  const auto* separator = at(arguments, 0).string();
  if (separator == nullptr && !at(arguments, 0).is_undefined() && !at(arguments, 0).is_none())
    return fail("split: found {}, expected a string", type_name(at(arguments, 0)));
  if (separator != nullptr && separator->empty())
    return fail("split: found an empty separator, expected one of a character or more");
  if (separator == nullptr) parts = words_of(rest);
  for (std::size_t begin = 0; separator != nullptr && begin != std::string::npos;) {
    DRAFTSCOPE_TRY(budget.steps(1));
    const bool may_split = FromRight || parts.size() < most;
    const std::size_t found = may_split ? find_text(rest, *separator, begin) : std::string::npos;
    parts.push_back(rest.substr(begin, found == std::string::npos ? found : found - begin));
    begin = found == std::string::npos ? found : found + separator->size();
  }
  // What was not split stays together, with the white space in it.
  if (FromRight && parts.size() > most) {
    const auto cut = static_cast<std::ptrdiff_t>(parts.size() - most);
    const std::string_view& end = parts[static_cast<std::size_t>(cut - 1)];
    const std::string_view head(rest.data(), static_cast<std::size_t>(end.data() + end.size() - rest.data()));
    parts.erase(parts.begin(), parts.begin() + cut);
    parts.insert(parts.begin(), head);
  } else if (parts.size() > most) {
    parts[most] = rest.substr(static_cast<std::size_t>(parts[most].data() - rest.data()));
    parts.resize(most + 1);
  }
  return text_list(parts, value.form(), budget);
}

template <bool FromRight>
Result<std::size_t> position(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string part, text_at(arguments, 0, ""));
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value) + part.size()));
  if (!at(arguments, 1).is_undefined()) return fail("a search from a place on is not implemented");
  const std::string& text = *value.string();
  std::size_t found = find_text(text, part);
  if (FromRight && found != std::string::npos && part.empty()) return text.size();
  while (FromRight && found != std::string::npos) {
    DRAFTSCOPE_TRY(budget.steps(1));
    const std::size_t next = find_text(text, part, found + 1);
    if (next == std::string::npos) break;
    found = next;
  }
  return found;
}

template <bool FromRight, bool Fails>
Result<Value> find(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t found, (position<FromRight>(value, arguments, budget)));
  if (found != std::string::npos)
    return Value(count_characters(std::string_view(*value.string()).substr(0, found)));
  if (Fails) return fail("index: the text was not found, expected it in the string");
  return Value(std::int64_t{-1});
}

template <bool FromRight>
Result<Value> partition(const Value& value, const Arguments& arguments, Budget& budget) {
  if (text_size(at(arguments, 0)) == 0) return fail("partition: found no separator, expected a string");
  DRAFTSCOPE_TRY_ASSIGN(const std::size_t found, (position<FromRight>(value, arguments, budget)));
  const std::string_view text = *value.string();
  std::vector<std::string_view> parts{text, {}, {}};
  if (found != std::string::npos) {
    const std::size_t size = text_size(at(arguments, 0));
    parts = {text.substr(0, found), text.substr(found, size), text.substr(found + size)};
  } else if (FromRight) {
    std::swap(parts[0], parts[2]);
  }
  return text_list(parts, value.form(), budget, Form::tuple);
}

template <int Side>
Result<Value> justify(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t width, integer_at(arguments, 0, 0));
  DRAFTSCOPE_TRY_ASSIGN(const std::string fill, text_at(arguments, 1, " "));
  if (width > static_cast<std::int64_t>(longest_text))
    return fail("the text is too long, expected at most {} bytes", longest_text);
  const std::int64_t missing = std::max<std::int64_t>(width - count_characters(*value.string()), 0);
  if (Side == 0) return same_form(value, centered(*value.string(), width, fill), budget);
  std::string padding;
  for (std::int64_t i = 0; i < missing; ++i) padding += fill;
  return same_form(value, Side < 0 ? *value.string() + padding : padding + *value.string(), budget);
}

Result<Value> zero_fill(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t width, integer_at(arguments, 0, 0));
  std::string text = *value.string();
  const std::int64_t missing = std::clamp<std::int64_t>(width - count_characters(text), 0, longest_text);
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  text.insert(has_sign ? 1 : 0, std::string(static_cast<std::size_t>(missing), '0'));
  return same_form(value, std::move(text), budget);
}

Result<Value> replace_text(const Value& value, const Arguments& arguments, Budget& budget) {
  const auto* from = at(arguments, 0).string();
  const auto* to = at(arguments, 1).string();
  if (from == nullptr || to == nullptr) return fail("replace: found other arguments, expected two strings");
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count, integer_at(arguments, 2, -1));
  DRAFTSCOPE_TRY_ASSIGN(std::string text, replaced(*value.string(), *from, *to, count, budget));
  return budget.text(std::move(text), value.form());
}

Result<Value> join_texts(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(at(arguments, 0), budget));
  for (const Value& part : *all.list())
    if (part.string() == nullptr) return fail("join: found {}, expected a string", type_name(part));
  return apply_filter("join", all, {{value}, {}}, budget);
}

template <typename Holds>
Result<Value> all_letters(const Value& value, Budget& budget, Holds holds) {
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
  const auto letters = characters(*value.string());
  return Value(!letters.empty() && std::all_of(letters.begin(), letters.end(), holds));
}

bool is_digit_letter(std::string_view letter) {
  return tokenizer::is_numeric(tokenizer::scan_utf8(letter).code_point);
}
bool is_alphabetic(std::string_view letter) {
  return letter != "_" && tokenizer::is_word(tokenizer::scan_utf8(letter).code_point) &&
         !is_digit_letter(letter);
}

template <bool Letters, bool Digits>
Result<Value> consists_of(const Value& value, const Arguments& /*none*/, Budget& budget) {
  return all_letters(value, budget, [](std::string_view letter) {
    return (Letters && is_alphabetic(letter)) || (Digits && is_digit_letter(letter));
  });
}

template <auto Map>
Result<Value> equals_mapped(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
  const std::string& text = *value.string();
  return Value(Map(text) == text && upper(text) != lower(text));
}

constexpr Function text_methods[] = {
    {"strip", "chars", strip<true, true>},
    {"lstrip", "chars", strip<true, false>},
    {"rstrip", "chars", strip<false, true>},
    {"upper", "", mapped_text<upper>},
    {"lower", "", mapped_text<lower>},
    {"casefold", "", mapped_text<lower>},
    {"title", "", mapped_text<python_title>},
    {"capitalize", "", mapped_text<capitalized>},
    {"swapcase", "", mapped_text<swapped_case>},
    {"startswith", "prefix", has_affix<true>},
    {"endswith", "suffix", has_affix<false>},
    {"removeprefix", "prefix", without_affix<true>},
    {"removesuffix", "suffix", without_affix<false>},
    {"split", "sep,maxsplit", split<false>},
    {"rsplit", "sep,maxsplit", split<true>},
    {"splitlines", "keepends",
     [](const Value& value, const Arguments& arguments, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
       return text_list(lines_of(*value.string(), truth(at(arguments, 0))), value.form(), budget);
     }},
    {"find", "sub,start", find<false, false>},
    {"rfind", "sub,start", find<true, false>},
    {"index", "sub,start", find<false, true>},
    {"rindex", "sub,start", find<true, true>},
    {"count", "sub",
     [](const Value& value, const Arguments& arguments, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY_ASSIGN(const Value parts, split<false>(value, arguments, budget));
       return Value(static_cast<std::int64_t>(parts.list()->size()) - 1);
     }},
    {"partition", "sep", partition<false>},
    {"rpartition", "sep", partition<true>},
    {"ljust", "width,fillchar", justify<-1>},
    {"rjust", "width,fillchar", justify<1>},
    {"center", "width,fillchar", justify<0>},
    {"zfill", "width", zero_fill},
    {"replace", "old,new,count", replace_text},
    {"join", "iterable", join_texts},
    {"format", "*",
     [](const Value& value, const Arguments& arguments, Budget& budget) {
       return brace_format(*value.string(), arguments.positional, arguments.named, budget);
     }},
    {"isalpha", "", consists_of<true, false>},
    {"isdigit", "", consists_of<false, true>},
    {"isdecimal", "", consists_of<false, true>},
    {"isnumeric", "", consists_of<false, true>},
    {"isalnum", "", consists_of<true, true>},
    {"isspace", "",
     [](const Value& value, const Arguments&, Budget& budget) {
       return all_letters(value, budget, is_space);
     }},
    {"islower", "", equals_mapped<lower>},
    {"isupper", "", equals_mapped<upper>},
    {"istitle", "", equals_mapped<python_title>},
};

// The members of a dictionary as the view that a method of this name returns.
template <Form View>
Result<Value> view(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(value.dictionary()->size()));
  DRAFTSCOPE_TRY(budget.room_for_members(value.dictionary()->size()));
  List list;
  list.reserve(value.dictionary()->size());
  for (const auto& [key, item] : *value.dictionary()) {
    if (View == Form::items) {
      DRAFTSCOPE_TRY_ASSIGN(auto pair, budget.list({key, item}, Form::tuple));
      list.push_back(std::move(pair));
    } else {
      list.push_back(View == Form::keys ? key : item);
    }
  }
  return budget.list(std::move(list), View);
}

Result<Value> itself(const Value& value, const Arguments& /*none*/, Budget& /*none*/) {
  return value;
}

constexpr Function dictionary_methods[] = {
    {"items", "", view<Form::items>},
    {"keys", "", view<Form::keys>},
    {"values", "", view<Form::values>},
    {"copy", "", itself},
    {"get", "key,default",
     [](const Value& value, const Arguments& arguments, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY_ASSIGN(Value found, entry(*value.dictionary(), at(arguments, 0), budget));
       if (!found.is_undefined()) return found;
       return at(arguments, 1).is_undefined() ? Value(None{}) : at(arguments, 1);
     }},
};

Result<Value> count_members(const Value& value, const Arguments& arguments, Budget& budget) {
  std::int64_t count = 0;
  for (const Value& item : *value.list()) {
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(item, at(arguments, 0), budget));
    if (same) ++count;
  }
  return Value(count);
}

Result<Value> index_of(const Value& value, const Arguments& arguments, Budget& budget) {
  for (std::size_t i = 0; i < value.list()->size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal((*value.list())[i], at(arguments, 0), budget));
    if (same) return Value(static_cast<std::int64_t>(i));
  }
  return fail("index: the value was not found, expected it in the list");
}

constexpr Function list_methods[] = {
    {"count", "value", count_members}, {"index", "value", index_of}, {"copy", "", itself}};

Result<Value> next_of(const Value& value, const Arguments& /*none*/, Budget& /*none*/) {
  Object& cycler = *value.object();
  return cycler.items[std::exchange(cycler.at, (cycler.at + 1) % cycler.items.size())];
}

constexpr Function cycler_methods[] = {
    {"next", "", next_of},
    {"reset", "",
     [](const Value& value, const Arguments&, Budget&) -> Result<Value> {
       value.object()->at = 0;
       return Value(None{});
     }},
};

constexpr Function loop_methods[] = {
    {"cycle", "*",
     [](const Value& value, const Arguments& arguments, Budget&) -> Result<Value> {
       if (arguments.positional.empty()) return fail("loop.cycle: found no items, expected one or more");
       return arguments.positional[value.object()->at % arguments.positional.size()];
     }},
    {"changed", "*",
     [](const Value& value, const Arguments& arguments, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY_ASSIGN(Value seen, budget.list(arguments.positional, Form::tuple));
       DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(seen, value.object()->changed, budget));
       value.object()->changed = std::move(seen);
       return Value(!same);
     }},
};

const Function* find_method(const Value& value, std::string_view name) {
  if (value.string() != nullptr) return find_function(text_methods, name);
  if (value.dictionary() != nullptr) return find_function(dictionary_methods, name);
  if (value.list() != nullptr &&
      (value.form() == Form::plain || value.form() == Form::tuple || value.form() == Form::group)) {
    return name == "copy" && value.form() != Form::plain ? nullptr : find_function(list_methods, name);
  }
  if (value.object() == nullptr) return nullptr;
  if (value.object()->kind == ObjectKind::cycler) return find_function(cycler_methods, name);
  return value.object()->kind == ObjectKind::loop ? find_function(loop_methods, name) : nullptr;
}

}  // namespace

bool has_method(const Value& value, std::string_view name) {
  return find_method(value, name) != nullptr;
}

Result<Value> call_method(const std::string& name, const Value& value, const Arguments& arguments,
                          Budget& budget) {
  const Function* method = find_method(value, name);
  if (method == nullptr)
    return fail("{} has no method {}, expected one that it has", type_name(value), quote(name));
  return call(*method, value, arguments, budget);
}

}  // namespace draftscope::engine::jinja
