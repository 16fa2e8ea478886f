// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Charts as SVG: lines, marks and bars over one axis, light and as wide as a paper's column. The app draws
// its charts with widgets of Qt, which the command does without; colours and marks are those of the app.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::cli {

/// Colour of what is drawn for completeness.
inline constexpr std::size_t light_grey = 8;

/// Colour of one of several series; after the last colour they begin again.
[[nodiscard]] constexpr std::size_t series_color(std::size_t index) {
  return 1 + index % (light_grey - 1);
}

enum class ChartMark : std::uint8_t { none, dot, ring, cross, bar };

struct ChartSeries {
  std::string name;       ///< Name in the legend; empty = not listed.
  std::size_t color = 1;  ///< Index into the app's colours of series, or light_grey.
  ChartMark mark = ChartMark::dot;
  bool is_joined = false;         ///< Whether a line joins the points; a value that is not finite breaks it.
  bool is_dashed = false;         ///< Whether that line is dashed.
  std::vector<double> x, y;       ///< Places on the axes.
  std::vector<double> low, high;  ///< Interval of each y; of a bar, `low` is where it begins. Empty = none.
};

struct Chart {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<std::string> places;  ///< Names of the places 0, 1, 2, … on the x axis; empty = numbers.
  std::vector<std::string> rows;  ///< Names of the heights 0 … 1, 1 … 2, … of the y axis; empty = numbers.
  double bar_width = 0.8;         ///< Width of bars, in units of x.
  std::vector<ChartSeries> series;
  std::optional<double> level;  ///< A line across, such as the 1× of a speedup.
  std::string sentence;         ///< Sentence below the chart that says what it means.
};

/// The charts as one picture, one below the other. Charts without a finite point are left out; the result is
/// empty if none is left.
[[nodiscard]] std::string charts_svg(std::span<const Chart> charts);

}  // namespace draftscope::cli
