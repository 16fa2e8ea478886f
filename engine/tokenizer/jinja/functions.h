// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The filters, tests, methods and global functions that published chat templates use.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

[[nodiscard]] bool is_known_filter(std::string_view name);
[[nodiscard]] bool is_known_test(std::string_view name);
[[nodiscard]] bool is_known_method(std::string_view name);
[[nodiscard]] bool is_known_function(std::string_view name);

/// No text or list grows past this: a hostile template could double one at every step.
inline constexpr std::size_t longest_value = std::size_t{16} << 20U;

using Arguments = std::vector<Value>;

[[nodiscard]] Result<Value> apply_filter(const std::string& name, const Value& value,
                                         const Arguments& arguments);
[[nodiscard]] Result<bool> apply_test(const std::string& name, const Value& value,
                                      const Arguments& arguments);
[[nodiscard]] Result<Value> call_method(const std::string& name, const Value& value,
                                        const Arguments& arguments);
[[nodiscard]] Result<Value> call_function(const std::string& name, const Arguments& arguments,
                                          Dictionary keywords);

}  // namespace draftscope::engine::jinja
