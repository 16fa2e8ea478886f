// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Differences as people read them.

#include <fmt/format.h>
#include <string>

namespace draftscope::cli {

/// "+0.12", "-1.30"; what rounds to nothing is "+0.00", whichever side it is on.
[[nodiscard]] inline std::string signed_number(double value, int digits) {
  std::string text = fmt::format("{:+.{}f}", value, digits);
  if (text.find_first_of("123456789") == std::string::npos) text.front() = '+';
  return text;
}

}  // namespace draftscope::cli
