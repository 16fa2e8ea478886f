// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/numbers.h"

#include <fmt/core.h>

#include <array>
#include <cmath>

namespace draftscope::cli {

namespace {

constexpr double smallest_shown = 0.001;

}  // namespace

std::string number(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == 0.0) return "0";
  // Decimals that leave three significant digits; rounding may add one ("9.996" → "10.00"), which does no
  // harm.
  const int leading = static_cast<int>(std::floor(std::log10(magnitude)));
  const int decimals = leading >= 2 ? 0 : 2 - leading;
  if (decimals > 9) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string number(const std::optional<double>& value, const Glyphs& glyphs) {
  return value ? number(*value) : std::string(glyphs.absent());
}

std::string count(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) digits.insert(place -= 3, " ");
  return digits;
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string percent(const std::optional<double>& share, const Glyphs& glyphs) {
  return share ? percent(*share) : std::string(glyphs.absent());
}

std::string duration(double ns, const Glyphs& glyphs) {
  const double magnitude = std::abs(ns);
  if (magnitude < 1e3) return number(std::round(ns)).append(" ns");
  if (magnitude < 1e6) return fmt::format("{} {}s", number(ns / 1e3), glyphs.micro());
  if (magnitude < 1e9) return fmt::format("{} ms", number(ns / 1e6));
  return fmt::format("{} s", number(ns / 1e9));
}

std::string duration(const std::optional<double>& ns, const Glyphs& glyphs) {
  return ns ? duration(*ns, glyphs) : std::string(glyphs.absent());
}

std::string bytes_text(double bytes) {
  constexpr double kib = 1024.0;
  if (bytes < kib) return number(bytes).append(" bytes");
  if (bytes < kib * kib) return fmt::format("{} KiB", number(bytes / kib));
  if (bytes < kib * kib * kib) return fmt::format("{} MiB", number(bytes / (kib * kib)));
  return fmt::format("{} GiB", number(bytes / (kib * kib * kib)));
}

std::string factor(double value, const Glyphs& glyphs) {
  return fmt::format("{:.2f}{}", value, glyphs.times());
}

std::string ratio(double value) {
  if (value == 0.0 || !(std::abs(value) < smallest_shown)) return number(value);
  return value > 0.0 ? "< 0.001" : "> -0.001";
}

std::string p_value(double value) {
  return value < smallest_shown ? "< 0.001" : fmt::format("{:.3f}", value);
}

}  // namespace draftscope::cli
