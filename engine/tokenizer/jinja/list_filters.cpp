// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {
namespace {

// The member that a name such as "function.name" or an index leads to; `missing` for what is undefined on
// the way, unless it is undefined itself.
Result<Value> follow(const Value& value, const Value& path, const Value& missing, Budget& budget) {
  if (path.string() == nullptr) return subscript(value, path, budget);
  Value item = value;
  std::string_view rest = *path.string();
  while (true) {
    const std::string part(rest.substr(0, rest.find('.')));
    Value key{std::string(part), Charge()};
    std::int64_t index = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
    if (!part.empty() && read.ec == std::errc() && read.ptr == part.data() + part.size() && part[0] != '-')
      key = Value(index);
    DRAFTSCOPE_TRY_ASSIGN(item, subscript(item, key, budget));
    if (item.is_undefined() && !missing.is_undefined()) item = missing;
    if (part.size() == rest.size()) return item;
    rest.remove_prefix(part.size() + 1);
  }
}

// What sort, unique, min, max and groupby compare: the value or its member, without case unless asked.
Result<Value> key_of(const Value& value, const Value& path, bool case_sensitive, const Value& missing,
                     Budget& budget) {
  Value key = value;
  if (!path.is_undefined() && !path.is_none()) {
    DRAFTSCOPE_TRY_ASSIGN(key, follow(value, path, missing, budget));
  }
  if (case_sensitive || key.string() == nullptr) return key;
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(key)));
  return budget.text(lower(*key.string()));
}

using Keyed = std::vector<std::pair<Value, Value>>;

// The members with their keys, where `path` may name several separated by commas.
Result<Keyed> keyed(const Value& value, const Value& path, bool case_sensitive, const Value& missing,
                    Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value list, members(value, budget));
  std::vector<Value> paths;
  if (path.string() != nullptr && path.string()->find(',') != std::string::npos) {
    std::string_view rest = *path.string();
    while (true) {
      const std::string_view part = rest.substr(0, rest.find(','));
      paths.emplace_back(std::string(part), Charge());
      if (part.size() == rest.size()) break;
      rest.remove_prefix(part.size() + 1);
    }
  }
  Keyed all;
  all.reserve(list.list()->size());
  for (const Value& item : *list.list()) {
    DRAFTSCOPE_TRY(budget.steps(1));
    Value key;
    if (paths.empty()) {
      DRAFTSCOPE_TRY_ASSIGN(key, key_of(item, path, case_sensitive, missing, budget));
    } else {
      List keys;
      for (const Value& part : paths) {
        DRAFTSCOPE_TRY_ASSIGN(auto one, key_of(item, part, case_sensitive, missing, budget));
        keys.push_back(std::move(one));
      }
      DRAFTSCOPE_TRY_ASSIGN(key, budget.list(std::move(keys)));
    }
    all.emplace_back(std::move(key), item);
  }
  return all;
}

// Sorts by key and keeps the order of equal keys; an error of a comparison is kept until the end.
Result<void> sort_by_key(Keyed& items, bool reversed, Budget& budget) {
  Result<void> outcome;
  std::vector<Keyed::value_type> buffer(items.size());
  const auto precedes = [&](const auto& a, const auto& b) -> bool {
    const auto sign = outcome ? order(a.first, b.first, budget) : Result<int>(0);
    if (!sign) outcome = tl::unexpected<Error>(sign.error());
    return sign && (reversed ? *sign > 0 : *sign < 0);
  };
  // Merging from short runs up needs no strict order to end, which a mixed list may not have.
  for (std::size_t run = 1; run < items.size() && outcome; run *= 2) {
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, items.size());
      const std::size_t end = std::min(begin + 2 * run, items.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t at = begin; at < end; ++at) {
        const bool takes_right = left == middle || (right < end && precedes(items[right], items[left]));
        buffer[at] = items[takes_right ? right++ : left++];
      }
    }
    items.swap(buffer);
  }
  return outcome;
}

Result<Value> values_of(const Keyed& items, Budget& budget) {
  List values;
  values.reserve(items.size());
  for (const auto& [key, value] : items) values.push_back(value);
  return budget.list(std::move(values));
}

