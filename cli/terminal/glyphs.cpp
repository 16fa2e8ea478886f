// SPDX-License-Identifier: GPL-3.0-or-later
#include "terminal/glyphs.h"

#include <draftscope/base/ascii.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace draftscope::cli {

namespace {

/// First non-empty locale variable for the character encoding, in POSIX order.
std::string_view locale_name() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  return "C";
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : unlimited_columns;
}

}  // namespace

Glyphs glyphs_for_stdout() {
  if (isatty(STDOUT_FILENO) == 0) return {};
  const std::string name = in_lower_case(locale_name());
  return {name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos,
          terminal_columns()};
}

std::string bar(double share, std::size_t width, const Glyphs& glyphs) {
  share = std::clamp(share, 0.0, 1.0);
  if (!glyphs.unicode)
    return std::string(static_cast<std::size_t>(std::lround(share * static_cast<double>(width))), '#');
  static constexpr std::array<std::string_view, 8> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(8 * width)));
  std::string cells;
  for (std::size_t i = 0; i < filled / 8; ++i) cells += "█";
  cells += eighths[filled % 8];
  return cells;
}

std::string line_chart(std::span<const double> values, std::size_t width, const Glyphs& glyphs) {
  static constexpr std::array<std::string_view, 8> drawn{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 8> plain{"_", ".", "-", "~", "=", "+", "*", "#"};
  const std::array<std::string_view, 8>& heights = glyphs.unicode ? drawn : plain;
  if (values.empty()) return {};
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  const double range = *max - *min;
  const std::size_t cells = std::min(width, values.size());
  std::string text;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t begin = cell * values.size() / cells;
    const std::size_t end = (cell + 1) * values.size() / cells;
    double sum = 0.0;
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    const double share = range > 0.0 ? (sum / static_cast<double>(end - begin) - *min) / range : 0.0;
    const auto height = static_cast<std::size_t>(std::clamp(std::lround(share * 7.0), 0L, 7L));
    text += heights[height];
  }
  return text;
}

}  // namespace draftscope::cli
