// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The filters, tests, methods and global functions that published chat templates use.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/jinja/budget.h"
#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

[[nodiscard]] bool is_known_filter(std::string_view name);
[[nodiscard]] bool is_known_test(std::string_view name);
[[nodiscard]] bool is_known_method(std::string_view name);
[[nodiscard]] bool is_known_function(std::string_view name);

using Arguments = std::vector<Value>;

// Each function charges the budget for what it reads and what it makes.
[[nodiscard]] Result<Value> apply_filter(const std::string& name, const Value& value,
                                         const Arguments& arguments, Budget& budget);
[[nodiscard]] Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                                      Budget& budget);
[[nodiscard]] Result<Value> call_method(const std::string& name, const Value& value,
                                        const Arguments& arguments, Budget& budget);
[[nodiscard]] Result<Value> call_function(const std::string& name, const Arguments& arguments,
                                          Dictionary keywords, Budget& budget);

/// A list of the keys, in order.
[[nodiscard]] Result<Value> keys(const Dictionary& entries, Budget& budget);
/// The entry of a dictionary; undefined if there is none.
[[nodiscard]] Result<Value> entry(const Dictionary& dictionary, const std::string& key, Budget& budget);
[[nodiscard]] Result<bool> equal(const Value& left, const Value& right, Budget& budget);
/// Position of `part` in `text`, at `from` or later; npos if there is none. Takes linear time for any
/// contents.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view part, std::size_t from = 0);

}  // namespace draftscope::engine::jinja
