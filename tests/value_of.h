// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <optional>
#include <stdexcept>
#include <utility>

namespace draftscope {

/// The value of a result that the test needs to continue. If the result is an error, the test fails with it.
template <typename T>
[[nodiscard]] T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}
template <typename T>
[[nodiscard]] T value_of(std::optional<T> found) {
  if (!found) throw std::runtime_error("found no value, expected one");
  return *std::move(found);
}

}  // namespace draftscope
