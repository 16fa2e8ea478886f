// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/operations.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

Result<bool> equal_lists(const List& left, const List& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(left[i], right[i], budget));
    if (!same) return false;
  }
  return true;
}

Result<bool> equal_dictionaries(const Dictionary& left, const Dictionary& right, Budget& budget) {
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left) {
    DRAFTSCOPE_TRY_ASSIGN(const Value other, entry(right, key, budget));
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(value, other, budget));
    if (!same) return false;
  }
  return true;
}

tl::unexpected<Error> no_operation(const Value& left, std::string_view name, const Value& right) {
  return fail("{} {} {} is not possible, expected values of other types", type_name(left), name,
              type_name(right));
}

Result<std::int64_t> integer_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result))
      return fail("{} to a power is too large, expected at most 64 bits", base);
    if (result == base && (base == 0 || base == 1)) break;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  }
  return result;
}

// Division and remainder round down, as in Python.
Result<Value> whole_arithmetic(std::string_view name, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflow = false;
  if (name == "+") {
    overflow = __builtin_add_overflow(left, right, &result);
  } else if (name == "-") {
    overflow = __builtin_sub_overflow(left, right, &result);
  } else if (name == "*") {
    overflow = __builtin_mul_overflow(left, right, &result);
  } else if (name == "**") {
    return integer_power(left, right).map([](std::int64_t power) { return Value(power); });
  } else if (right == -1) {
    overflow = left == lowest;
    result = name == "%" || overflow ? 0 : -left;
  } else {
    const std::int64_t remainder = left % right;
    const bool rounds_up = remainder != 0 && (remainder < 0) != (right < 0);
    result = name == "%" ? remainder + (rounds_up ? right : 0) : left / right - (rounds_up ? 1 : 0);
  }
  if (overflow) return fail("{} {} {} is too large, expected at most 64 bits", left, name, right);
  return Value(result);
}

Result<Value> arithmetic(std::string_view name, const Value& left, const Value& right) {
  const bool divides = name == "/" || name == "//" || name == "%";
  const double b = *right.number();
  if (divides && b == 0) return fail("{} by zero is not possible, expected another number", name);
  const auto whole_left = left.integer();
  const auto whole_right = right.integer();
  if (whole_left && whole_right && name != "/" && (name != "**" || *whole_right >= 0))
    return whole_arithmetic(name, *whole_left, *whole_right);
  const double a = *left.number();
  if (name == "+") return Value(a + b);
  if (name == "-") return Value(a - b);
  if (name == "*") return Value(a * b);
  if (name == "/") return Value(a / b);
  if (name == "**") return Value(std::pow(a, b));
  double remainder = std::fmod(a, b);
  if (remainder != 0 && (remainder < 0) != (b < 0)) remainder += b;
  return Value(name == "%" ? remainder : std::floor(a / b));
}

Result<Value> joined_texts(const Value& left, const Value& right, Budget& budget) {
  const bool markup = left.form() == Form::markup || right.form() == Form::markup;
  std::string text;
  for (const Value* part : {&left, &right}) {
    DRAFTSCOPE_TRY(budget.bytes_read(text_size(*part)));
    text += markup && part->form() != Form::markup ? escaped(*part->string()) : *part->string();
  }
  return budget.text(std::move(text), markup ? Form::markup : Form::plain);
}

Result<Value> joined_lists(const Value& left, const Value& right, Budget& budget) {
  const std::size_t size = left.list()->size() + right.list()->size();
  DRAFTSCOPE_TRY(budget.room_for_members(size));
  DRAFTSCOPE_TRY(budget.steps(size));
  List both;
  both.reserve(size);
  both.insert(both.end(), left.list()->begin(), left.list()->end());
  both.insert(both.end(), right.list()->begin(), right.list()->end());
  return budget.list(std::move(both), left.form());
}