Result<Value> sort(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(Keyed items,
                        keyed(value, at(arguments, 2), truth(at(arguments, 1)), Value(), budget));
  DRAFTSCOPE_TRY(sort_by_key(items, truth(at(arguments, 0)), budget));
  return values_of(items, budget);
}

Result<Value> extreme(const Value& value, const Arguments& arguments, bool highest, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Keyed items,
                        keyed(value, at(arguments, 1), truth(at(arguments, 0)), Value(), budget));
  if (items.empty()) return Value();
  std::size_t best = 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const int sign, order(items[i].first, items[best].first, budget));
    if (highest ? sign > 0 : sign < 0) best = i;
  }
  return items[best].second;
}

Result<Value> unique(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Keyed items,
                        keyed(value, at(arguments, 1), truth(at(arguments, 0)), Value(), budget));
  Dictionary seen;
  List chosen;
  for (const auto& [key, item] : items) {
    const std::size_t before = seen.size();
    DRAFTSCOPE_TRY(set_entry(seen, key, true, budget));
    if (seen.size() > before) chosen.push_back(item);
  }
  return budget.generator(std::move(chosen));
}

Result<Value> group_by(const Value& value, const Arguments& arguments, Budget& budget) {
  const Value& path = at(arguments, 0);
  const Value& missing = at(arguments, 1);
  DRAFTSCOPE_TRY_ASSIGN(Keyed items, keyed(value, path, truth(at(arguments, 2)), missing, budget));
  DRAFTSCOPE_TRY(sort_by_key(items, false, budget));
  List groups;
  for (std::size_t begin = 0; begin < items.size();) {
    List group;
    std::size_t end = begin;
    for (; end < items.size(); ++end) {
      DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(items[end].first, items[begin].first, budget));
      if (!same) break;
      group.push_back(items[end].second);
    }
    // The group is called after its first member, in that one's case.
    DRAFTSCOPE_TRY_ASSIGN(auto name, key_of(group.front(), path, true, missing, budget));
    DRAFTSCOPE_TRY_ASSIGN(auto list, budget.list(std::move(group)));
    DRAFTSCOPE_TRY_ASSIGN(auto pair, budget.list({std::move(name), std::move(list)}, Form::group));
    groups.push_back(std::move(pair));
    begin = end;
  }
  return budget.list(std::move(groups));
}

Result<Value> dictionary_sort(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string by, text_at(arguments, 1, "key"));
  if (by != "key" && by != "value") return fail("dictsort: by is {}, expected 'key' or 'value'", quote(by));
  DRAFTSCOPE_TRY_ASSIGN(const Value pairs, call_method("items", value, {}, budget));
  const Value path(std::int64_t{by == "value"});
  DRAFTSCOPE_TRY_ASSIGN(Keyed items, keyed(pairs, path, truth(at(arguments, 0)), Value(), budget));
  DRAFTSCOPE_TRY(sort_by_key(items, truth(at(arguments, 2)), budget));
  return values_of(items, budget);
}

Result<Value> list(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  return all.form() == Form::plain ? Result<Value>(all) : budget.list(*all.list());
}

Result<Value> items(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.is_undefined()) return budget.generator({});
  if (value.dictionary() == nullptr) return fail("{} has no items, expected a dictionary", type_name(value));
  DRAFTSCOPE_TRY_ASSIGN(const Value pairs, call_method("items", value, {}, budget));
  return budget.generator(*pairs.list());
}

Result<Value> first(const Value& value, const Arguments& /*none*/, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  return all.list()->empty() ? Value() : all.list()->front();
}

Result<Value> last(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.object() != nullptr) return fail("{} has no last member, expected a list", type_name(value));
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  return all.list()->empty() ? Value() : all.list()->back();
}

Result<Value> reverse(const Value& value, const Arguments& /*none*/, Budget& budget) {
  if (value.string() != nullptr) return slice(value, None{}, None{}, std::int64_t{-1}, budget);
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  return budget.generator(List(all.list()->rbegin(), all.list()->rend()));
}

