// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a function that can fail returns, in every library. std::expected arrives with C++23; tl::expected is
// the same interface. Errors are values: they cross module edges instead of exceptions, and carry one line
// for the user.

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace draftscope {

/// One line that names the file or field, what was found and what was expected. No trailing newline or full
/// stop.
struct Error {
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail("{}: header is {} bytes, file has {}", path, a, b);`
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace draftscope

/// Evaluates a Result expression and returns its error from the enclosing function if it holds one.
#define DRAFTSCOPE_TRY(expression)                                                      \
  do {                                                                                  \
    if (auto draftscope_result = (expression); !draftscope_result)                      \
      return tl::unexpected<::draftscope::Error>(std::move(draftscope_result).error()); \
  } while (false)

/// DRAFTSCOPE_TRY_ASSIGN(auto model, load(path)); — binds the value or returns the error.
#define DRAFTSCOPE_CONCAT_(a, b) a##b
#define DRAFTSCOPE_CONCAT(a, b) DRAFTSCOPE_CONCAT_(a, b)
#define DRAFTSCOPE_TRY_ASSIGN(declaration, expression) \
  DRAFTSCOPE_TRY_ASSIGN_(declaration, expression, DRAFTSCOPE_CONCAT(draftscope_result_, __LINE__))
#define DRAFTSCOPE_TRY_ASSIGN_(declaration, expression, result)                       \
  auto result = (expression);                                                         \
  if (!result) return tl::unexpected<::draftscope::Error>(std::move(result).error()); \
  declaration = std::move(result).value()
