// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Return type of functions that can fail, in every library. std::expected arrives with C++23; tl::expected
// has the same interface. Errors are values: they cross module boundaries instead of exceptions, and contain
// one line for the user.

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace draftscope {

/// One line that names the file or field, the value found and what was expected, without a newline or full
/// stop at the end.
struct Error {
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Makes an error: `return fail("{}: header is {} bytes, file has {}", path, a, b);`
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace draftscope

/// Evaluates a Result expression; if it is an error, returns that from the enclosing function.
#define DRAFTSCOPE_TRY(expression)                                                      \
  do {                                                                                  \
    if (auto draftscope_result = (expression); !draftscope_result)                      \
      return tl::unexpected<::draftscope::Error>(std::move(draftscope_result).error()); \
  } while (false)

/// Binds the value of a Result expression, or returns its error:
/// `DRAFTSCOPE_TRY_ASSIGN(auto model, load(path));`
/// The line number is expanded only once, in a separate step, since GCC may expand __LINE__ differently in
/// arguments that span lines.
#define DRAFTSCOPE_TRY_ASSIGN(declaration, expression) \
  DRAFTSCOPE_TRY_ASSIGN_AT(__LINE__, declaration, expression)
#define DRAFTSCOPE_TRY_ASSIGN_AT(line, declaration, expression) \
  DRAFTSCOPE_TRY_ASSIGN_NAMED(line, declaration, expression)
#define DRAFTSCOPE_TRY_ASSIGN_NAMED(line, declaration, expression)                           \
  auto draftscope_result_##line = (expression);                                              \
  if (!draftscope_result_##line)                                                             \
    return tl::unexpected<::draftscope::Error>(std::move(draftscope_result_##line).error()); \
  declaration = std::move(draftscope_result_##line).value()
