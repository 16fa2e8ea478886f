// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Strategy specifications as text: name:key=value,…

#include <string>
#include <string_view>

namespace draftscope::cli {

/// The specification with one more parameter.
[[nodiscard]] inline std::string with_parameter(std::string specification, std::string_view key,
                                                std::string_view value) {
  const bool first = specification.find(':') == std::string::npos;
  specification += first ? ":" : specification.ends_with(':') ? "" : ",";
  return specification.append(key).append("=").append(value);
}

}  // namespace draftscope::cli
