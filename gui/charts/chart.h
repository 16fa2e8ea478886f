// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart as data: what is plotted, in which order, and the same as a table. The window draws it
// (chart_plot.h), and so do files for a paper (charts/figure_file.h), each in its own size and colours.

#include <QString>
#include <QStringList>
#include <QVariant>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::gui {

/// The plotted data. Every row has a value a column; numbers are doubles or integers, what is missing is
/// invalid.
struct ChartTable {
  QStringList columns;
  std::vector<std::vector<QVariant>> rows;
};

struct ChartAxis {
  QString label;
  bool is_logarithmic = false;
  bool has_whole_numbers = false;  ///< counts, of which there is no half
  QStringList names;  ///< Names of the places 0, 1, 2, … in place of numbers; downwards on a vertical axis.
  std::optional<double> low, high;  ///< absent: what fits the data
};

enum class ChartMark : std::uint8_t {
  points,
  line,
  line_with_points,
  steps_to_left,  ///< between two points as high as the left one
  bars,
  filled_steps,  ///< steps_to_left, filled down to the series before it in the panel, or to 0
};

struct ChartSeries {
  QString name;  ///< in the legend; empty: not listed
  ChartMark mark = ChartMark::points;
  std::size_t color = 1;          ///< an index of series_color() and series_shape()
  bool is_hollow = false;         ///< marks are outlines
  std::vector<double> x, y;       ///< places on the axes
  std::vector<double> low, high;  ///< interval of each value; empty, or NaN where there is none
  QStringList words;              ///< said of each point; empty: its numbers
};

/// A line across the panel: 1× of a speedup.
struct ChartLine {
  double at = 1.0;
  bool is_upright = false;  ///< at a place of the horizontal axis
};

/// A speedup in a matrix: orange below 1, blue above.
struct ChartCell {
  int column = 0;
  int row = 0;
  std::optional<double> speedup;  ///< absent: there is none, and the cell is crossed out
  QString text;
  QString words;  ///< said of the cell
  bool is_marked = false;
};

struct ChartPanel {
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::vector<ChartLine> lines;
  std::vector<ChartCell> cells;
  /// Values run along the horizontal axis: bars lie, and intervals are of x.
  bool has_values_along_x = false;
  int share = 1;  ///< Share of the height.
};

struct Chart {
  QString name;
  ChartAxis x;                     ///< All panels have this axis.
  std::vector<ChartPanel> panels;  ///< from the top
  double scale_limit = 2.0;        ///< cells have their strongest colours from here, and from its inverse, on
  ChartTable table;

  [[nodiscard]] bool empty() const { return panels.empty(); }
};

}  // namespace draftscope::gui