Result<Value> join(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string separator, at(arguments, 0).is_undefined()
                                                         ? Result<std::string>("")
                                                         : plain_text(at(arguments, 0), budget));
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  DRAFTSCOPE_TRY(budget.steps(all.list()->size()));
  std::string text;
  bool begins = true;
  for (const Value& item : *all.list()) {
    Value member = item;
    if (!at(arguments, 1).is_undefined() && !at(arguments, 1).is_none()) {
      DRAFTSCOPE_TRY_ASSIGN(member, follow(item, at(arguments, 1), Value(), budget));
    }
    DRAFTSCOPE_TRY_ASSIGN(const std::string part, plain_text(member, budget));
    if (!begins) text += separator;
    text += part;
    begins = false;
    if (text.size() > longest_text)
      return fail("join: the text is too long, expected at most {} bytes", longest_text);
  }
  DRAFTSCOPE_TRY(budget.bytes_read(text.size()));
  return budget.text(std::move(text));
}

// The rest of a call whose first argument was taken.
Arguments without_first(const Arguments& arguments) {
  const List& given = arguments.positional;
  return {List(given.begin() + (given.empty() ? 0 : 1), given.end()), arguments.named};
}

Result<Value> map(const Value& value, const Arguments& arguments, Budget& budget) {
  Arguments named{{}, arguments.named};
  const Value* path = find_entry(named.named, "attribute");
  const Value* missing = find_entry(named.named, "default");
  const auto* filter = at(arguments, 0).string();
  if (!truth(value)) return budget.generator({});
  if (path == nullptr && filter == nullptr) return fail("map: found no filter's name, expected one");
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  List mapped;
  mapped.reserve(all.list()->size());
  const Arguments rest = without_first(arguments);
  for (const Value& item : *all.list()) {
    DRAFTSCOPE_TRY(budget.steps(1));
    DRAFTSCOPE_TRY_ASSIGN(
        auto made, filter == nullptr ? follow(item, *path, missing == nullptr ? Value() : *missing, budget)
                                     : apply_filter(*filter, item, rest, budget));
    mapped.push_back(std::move(made));
  }
  return budget.generator(std::move(mapped));
}

// The members for which a test holds; without a test, those that are true.
template <bool Wanted, bool ByAttribute>
Result<Value> select(const Value& value, const Arguments& arguments, Budget& budget) {
  if (!truth(value)) return budget.generator({});
  const Arguments tested = ByAttribute ? without_first(arguments) : arguments;
  if (ByAttribute && arguments.positional.empty())
    return fail("selectattr: found no attribute, expected one");
  const auto* test = at(tested, 0).string();
  if (test == nullptr && !tested.positional.empty())
    return fail("select: found {}, expected a test's name", type_name(tested.positional[0]));
  const Arguments rest = without_first(tested);
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  List chosen;
  for (const Value& item : *all.list()) {
    DRAFTSCOPE_TRY(budget.steps(1));
    Value looked_at = item;
    if (ByAttribute) {
      DRAFTSCOPE_TRY_ASSIGN(looked_at, follow(item, arguments.positional[0], Value(), budget));
    }
    DRAFTSCOPE_TRY_ASSIGN(const bool holds, test == nullptr ? Result<bool>(truth(looked_at))
                                                            : apply_test(*test, looked_at, rest, budget));
    if (holds == Wanted) chosen.push_back(item);
  }
  return budget.generator(std::move(chosen));
}

Result<Value> sum(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  Value total = at(arguments, 1).is_undefined() ? Value(std::int64_t{0}) : at(arguments, 1);
  for (const Value& item : *all.list()) {
    DRAFTSCOPE_TRY_ASSIGN(const Value part, key_of(item, at(arguments, 0), true, Value(), budget));
    DRAFTSCOPE_TRY_ASSIGN(total, binary("+", total, part, budget));
  }
  return total;
}

Result<Value> batch(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count, integer_at(arguments, 0, 0));
  if (count < 1 || count > 100'000) return fail("batch: found {} a row, expected 1 to 100000", count);
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  List rows;
  const auto width = static_cast<std::size_t>(count);
  for (std::size_t begin = 0; begin < all.list()->size(); begin += width) {
    const auto from = all.list()->begin() + static_cast<std::ptrdiff_t>(begin);
    List row(from, from + static_cast<std::ptrdiff_t>(std::min(width, all.list()->size() - begin)));
    DRAFTSCOPE_TRY(budget.steps(width));
    if (!at(arguments, 1).is_undefined() && !at(arguments, 1).is_none()) row.resize(width, at(arguments, 1));
    DRAFTSCOPE_TRY_ASSIGN(auto made, budget.list(std::move(row)));
    rows.push_back(std::move(made));
  }
  return budget.generator(std::move(rows));
}