Result<Value> repeated(const Value& value, std::int64_t times, Budget& budget) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (const auto* text = value.string()) {
    if (!text->empty() && count > longest_text / text->size())
      return fail("*: the text is too long, expected at most {} bytes", longest_text);
    DRAFTSCOPE_TRY(budget.bytes_read(text->size() * count));
    DRAFTSCOPE_TRY(budget.room(text->size() * count));
    std::string output;
    output.reserve(text->size() * count);
    for (std::size_t i = 0; i < count && !text->empty(); ++i) output += *text;
    return budget.text(std::move(output), value.form());
  }
  const List& list = *value.list();
  const std::size_t limit = std::size_t{1} << 40U;
  if (!list.empty() && count > limit / list.size())
    return fail("*: the list is too long, expected at most {} members", limit);
  DRAFTSCOPE_TRY(budget.room_for_members(list.size() * count));
  DRAFTSCOPE_TRY(budget.steps(list.size() * count));
  List output;
  output.reserve(list.size() * count);
  for (std::size_t i = 0; i < count && !list.empty(); ++i)
    output.insert(output.end(), list.begin(), list.end());
  return budget.list(std::move(output), value.form());
}

bool is_row(const Value& value) {
  return value.list() != nullptr && (value.form() == Form::plain || value.form() == Form::tuple);
}

// A bound of a slice, cut to the sequence; `lowest_bound` and `highest` depend on the step's sign.
Result<std::int64_t> bound(const Value& value, std::int64_t missing, std::int64_t size, bool forward) {
  if (value.is_none()) return missing;
  const auto index = value.integer();
  if (!index) return fail("a slice's bound is {}, expected an integer", type_name(value));
  const std::int64_t at = *index < 0 ? *index + size : *index;
  return std::clamp<std::int64_t>(at, forward ? 0 : -1, forward ? size : size - 1);
}

}  // namespace

Result<bool> equal(const Value& left, const Value& right, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(1));
  if (!left.is_container() && left.number() && right.number()) {
    const auto a = left.integer();
    const auto b = right.integer();
    return a && b ? *a == *b : *left.number() == *right.number();
  }
  if (left.data.index() != right.data.index()) return false;
  if (const auto* text = left.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(std::min(text->size(), text_size(right))));
    return *text == *right.string();
  }
  if (const auto* list = left.list()) {
    if (list == right.list()) return true;
    const bool tuples = left.form() != Form::plain && right.form() != Form::plain;
    if (left.form() != right.form() && !tuples) return false;
    return equal_lists(*list, *right.list(), budget);
  }
  if (const auto* entries = left.dictionary()) {
    if (entries == right.dictionary()) return true;
    return equal_dictionaries(*entries, *right.dictionary(), budget);
  }
  return left.object() == right.object();
}

Result<int> order(const Value& left, const Value& right, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(1));
  if (left.number() && right.number()) {
    const auto a = left.integer();
    const auto b = right.integer();
    if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
    return *left.number() < *right.number() ? -1 : *left.number() > *right.number() ? 1 : 0;
  }
  if (left.string() != nullptr && right.string() != nullptr) {
    DRAFTSCOPE_TRY(budget.bytes_read(std::min(text_size(left), text_size(right))));
    return left.string()->compare(*right.string());  // Bytes of UTF-8 have the order of their characters.
  }
  if (!is_row(left) || !is_row(right) || left.form() != right.form()) return no_operation(left, "<", right);
  const List& a = *left.list();
  const List& b = *right.list();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(a[i], b[i], budget));
    if (!same) return order(a[i], b[i], budget);
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

Result<bool> contains(const Value& container, const Value& item, Budget& budget) {
  if (const auto* entries = container.dictionary())
    return entry(*entries, item, budget).map([](const Value& found) { return !found.is_undefined(); });
  if (const auto* text = container.string()) {
    if (item.string() == nullptr) return no_operation(item, "in", container);
    DRAFTSCOPE_TRY(budget.bytes_read(text->size() + item.string()->size()));
    return find_text(*text, *item.string()) != std::string::npos;
  }
  DRAFTSCOPE_TRY_ASSIGN(const Value list, members(container, budget));
  for (const Value& member : *list.list()) {
    DRAFTSCOPE_TRY_ASSIGN(const bool found, equal(member, item, budget));
    if (found) return true;
  }
  return false;
}

