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

/// DRAFTSCOPE_TRY_ASSIGN(auto model, load(path)); — binds the value or returns the error. The line number is
/// expanded once, on its own: where the arguments span lines, GCC may give each expansion of __LINE__ another
/// value.
#define DRAFTSCOPE_TRY_ASSIGN(declaration, expression) \
  DRAFTSCOPE_TRY_ASSIGN_AT(__LINE__, declaration, expression)
#define DRAFTSCOPE_TRY_ASSIGN_AT(line, declaration, expression) \
  DRAFTSCOPE_TRY_ASSIGN_NAMED(line, declaration, expression)
#define DRAFTSCOPE_TRY_ASSIGN_NAMED(line, declaration, expression)                           \
  auto draftscope_result_##line = (expression);                                              \
  if (!draftscope_result_##line)                                                             \
    return tl::unexpected<::draftscope::Error>(std::move(draftscope_result_##line).error()); \
  declaration = std::move(draftscope_result_##line).value()
