// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What ends a launch: thrown where it is found, made an Error where the launch was asked for.

#include <fmt/format.h>

#include <string>
#include <utility>

namespace draftscope::ptx {

struct Fault {
  int lane = 0;
  std::string what;  ///< what was found, and what was expected
};

template <typename... Args>
[[noreturn]] void raise(int lane, fmt::format_string<Args...> format, Args&&... args) {
  throw Fault{lane, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace draftscope::ptx
