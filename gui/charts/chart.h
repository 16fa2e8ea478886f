// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart as data: what is plotted, in which order, and the same data as a table. The window (chart_plot.h)
// and files for a paper (charts/figure_file.h) draw it, each in its own size and colours.

#include <QString>
#include <QStringList>
#include <QVariant>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::gui {

/// The plotted data. Every row has one value per column; numbers are doubles or integers, and a missing value
/// is invalid.
struct ChartTable {
  QStringList columns;
  std::vector<std::vector<QVariant>> rows;
  std::vector<bool> are_numbers{};  ///< [column] Whether it is aligned right; empty = by its values.
};

struct ChartAxis {
  QString label;
  bool is_logarithmic = false;
  bool has_whole_numbers = false;  ///< Whether values are counts, without fractions.
  QStringList names;  ///< Names of the places 0, 1, 2, … instead of numbers; downwards on a vertical axis.
  std::optional<double> low, high;  ///< absent = fits the data
};

enum class ChartMark : std::uint8_t {
  points,
  line,
  line_with_points,
  steps_to_left,  ///< Between two points, the line is as high as the left one.
  bars,
  filled_steps,  ///< Like steps_to_left, filled down to the previous series of the panel, or to 0.
};

struct ChartSeries {
  QString name;  ///< Name in the legend; empty = not listed.
  ChartMark mark = ChartMark::points;
  std::size_t color = 1;          ///< Index for series_color() and series_shape().
  bool is_hollow = false;         ///< Whether marks are outlines.
  std::vector<double> x, y;       ///< Places on the axes.
  std::vector<double> low, high;  ///< Interval of each value; empty, or NaN where there is none.
  QStringList words;              ///< Text about each point; empty = its numbers.
};

/// A line across the panel, such as 1× of a speedup.
struct ChartLine {
  double at = 1.0;
  bool is_upright = false;  ///< Whether it stands at a place of the horizontal axis.
};

/// A speedup in a matrix: orange below 1, blue above.
struct ChartCell {
  int column = 0;
  int row = 0;
  std::optional<double> speedup;  ///< absent = no speedup; the cell is crossed out
  QString text;
  QString words;  ///< Text about the cell.
  bool is_marked = false;
  bool is_uncertain = false;  ///< Whether the mark is drawn dashed, since it may be chance.
};

struct ChartPanel {
  ChartAxis y;
  std::vector<ChartSeries> series;
  std::vector<ChartLine> lines;
  std::vector<ChartCell> cells;
  /// Values run along the horizontal axis: bars are horizontal, and intervals are intervals of x.
  bool has_values_along_x = false;
  int share = 1;  ///< Share of the height.
};

struct Chart {
  QString name;
  ChartAxis x;                     ///< All panels have this axis.
  std::vector<ChartPanel> panels;  ///< Panels from top to bottom.
  double scale_limit = 2.0;        ///< Colours are strongest from this speedup, and from its inverse, on.
  QString note;                    ///< Words below the picture that say what its marks mean.
  ChartTable table;

  [[nodiscard]] bool empty() const { return panels.empty(); }
};

}  // namespace draftscope::gui
