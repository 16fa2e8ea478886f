// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Characters that reports draw with, and their width: Unicode on a UTF-8 terminal, ASCII in pipes, files and
// other locales.

#include <draftscope/base/number_text.h>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::cli {

/// Columns of an output that is not a terminal: a file's reader scrolls, a program splits at line ends.
inline constexpr std::size_t unlimited_columns = static_cast<std::size_t>(-1);

struct Glyphs {
  bool unicode = false;
  std::size_t columns = unlimited_columns;  ///< cells that a line may take

  /// Characters for the functions of number_text.h.
  [[nodiscard]] Characters characters() const { return unicode ? Characters::unicode : Characters::ascii; }
  [[nodiscard]] std::string_view times() const { return unicode ? "×" : "x"; }
  [[nodiscard]] std::string_view absent() const { return absent_text(characters()); }
  [[nodiscard]] std::string_view separator() const { return unicode ? " · " : ", "; }
  [[nodiscard]] std::string_view range() const { return unicode ? "–" : ".."; }
};

/// Glyphs for standard output as it is now: a terminal whose locale is UTF-8 gets Unicode, and lines of its
/// width.
[[nodiscard]] Glyphs glyphs_for_stdout();

/// `share` (clamped to 0 … 1) of `width` cells, to an eighth of a cell in Unicode.
[[nodiscard]] std::string bar(double share, std::size_t width, const Glyphs& glyphs);

/// Finite values from left to right, at most `width` cells: each the mean of its share of the values, in
/// eight heights from the least to the greatest value.
[[nodiscard]] std::string line_chart(std::span<const double> values, std::size_t width, const Glyphs& glyphs);

}  // namespace draftscope::cli
