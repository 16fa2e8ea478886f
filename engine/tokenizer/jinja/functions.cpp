// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/functions.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <ctime>

#include "tokenizer/jinja/operations.h"
#include "tokenizer/jinja/texts.h"

namespace draftscope::engine::jinja {
namespace {

Result<Value> range(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  const List& given = arguments.positional;
  std::array<std::int64_t, 3> bounds{0, 0, 1};
  if (given.empty() || given.size() > 3)
    return fail("range: found {} arguments, expected one to three", given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto whole = given[i].integer();
    if (!whole) return fail("range: found {}, expected an integer", type_name(given[i]));
    bounds[given.size() == 1 ? 1 : i] = *whole;
  }
  const auto [first, last, step] = bounds;
  if (step == 0) return fail("range: the step is 0, expected another");
  // The sandbox of jinja2 has the same limit.
  constexpr std::int64_t longest = 100'000;
  List numbers;
  for (std::int64_t number = first; step > 0 ? number < last : number > last;) {
    if (static_cast<std::int64_t>(numbers.size()) == longest)
      return fail("range: found more than {} numbers, expected at most {}", longest, longest);
    DRAFTSCOPE_TRY(budget.steps(1));
    numbers.emplace_back(number);
    if (__builtin_add_overflow(number, step, &number)) break;
  }
  return budget.list(std::move(numbers), Form::range);
}

Result<Dictionary> entries_of(const Value& value, const Variables& named, Budget& budget) {
  Dictionary entries;
  if (const auto* given = value.dictionary()) {
    DRAFTSCOPE_TRY(budget.steps(given->size()));
    entries = *given;
  } else if (!value.is_undefined()) {
    DRAFTSCOPE_TRY_ASSIGN(const Value pairs, members(value, budget));
    for (const Value& pair : *pairs.list()) {
      DRAFTSCOPE_TRY_ASSIGN(const Value parts, members(pair, budget));
      if (parts.list()->size() != 2)
        return fail("dict: found an item of {} members, expected a key and a value", parts.list()->size());
      DRAFTSCOPE_TRY(set_entry(entries, (*parts.list())[0], (*parts.list())[1], budget));
    }
  }
  for (const auto& [name, item] : named) {
    DRAFTSCOPE_TRY_ASSIGN(Value key, budget.text(name));
    DRAFTSCOPE_TRY(set_entry(entries, std::move(key), item, budget));
  }
  return entries;
}

Result<Value> make_dictionary(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(auto entries, entries_of(at(arguments, 0), arguments.named, budget));
  return budget.dictionary(std::move(entries));
}

Result<Value> make_namespace(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const Dictionary entries, entries_of(at(arguments, 0), arguments.named, budget));
  Object space{.kind = ObjectKind::name_space, .name = {}};
  for (const auto& [key, item] : entries) {
    if (item.object() != nullptr && item.object()->kind == ObjectKind::name_space)
      return fail("a namespace within a namespace is not implemented");
    if (key.string() != nullptr) space.entries.emplace_back(*key.string(), item);
  }
  return budget.object(std::move(space));
}

Result<Value> cycler(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  if (arguments.positional.empty()) return fail("cycler: found no items, expected one or more");
  return budget.object({.kind = ObjectKind::cycler, .name = {}, .items = arguments.positional});
}

Result<Value> joiner(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  Value separator = at(arguments, 0).is_undefined() ? Value(", ") : at(arguments, 0);
  return budget.object({.kind = ObjectKind::joiner, .name = {}, .items = {std::move(separator)}});
}

Result<Value> raise(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, plain_text(at(arguments, 0), budget));
  return fail("{}", excerpt(text));
}

Result<Value> now(const Value& /*none*/, const Arguments& arguments, Budget& budget) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string format, text_at(arguments, 0, ""));
  DRAFTSCOPE_TRY(budget.bytes_read(format.size()));
  const std::time_t time = std::time(nullptr);
  std::tm local{};
  std::array<char, 256> text{};
  if (localtime_r(&time, &local) == nullptr) return fail("strftime_now: found no local time, expected one");
    // The format comes from the template: Hugging Face passes it to strftime in the same way.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const std::size_t size = std::strftime(text.data(), text.size(), format.c_str(), &local);
#pragma GCC diagnostic pop
  return budget.text(std::string(text.data(), size));
}

