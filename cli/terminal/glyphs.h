// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Characters for drawing reports, and their width: Unicode on a UTF-8 terminal, ASCII in pipes, files and
// other locales.

#include <draftscope/base/number_text.h>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::cli {

/// Columns of an output that is not a terminal: readers of a file scroll, and programs split at line ends.
inline constexpr std::size_t unlimited_columns = static_cast<std::size_t>(-1);

struct Glyphs {
  bool unicode = false;
  std::size_t columns = unlimited_columns;  ///< Max cells of a line.

  /// Characters for the functions of number_text.h.
  [[nodiscard]] Characters characters() const { return unicode ? Characters::unicode : Characters::ascii; }
  [[nodiscard]] std::string_view times() const { return unicode ? "×" : "x"; }
  [[nodiscard]] std::string_view absent() const { return absent_text(characters()); }
  [[nodiscard]] std::string_view separator() const { return unicode ? " · " : ", "; }
  [[nodiscard]] std::string_view range() const { return unicode ? "–" : ".."; }
};

/// Cells of a bar, or of a line chart beside figures.
inline constexpr std::size_t bar_width = 32;

/// Glyphs for the current standard output: a terminal with a UTF-8 locale gets Unicode, and lines of its
/// width.
[[nodiscard]] Glyphs glyphs_for_stdout();

/// Bar that fills `share` (clamped to 0 … 1) of `width` cells, to an eighth of a cell in Unicode.
[[nodiscard]] std::string bar(double share, std::size_t width, const Glyphs& glyphs);

/// Chart of finite values from left to right in at most `width` cells. Each cell is the mean over its values,
/// in eight heights from the min to the max value.
[[nodiscard]] std::string line_chart(std::span<const double> values, std::size_t width, const Glyphs& glyphs);

}  // namespace draftscope::cli
