// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as people read them: three significant digits, with their unit. Absent values become a dash.

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "terminal/glyphs.h"

namespace draftscope::cli {

/// "0.0312", "4.21", "61.8", "1235": at least three significant digits, whole numbers from 100 on.
[[nodiscard]] std::string number(double value);
[[nodiscard]] std::string number(const std::optional<double>& value, const Glyphs& glyphs);

/// "12 345"
[[nodiscard]] std::string count(std::int64_t value);

/// "71.4 %"
[[nodiscard]] std::string percent(double share);
[[nodiscard]] std::string percent(const std::optional<double>& share, const Glyphs& glyphs);

/// "831 ns", "4.21 µs", "61.8 ms", "1.25 s"
[[nodiscard]] std::string duration(double ns, const Glyphs& glyphs);
[[nodiscard]] std::string duration(const std::optional<double>& ns, const Glyphs& glyphs);

/// "831 bytes", "4.21 KiB", "61.8 MiB", "1.25 GiB"
[[nodiscard]] std::string bytes_text(double bytes);

/// "1.52×"
[[nodiscard]] std::string factor(double value, const Glyphs& glyphs);

/// As number(), or "< 0.001", "> -0.001" where it is nearer to 0.
[[nodiscard]] std::string ratio(double value);

/// "0.031", or "< 0.001"
[[nodiscard]] std::string p_value(double value);

/// "+0.12", "-1.30"; what rounds to nothing is "+0.00", whichever side it is on.
[[nodiscard]] inline std::string signed_number(double value, int digits) {
  std::string text = fmt::format("{:+.{}f}", value, digits);
  if (text.find_first_of("123456789") == std::string::npos) text.front() = '+';
  return text;
}

}  // namespace draftscope::cli
