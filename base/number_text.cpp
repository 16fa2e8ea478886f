// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/number_text.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace draftscope {

namespace {

constexpr double smallest_shown = 0.001;

/// A number's text with the minus sign of the characters.
std::string with_minus(std::string text, Characters characters) {
  if (characters == Characters::unicode && text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

std::string_view range_sign(Characters characters) {
  return characters == Characters::unicode ? "–" : "..";
}

/// Power of ten of the first digit, after rounding to three significant digits: 1 for 9.996.
int leading_power(double value) {
  const std::string text = fmt::format("{:.2e}", value);
  std::string_view power = std::string_view(text).substr(text.find('e') + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  return parse_number<int>(power).value_or(0);
}

}  // namespace

std::string_view absent_text(Characters characters) {
  return characters == Characters::unicode ? "–" : "-";
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0.0) return "0";
  constexpr int max_decimals = 9;
  const int decimals = std::max(0, 2 - leading_power(value));
  return decimals > max_decimals ? fmt::format("{:.2e}", value) : fmt::format("{:.{}f}", value, decimals);
}

std::string signed_text(double value, int decimals, Characters characters) {
  const bool is_unicode = characters == Characters::unicode;
  const std::string number = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (number.find_first_of("123456789") == std::string::npos) return (is_unicode ? "±" : "+") + number;
  return (value > 0.0 ? "+" : is_unicode ? "−" : "-") + number;
}

std::string count_text(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) digits.insert(place -= 3, " ");
  return digits;
}

std::string speedup_text(double speedup, Characters characters) {
  return fmt::format("{:.2f}{}", speedup, characters == Characters::unicode ? "×" : "x");
}

std::string range_text(double low, double high, Characters characters) {
  return fmt::format("{:.2f}{}{:.2f}", low, range_sign(characters), high);
}

std::string speedups_text(double a, double b, Characters characters) {
  return fmt::format("{}{}{}", speedup_text(std::min(a, b), characters), range_sign(characters),
                     speedup_text(std::max(a, b), characters));
}

std::string percent_text(double share, int decimals) {
  return fmt::format("{:.{}f} %", 100.0 * share, decimals);
}

std::string ratio_text(double value, Characters characters) {
  if (value == 0.0 || !(std::abs(value) < smallest_shown)) return with_minus(number_text(value), characters);
  if (value > 0.0) return "< 0.001";
  return characters == Characters::unicode ? "> −0.001" : "> -0.001";
}

std::string p_value_text(double value) {
  return value < smallest_shown ? "< 0.001" : fmt::format("{:.3f}", value);
}

std::string duration_text(double ns, Characters characters) {
  const double magnitude = std::abs(ns);
  constexpr double us = 1e3;
  if (magnitude < us) return with_minus(fmt::format("{:.0f} ns", ns), characters);
  const std::array<std::pair<double, const char*>, 3> units{
      {{1e9, "s"}, {1e6, "ms"}, {us, characters == Characters::unicode ? "µs" : "us"}}};
  // What rounds to a thousand of a unit is one of the next: 1.00 ms, not 1000 µs.
  const auto* const unit = std::find_if(units.begin(), units.end() - 1, [&](const auto& candidate) {
    return leading_power(magnitude / candidate.first) >= 0;
  });
  return with_minus(number_text(ns / unit->first), characters) + ' ' + unit->second;
}

std::string bytes_text(double bytes) {
  constexpr double kib = 1024.0;
  if (bytes < kib) return fmt::format("{:.0f} bytes", bytes);
  if (bytes < kib * kib) return number_text(bytes / kib) + " KiB";
  if (bytes < kib * kib * kib) return number_text(bytes / (kib * kib)) + " MiB";
  return number_text(bytes / (kib * kib * kib)) + " GiB";
}

}  // namespace draftscope
