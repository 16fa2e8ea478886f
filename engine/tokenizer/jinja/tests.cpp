// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {
namespace {

struct Test {
  std::string_view name;
  bool (*holds)(const Value& value);
};

bool is_whole(const Value& value) {
  return std::holds_alternative<std::int64_t>(value.data);
}

bool is_view(const Value& value) {
  return value.form() == Form::keys || value.form() == Form::values || value.form() == Form::items;
}

bool has_letters_of(const Value& value, std::string (*map)(std::string_view)) {
  const auto* text = value.string();
  return text != nullptr && map(*text) == *text && (upper(*text) != *text || lower(*text) != *text);
}

// Tests without an argument.
constexpr Test plain_tests[] = {
    {"defined", [](const Value& v) { return !v.is_undefined(); }},
    {"undefined", [](const Value& v) { return v.is_undefined(); }},
    {"none", [](const Value& v) { return v.is_none(); }},
    {"string", [](const Value& v) { return v.string() != nullptr; }},
    {"mapping", [](const Value& v) { return v.dictionary() != nullptr; }},
    {"iterable",
     [](const Value& v) {
       return v.is_container() || v.string() != nullptr || v.is_undefined() ||
              (v.object() != nullptr &&
               (v.object()->kind == ObjectKind::generator || v.object()->kind == ObjectKind::loop));
     }},
    {"sequence",
     [](const Value& v) {
       return (v.is_container() && !is_view(v)) || v.string() != nullptr || v.is_undefined();
     }},
    {"boolean", [](const Value& v) { return std::holds_alternative<bool>(v.data); }},
    {"true", [](const Value& v) { return std::holds_alternative<bool>(v.data) && truth(v); }},
    {"false", [](const Value& v) { return std::holds_alternative<bool>(v.data) && !truth(v); }},
    {"integer", is_whole},
    {"float", [](const Value& v) { return std::holds_alternative<double>(v.data); }},
    {"number", [](const Value& v) { return v.number().has_value(); }},
    {"lower", [](const Value& v) { return has_letters_of(v, lower); }},
    {"upper", [](const Value& v) { return has_letters_of(v, upper); }},
    {"escaped", [](const Value& v) { return v.form() == Form::markup; }},
    {"callable",
     [](const Value& v) {
       const Object* object = v.object();
       return object != nullptr && object->kind != ObjectKind::name_space &&
              object->kind != ObjectKind::generator && object->kind != ObjectKind::cycler;
     }},
    {"filter", [](const Value& v) { return v.string() != nullptr && is_filter(*v.string()); }},
    {"test", [](const Value& v) { return v.string() != nullptr && is_test(*v.string()); }},
};

// Names of tests that compare, and the operator each is.
constexpr std::pair<std::string_view, std::string_view> comparisons[] = {
    {"eq", "=="}, {"equalto", "=="}, {"==", "=="}, {"ne", "!="},        {"!=", "!="}, {"lt", "<"},
    {"<", "<"},   {"lessthan", "<"}, {"le", "<="}, {"<=", "<="},        {"gt", ">"},  {">", ">"},
    {"ge", ">="}, {">=", ">="},      {"in", "in"}, {"greaterthan", ">"}};

std::string_view operator_of(std::string_view name) {
  for (const auto& [test, symbol] : comparisons)
    if (test == name) return symbol;
  return {};
}

bool same_object(const Value& left, const Value& right) {
  if (left.data.index() != right.data.index()) return false;
  if (left.list() != nullptr || left.dictionary() != nullptr || left.object() != nullptr)
    return left.list() == right.list() && left.dictionary() == right.dictionary() &&
           left.object() == right.object();
  return left.number() ? *left.number() == *right.number()
                       : left.string() == nullptr || *left.string() == *right.string();
}

Result<bool> remainder_is(const Value& value, const Value& divisor, std::int64_t remainder, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Value rest, binary("%", value, divisor, budget));
  return equal(rest, Value(remainder), budget);
}

}  // namespace

bool is_test(std::string_view name) {
  const auto named = [&](const Test& test) { return test.name == name; };
  return std::any_of(std::begin(plain_tests), std::end(plain_tests), named) || !operator_of(name).empty() ||
         name == "odd" || name == "even" || name == "divisibleby" || name == "sameas";
}

Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                        Budget& budget) {
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(value)));
  const std::size_t given = arguments.positional.size();
  for (const Test& test : plain_tests) {
    if (test.name != name) continue;
    if (given != 0) return fail("test {}: found {} arguments, expected none", quote(name), given);
    return test.holds(value);
  }
  if (name == "odd") return remainder_is(value, Value(std::int64_t{2}), 1, budget);
  if (name == "even") return remainder_is(value, Value(std::int64_t{2}), 0, budget);
  const std::string_view symbol = operator_of(name);
  if (symbol.empty() && name != "divisibleby" && name != "sameas")
    return fail("found a test {}, expected one of Jinja's", quote(name));
  if (given != 1) return fail("test {}: found {} arguments, expected one", quote(name), given);
  const Value& other = arguments.positional[0];
  if (name == "sameas") return same_object(value, other);
  if (name == "divisibleby") return remainder_is(value, other, 0, budget);
  return binary(symbol, value, other, budget).map([](const Value& result) { return truth(result); });
}

}  // namespace draftscope::engine::jinja
