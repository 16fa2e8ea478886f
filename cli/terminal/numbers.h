// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as people read them (number_text.h), in the terminal's characters. Absent values become a dash.

#include <draftscope/base/number_text.h>
#include <fmt/format.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/glyphs.h"

namespace draftscope::cli {

[[nodiscard]] inline std::string number(double value) {
  return number_text(value);
}
[[nodiscard]] inline std::string number(const std::optional<double>& value, const Glyphs& glyphs) {
  return value ? number_text(*value) : std::string(glyphs.absent());
}

[[nodiscard]] inline std::string count(std::int64_t value) {
  return count_text(value);
}

/// Text like "12 prompts", "1 layer".
[[nodiscard]] inline std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

[[nodiscard]] inline std::string percent(double share) {
  return percent_text(share);
}
[[nodiscard]] inline std::string percent(const std::optional<double>& share, const Glyphs& glyphs) {
  return share ? percent_text(*share) : std::string(glyphs.absent());
}

[[nodiscard]] inline std::string duration(double ns, const Glyphs& glyphs) {
  return duration_text(ns, glyphs.characters());
}
[[nodiscard]] inline std::string duration(const std::optional<double>& ns, const Glyphs& glyphs) {
  return ns ? duration(*ns, glyphs) : std::string(glyphs.absent());
}

/// "1.52×"
[[nodiscard]] inline std::string factor(double value, const Glyphs& glyphs) {
  return speedup_text(value, glyphs.characters());
}

/// Text like "1.21–1.43", for any type with `low` and `high`.
template <typename Interval>
[[nodiscard]] std::string range(const std::optional<Interval>& interval, const Glyphs& glyphs) {
  return interval ? range_text(interval->low, interval->high, glyphs.characters())
                  : std::string(glyphs.absent());
}

}  // namespace draftscope::cli
