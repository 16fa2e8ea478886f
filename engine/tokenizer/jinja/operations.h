// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What Python does with the values of a template: comparison, arithmetic, members, iteration. Each function
// charges the budget for what it reads and what it makes.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>

#include "tokenizer/jinja/budget.h"
#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

[[nodiscard]] Result<bool> equal(const Value& left, const Value& right, Budget& budget);
/// Below zero, zero or above zero; fails for what has no order.
[[nodiscard]] Result<int> order(const Value& left, const Value& right, Budget& budget);
[[nodiscard]] Result<bool> contains(const Value& container, const Value& item, Budget& budget);
/// The result of + - * / // % ** or ~, or of < <= > >= == != in or "not in".
[[nodiscard]] Result<Value> binary(std::string_view name, const Value& left, const Value& right,
                                   Budget& budget);
[[nodiscard]] Result<Value> unary(std::string_view name, const Value& operand);

/// The result of object.name: a method before an entry. Undefined if there is none.
[[nodiscard]] Result<Value> attribute(const Value& object, const std::string& name, Budget& budget);
/// The result of object[key]: an entry before a method. Undefined if there is none.
[[nodiscard]] Result<Value> subscript(const Value& object, const Value& key, Budget& budget);
[[nodiscard]] Result<Value> slice(const Value& object, const Value& first, const Value& last,
                                  const Value& step, Budget& budget);
/// The entry of a dictionary; undefined if there is none.
[[nodiscard]] Result<Value> entry(const Dictionary& dictionary, const Value& key, Budget& budget);
/// Adds or replaces an entry. Fails for a key that Python could not hash.
[[nodiscard]] Result<void> set_entry(Dictionary& dictionary, Value key, Value value, Budget& budget);

/// The members of what can be iterated, as a list: characters, keys, items. A generator is used up by it.
[[nodiscard]] Result<Value> members(const Value& value, Budget& budget);
[[nodiscard]] Result<Value> length(const Value& value, Budget& budget);

}  // namespace draftscope::engine::jinja