Result<Value> columns(const Value& value, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t count, integer_at(arguments, 0, 0));
  if (count < 1 || count > 100'000) return fail("slice: found {} parts, expected 1 to 100000", count);
  DRAFTSCOPE_TRY_ASSIGN(const Value all, members(value, budget));
  const auto parts = static_cast<std::size_t>(count);
  const std::size_t size = all.list()->size() / parts;
  const std::size_t longer = all.list()->size() % parts;
  List made;
  auto from = all.list()->begin();
  for (std::size_t i = 0; i < parts; ++i) {
    const auto length = static_cast<std::ptrdiff_t>(size + (i < longer ? 1 : 0));
    List part(from, from + length);
    from += length;
    DRAFTSCOPE_TRY(budget.steps(part.size() + 1));
    const bool fills = !at(arguments, 1).is_undefined() && !at(arguments, 1).is_none();
    if (fills && longer != 0 && i >= longer) part.push_back(at(arguments, 1));
    DRAFTSCOPE_TRY_ASSIGN(auto one, budget.list(std::move(part)));
    made.push_back(std::move(one));
  }
  return budget.generator(std::move(made));
}

Result<Value> or_default(const Value& value, const Arguments& arguments, Budget& /*none*/) {
  const bool replaces = value.is_undefined() || (truth(at(arguments, 1)) && !truth(value));
  if (!replaces) return value;
  return arguments.positional[0].is_undefined() ? Value("") : arguments.positional[0];
}

// A text as a number, as Python's int() or float() reads it; nothing for another text.
template <typename Number>
std::optional<Number> read_number(std::string_view text, int base) {
  while (!text.empty() && is_space(text.substr(0, 1))) text.remove_prefix(1);
  while (!text.empty() && is_space(text.substr(text.size() - 1))) text.remove_suffix(1);
  if (!text.empty() && text[0] == '+' && text.substr(1, 1) != "-") text.remove_prefix(1);
  // An underscore may stand between digits.
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_digit = [&](std::size_t at) {
      return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    if (text[i] != '_')
      digits += text[i];
    else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1))
      return std::nullopt;
  }
  Number number = 0;
  std::from_chars_result read{};
  const std::string_view prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  if (!prefix.empty() && lower(digits.substr(begin, 2)) == prefix && digits.size() > begin + 2 &&
      digits[begin + 2] != '-')
    digits.erase(begin, 2);
  const char* const end = digits.data() + digits.size();
  if constexpr (std::is_integral_v<Number>) {
    read = std::from_chars(digits.data(), end, number, base);
  } else {
    read = std::from_chars(digits.data(), end, number);
  }
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

Result<Value> to_integer(const Value& value, const Arguments& arguments, Budget& /*none*/) {
  const Value missing = at(arguments, 0).is_undefined() ? Value(std::int64_t{0}) : at(arguments, 0);
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t base, integer_at(arguments, 1, 10));
  if (base < 2 || base > 36) return fail("int: the base is {}, expected 2 to 36", base);
  if (value.is_undefined()) return fail("int of an undefined value is not possible, expected a defined one");
  std::optional<double> number = value.number();
  if (const auto whole = value.integer()) return Value(*whole);
  if (const auto* text = value.string()) {
    if (const auto whole = read_number<std::int64_t>(*text, static_cast<int>(base))) return Value(*whole);
    number = read_number<double>(*text, 10);
  }
  if (!number || !std::isfinite(*number)) return missing;
  if (std::fabs(*number) >= 9.2e18) return fail("int of {} is too large, expected at most 64 bits", *number);
  return Value(static_cast<std::int64_t>(*number));
}

Result<Value> to_float(const Value& value, const Arguments& arguments, Budget& /*none*/) {
  if (value.is_undefined())
    return fail("float of an undefined value is not possible, expected a defined one");
  std::optional<double> number = value.number();
  if (const auto* text = value.string()) number = read_number<double>(*text, 10);
  if (number) return Value(*number);
  return at(arguments, 0).is_undefined() ? Value(0.0) : at(arguments, 0);
}