Result<Value> binary(std::string_view name, const Value& left, const Value& right, Budget& budget) {
  const auto value_of = [](bool truth_value) { return Value(truth_value); };
  if (name == "==") return equal(left, right, budget).map(value_of);
  if (name == "!=") return equal(left, right, budget).map([](bool same) { return Value(!same); });
  if (name == "in") return contains(right, left, budget).map(value_of);
  if (name == "not in") return contains(right, left, budget).map([](bool found) { return Value(!found); });
  if (name[0] == '<' || name[0] == '>') {
    // Nothing is below or above what is not a number.
    if ((left.number() && std::isnan(*left.number())) || (right.number() && std::isnan(*right.number())))
      return Value(false);
    DRAFTSCOPE_TRY_ASSIGN(const int sign, order(left, right, budget));
    return Value((sign == 0 && name.size() == 2) || (name[0] == '<' ? sign < 0 : sign > 0));
  }
  if (name == "~") {
    DRAFTSCOPE_TRY_ASSIGN(std::string text, plain_text(left, budget));
    DRAFTSCOPE_TRY_ASSIGN(const std::string end, plain_text(right, budget));
    text += end;
    if (text.size() > longest_text)
      return fail("~: the text is too long, expected at most {} bytes", longest_text);
    return budget.text(std::move(text));
  }
  if (name == "%" && left.string() != nullptr) return percent_format(*left.string(), right, budget);
  if (left.number() && right.number()) return arithmetic(name, left, right);
  if (name == "+" && left.string() != nullptr && right.string() != nullptr)
    return joined_texts(left, right, budget);
  if (name == "+" && is_row(left) && is_row(right) && left.form() == right.form())
    return joined_lists(left, right, budget);
  if (name == "*") {
    const Value& repeats = left.integer() ? right : left;
    const auto times = left.integer() ? left.integer() : right.integer();
    if (times && (is_row(repeats) || repeats.string() != nullptr)) return repeated(repeats, *times, budget);
  }
  return no_operation(left, name, right);
}

Result<Value> unary(std::string_view name, const Value& operand) {
  if (name == "not") return Value(!truth(operand));
  if (const auto* number = std::get_if<double>(&operand.data)) return Value(name == "-" ? -*number : *number);
  const auto whole = operand.integer();
  if (!whole || *whole == lowest)
    return fail("{} of {} is not possible, expected a number", name, type_name(operand));
  return Value(name == "-" ? -*whole : *whole);
}

Result<Value> entry(const Dictionary& dictionary, const Value& key, Budget& budget) {
  DRAFTSCOPE_TRY(budget.steps(dictionary.size()));
  const auto* name = key.string();
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(key)));
  for (const auto& [present, value] : dictionary) {
    if (name != nullptr) {
      if (present.string() != nullptr && *present.string() == *name) return value;
      continue;
    }
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(present, key, budget));
    if (same) return value;
  }
  return Value();
}

Result<void> set_entry(Dictionary& dictionary, Value key, Value value, Budget& budget) {
  if (key.dictionary() != nullptr || (key.list() != nullptr && key.form() != Form::tuple))
    return fail("a dictionary's key is {}, expected a value that cannot change", type_name(key));
  DRAFTSCOPE_TRY(budget.steps(dictionary.size()));
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(key)));
  for (auto& [present, old] : dictionary) {
    DRAFTSCOPE_TRY_ASSIGN(const bool same, equal(present, key, budget));
    if (!same) continue;
    old = std::move(value);
    return {};
  }
  dictionary.emplace_back(std::move(key), std::move(value));
  return {};
}

Result<Value> attribute(const Value& object, const std::string& name, Budget& budget) {
  if (object.is_undefined()) return fail("an undefined value has no members, expected a defined one");
  if (const Object* held = object.object()) {
    if (held->kind == ObjectKind::name_space) {
      DRAFTSCOPE_TRY(budget.steps(held->entries.size()));
      const Value* found = find_entry(object.object()->entries, name);
      return found == nullptr ? Value() : *found;
    }
    if (held->kind == ObjectKind::loop) return loop_member(object, name, budget);
    if (held->kind == ObjectKind::cycler && name == "current") return held->items[held->at];
    if (held->kind == ObjectKind::macro && name == "name") return budget.text(held->name);
  }
  if (object.form() == Form::group && (name == "grouper" || name == "list"))
    return (*object.list())[name == "list" ? 1 : 0];
  if (has_method(object, name))
    return budget.object({.kind = ObjectKind::method, .name = name, .items = {object}});
  if (const auto* entries = object.dictionary()) {
    DRAFTSCOPE_TRY_ASSIGN(const Value key, budget.text(name));
    return entry(*entries, key, budget);
  }
  return Value();
}

