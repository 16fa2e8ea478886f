// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The filters, tests, methods and global functions of Jinja, and of Hugging Face's setting of it. They are
// looked up when a template reaches them.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string>
#include <string_view>

#include "tokenizer/jinja/budget.h"
#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

/// The arguments of a call as they are written.
struct Arguments {
  List positional;
  Variables named;
};

/// A function under the name that templates use. Its arguments come in the order of `parameters`, which are
/// separated by commas; those not given are undefined. For "*" they come as they are written.
struct Function {
  std::string_view name;
  std::string_view parameters;
  Result<Value> (*run)(const Value& value, const Arguments& arguments, Budget& budget);
};

/// Each of these charges the budget for what it reads and what it makes.
[[nodiscard]] Result<Value> apply_filter(const std::string& name, const Value& value,
                                         const Arguments& arguments, Budget& budget);
[[nodiscard]] Result<bool> apply_test(const std::string& name, const Value& value, const Arguments& arguments,
                                      Budget& budget);
[[nodiscard]] bool is_filter(std::string_view name);
[[nodiscard]] bool is_test(std::string_view name);
[[nodiscard]] bool is_function(std::string_view name);
[[nodiscard]] Result<Value> call_function(const std::string& name, const Arguments& arguments,
                                          Budget& budget);

/// Whether a value has the method, of those that change nothing.
[[nodiscard]] bool has_method(const Value& value, std::string_view name);
[[nodiscard]] Result<Value> call_method(const std::string& name, const Value& value,
                                        const Arguments& arguments, Budget& budget);
/// The member of a loop that a name stands for; undefined if there is none.
[[nodiscard]] Result<Value> loop_member(const Value& loop, const std::string& name, Budget& budget);

/// Calls a function with its arguments in the order of its parameters.
[[nodiscard]] Result<Value> call(const Function& function, const Value& value, const Arguments& arguments,
                                 Budget& budget);
/// Arguments of a function that were bound: the integer at a place, or `missing`.
[[nodiscard]] Result<std::int64_t> integer_at(const Arguments& arguments, std::size_t index,
                                              std::int64_t missing);
/// The text at a place; `missing` if none was given.
[[nodiscard]] Result<std::string> text_at(const Arguments& arguments, std::size_t index,
                                          std::string_view missing);
[[nodiscard]] const Value& at(const Arguments& arguments, std::size_t index);

/// Filters of texts, and those of lists and other values.
[[nodiscard]] const Function* find_text_filter(std::string_view name);
[[nodiscard]] const Function* find_list_filter(std::string_view name);

template <std::size_t Count>
const Function* find_function(const Function (&functions)[Count], std::string_view name) {
  for (const Function& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

/// The lines of a text as Python's splitlines() gives them.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends = false);
/// The text without the characters of `set` (white space if null) at its ends.
[[nodiscard]] Result<std::string_view> stripped(std::string_view text, const std::string* set, bool left,
                                                bool right, Budget& budget);
/// The words between white space.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
[[nodiscard]] std::string centered(std::string_view text, std::int64_t width, std::string_view fill);

}  // namespace draftscope::engine::jinja