constexpr Function functions[] = {
    {"range", "*", range},
    {"dict", "*", make_dictionary},
    {"namespace", "*", make_namespace},
    {"cycler", "*", cycler},
    {"joiner", "sep", joiner},
    {"raise_exception", "message", raise},
    {"strftime_now", "format", now},
    {"lipsum", "*",
     [](const Value&, const Arguments&, Budget&) -> Result<Value> {
       return fail("lipsum gives another text each time, expected a template without it");
     }},
};

}  // namespace

const Value& at(const Arguments& arguments, std::size_t index) {
  static const Value missing;
  return index < arguments.positional.size() ? arguments.positional[index] : missing;
}

Result<std::int64_t> integer_at(const Arguments& arguments, std::size_t index, std::int64_t missing) {
  const Value& value = at(arguments, index);
  if (value.is_undefined() || value.is_none()) return missing;
  if (const auto whole = value.integer()) return *whole;
  return fail("an argument is {}, expected an integer", type_name(value));
}

Result<std::string> text_at(const Arguments& arguments, std::size_t index, std::string_view missing) {
  const Value& value = at(arguments, index);
  if (value.is_undefined() || value.is_none()) return std::string(missing);
  if (const auto* text = value.string()) return *text;
  return fail("an argument is {}, expected a string", type_name(value));
}

Result<Value> call(const Function& function, const Value& value, const Arguments& arguments, Budget& budget) {
  if (function.parameters == "*") return function.run(value, arguments, budget);
  Arguments bound{arguments.positional, {}};
  const auto parameters =
      static_cast<std::size_t>(function.parameters.empty() ? 0
                                                           : 1 + std::count(function.parameters.begin(),
                                                                            function.parameters.end(), ','));
  if (bound.positional.size() > parameters)
    return fail("{}: found {} arguments, expected at most {}", function.name, bound.positional.size(),
                parameters);
  bound.positional.resize(parameters);
  for (const auto& [name, argument] : arguments.named) {
    std::string_view rest = function.parameters;
    std::size_t index = 0;
    for (; index < parameters; ++index) {
      const std::string_view parameter = rest.substr(0, rest.find(','));
      if (parameter == name) break;
      rest.remove_prefix(std::min(parameter.size() + 1, rest.size()));
    }
    if (index == parameters)
      return fail("{}: found an argument {}, expected one of: {}", function.name, quote(name),
                  function.parameters);
    bound.positional[index] = argument;
  }
  return function.run(value, bound, budget);
}

bool is_filter(std::string_view name) {
  return find_text_filter(name) != nullptr || find_list_filter(name) != nullptr;
}

Result<Value> apply_filter(const std::string& name, const Value& value, const Arguments& arguments,
                           Budget& budget) {
  const Function* filter = find_text_filter(name);
  if (filter == nullptr) filter = find_list_filter(name);
  if (filter == nullptr) return fail("found a filter {}, expected one of Jinja's", quote(name));
  return call(*filter, value, arguments, budget);
}

bool is_function(std::string_view name) {
  return find_function(functions, name) != nullptr;
}

Result<Value> call_function(const std::string& name, const Arguments& arguments, Budget& budget) {
  return call(*find_function(functions, name), Value(), arguments, budget);
}

Result<Value> loop_member(const Value& value, const std::string& name, Budget& budget) {
  const Object& loop = *value.object();
  const auto index = static_cast<std::int64_t>(loop.at);
  const auto count = static_cast<std::int64_t>(loop.items.size());
  const auto depth = static_cast<std::int64_t>(loop.depth);
  if (name == "index") return Value(index + 1);
  if (name == "index0") return Value(index);
  if (name == "revindex") return Value(count - index);
  if (name == "revindex0") return Value(count - index - 1);
  if (name == "first") return Value(index == 0);
  if (name == "last") return Value(index + 1 == count);
  if (name == "length") return Value(count);
  if (name == "depth") return Value(depth + 1);
  if (name == "depth0") return Value(depth);
  if (name == "previtem") return index == 0 ? Value() : loop.items[loop.at - 1];
  if (name == "nextitem") return index + 1 == count ? Value() : loop.items[loop.at + 1];
  if (name == "cycle" || name == "changed")
    return budget.object({.kind = ObjectKind::method, .name = name, .items = {value}});
  return Value();
}

}  // namespace draftscope::engine::jinja