Result<Value> absolute(const Value& value, const Arguments& /*none*/, Budget& /*none*/) {
  if (const auto* number = std::get_if<double>(&value.data)) return Value(std::fabs(*number));
  const auto whole = value.integer();
  if (!whole) return fail("abs of {} is not possible, expected a number", type_name(value));
  return *whole < 0 ? unary("-", value) : Value(*whole);
}

Result<Value> round(const Value& value, const Arguments& arguments, Budget& /*none*/) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t precision, integer_at(arguments, 0, 0));
  DRAFTSCOPE_TRY_ASSIGN(const std::string method, text_at(arguments, 1, "common"));
  if (!value.number()) return fail("round of {} is not possible, expected a number", type_name(value));
  if (precision < 0 || precision > 300)
    return fail("round: the precision is {}, expected 0 to 300", precision);
  if (method == "ceil" || method == "floor") {
    const double scale = std::pow(10.0, static_cast<double>(precision));
    const double scaled = *value.number() * scale;
    return Value((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
  }
  if (method != "common") return fail("round: found {}, expected 'common', 'ceil' or 'floor'", quote(method));
  if (const auto whole = value.integer()) return Value(*whole);
  const std::string text = fmt::format("{:.{}f}", *value.number(), precision);
  return Value(read_number<double>(text, 10).value_or(*value.number()));
}

// Makes a filter as lazy as jinja2's: it fails when what it gives is gone through, not before.
template <auto Filter>
Result<Value> lazy(const Value& value, const Arguments& arguments, Budget& budget) {
  Result<Value> made = Filter(value, arguments, budget);
  if (made) return made;
  return budget.object({.kind = ObjectKind::generator, .name = made.error().message});
}

constexpr Function list_filters[] = {
    {"default", "default_value,boolean", or_default},
    {"d", "default_value,boolean", or_default},
    {"length", "",
     [](const Value& value, const Arguments&, Budget& budget) { return length(value, budget); }},
    {"count", "", [](const Value& value, const Arguments&, Budget& budget) { return length(value, budget); }},
    {"list", "", list},
    {"items", "", lazy<items>},
    {"first", "", first},
    {"last", "", last},
    {"reverse", "", reverse},
    {"join", "d,attribute", join},
    {"map", "*", lazy<map>},
    {"select", "*", lazy<select<true, false>>},
    {"reject", "*", lazy<select<false, false>>},
    {"selectattr", "*", lazy<select<true, true>>},
    {"rejectattr", "*", lazy<select<false, true>>},
    {"sort", "reverse,case_sensitive,attribute", sort},
    {"dictsort", "case_sensitive,by,reverse", dictionary_sort},
    {"groupby", "attribute,default,case_sensitive", group_by},
    {"unique", "case_sensitive,attribute", lazy<unique>},
    {"min", "case_sensitive,attribute",
     [](const Value& value, const Arguments& arguments, Budget& budget) {
       return extreme(value, arguments, false, budget);
     }},
    {"max", "case_sensitive,attribute",
     [](const Value& value, const Arguments& arguments, Budget& budget) {
       return extreme(value, arguments, true, budget);
     }},
    {"sum", "attribute,start", sum},
    {"batch", "linecount,fill_with", lazy<batch>},
    {"slice", "slices,fill_with", lazy<columns>},
    {"int", "default,base", to_integer},
    {"float", "default", to_float},
    {"abs", "", absolute},
    {"round", "precision,method", round},
    {"attr", "name",
     [](const Value& value, const Arguments& arguments, Budget& budget) -> Result<Value> {
       DRAFTSCOPE_TRY_ASSIGN(const std::string name, text_at(arguments, 0, ""));
       return value.dictionary() != nullptr && !has_method(value, name) ? Value()
                                                                        : attribute(value, name, budget);
     }},
    {"random", "",
     [](const Value&, const Arguments&, Budget&) -> Result<Value> {
       return fail("random gives another value each time, expected a template without it");
     }},
};

}  // namespace

const Function* find_list_filter(std::string_view name) {
  return find_function(list_filters, name);
}

}  // namespace draftscope::engine::jinja