Result<Value> subscript(const Value& object, const Value& key, Budget& budget) {
  if (object.is_undefined()) return fail("an undefined value has no members, expected a defined one");
  if (const auto* entries = object.dictionary()) {
    DRAFTSCOPE_TRY_ASSIGN(Value found, entry(*entries, key, budget));
    if (!found.is_undefined()) return found;
  }
  if (const auto* name = key.string()) return attribute(object, *name, budget);
  const auto at = key.integer();
  const Form form = object.form();
  const bool indexed = object.string() != nullptr || (object.list() != nullptr && form != Form::keys &&
                                                      form != Form::values && form != Form::items);
  if (!at || !indexed) return Value();
  std::vector<std::string_view> letters;
  if (const auto* text = object.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    letters = characters(*text);
  }
  const auto size =
      static_cast<std::int64_t>(object.list() == nullptr ? letters.size() : object.list()->size());
  const std::int64_t index = *at < 0 ? *at + size : *at;
  if (index < 0 || index >= size) return Value();
  const auto place = static_cast<std::size_t>(index);
  if (object.list() != nullptr) return (*object.list())[place];
  return budget.text(std::string(letters[place]), form);
}

Result<Value> slice(const Value& object, const Value& first, const Value& last, const Value& step,
                    Budget& budget) {
  const auto* text = object.string();
  if (text == nullptr && (object.list() == nullptr || object.form() == Form::keys ||
                          object.form() == Form::values || object.form() == Form::items)) {
    if (object.is_undefined()) return fail("an undefined value has no members, expected a defined one");
    return Value();
  }
  const std::int64_t stride = step.is_none() ? 1 : step.integer().value_or(0);
  if (stride == 0) return fail("a slice's step is {}, expected an integer that is not 0", type_name(step));
  const bool forward = stride > 0;
  const auto letters = text == nullptr ? std::vector<std::string_view>() : characters(*text);
  DRAFTSCOPE_TRY(budget.bytes_read(text_size(object)));
  const auto size = static_cast<std::int64_t>(text == nullptr ? object.list()->size() : letters.size());
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t begin, bound(first, forward ? 0 : size - 1, size, forward));
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t end, bound(last, forward ? size : -1, size, forward));
  List chosen;
  std::string chosen_letters;
  if (text == nullptr) DRAFTSCOPE_TRY(budget.steps(object.list()->size()));
  for (std::int64_t i = begin; forward ? i < end : i > end;) {
    const auto place = static_cast<std::size_t>(i);
    if (text == nullptr) {
      chosen.push_back((*object.list())[place]);
    } else {
      chosen_letters += letters[place];
    }
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  if (text != nullptr) return budget.text(std::move(chosen_letters), object.form());
  return budget.list(std::move(chosen), object.form() == Form::group ? Form::tuple : object.form());
}

Result<Value> members(const Value& value, Budget& budget) {
  if (value.list() != nullptr) return value;
  List list;
  if (const auto* text = value.string()) {
    DRAFTSCOPE_TRY(budget.steps(text->size()));
    DRAFTSCOPE_TRY(budget.room(text->size() * (sizeof(Value) + sizeof(Shared<std::string>))));
    list.reserve(static_cast<std::size_t>(count_characters(*text)));
    for (const std::string_view character : characters(*text)) {
      DRAFTSCOPE_TRY_ASSIGN(auto member, budget.text(std::string(character), value.form()));
      list.push_back(std::move(member));
    }
  } else if (const auto* entries = value.dictionary()) {
    DRAFTSCOPE_TRY(budget.steps(entries->size()));
    list.reserve(entries->size());
    for (const auto& [key, item] : *entries) list.push_back(key);
  } else if (value.object() != nullptr && value.object()->kind == ObjectKind::generator) {
    if (!value.object()->name.empty()) return fail("{}", value.object()->name);
    list = std::exchange(value.object()->items, {});
    DRAFTSCOPE_TRY(budget.steps(list.size()));
  } else if (!value.is_undefined()) {
    return fail("{} has no members to go through, expected a list", type_name(value));
  }
  return budget.list(std::move(list));
}

Result<Value> length(const Value& value, Budget& budget) {
  if (const auto* text = value.string()) {
    DRAFTSCOPE_TRY(budget.bytes_read(text->size()));
    return Value(count_characters(*text));
  }
  if (value.is_undefined()) return Value(std::int64_t{0});
  if (const auto* list = value.list()) return Value(static_cast<std::int64_t>(list->size()));
  if (const auto* entries = value.dictionary()) return Value(static_cast<std::int64_t>(entries->size()));
  return fail("{} has no length, expected a string, a list or a dictionary", type_name(value));
}

}  // namespace draftscope::engine::jinja
