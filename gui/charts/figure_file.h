// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chart as a file for a paper, drawn from its data in the requested size, font size and resolution; and a
// view or a table as it is. Files are written completely or not at all.

#include <draftscope/base/result.h>

#include <QImage>
#include <QString>
#include <QWidget>

#include "charts/chart.h"

namespace draftscope::gui {

/// Widths of one column, and of both, in common two-column papers.
inline constexpr double single_column_inches = 3.3;
inline constexpr double double_column_inches = 7.0;

/// A figure has the height that its chart needs, in pleasant proportions.
struct FigureOptions {
  double width_inches = single_column_inches;
  double font_points = 8.0;
  bool has_legend = true;
  bool is_dark = false;
  int dots_per_inch = 300;  ///< Dots per inch of a PNG.
};

/// Whether the figure has cells, and one column of a paper has no room for their numbers.
[[nodiscard]] bool needs_both_columns(const Chart& chart);

/// Null if the image would have more than 32,767 pixels per side, which Qt can't draw, or not fit into
/// memory.
[[nodiscard]] QImage figure_image(const Chart& chart, const FigureOptions& options);

/// Writes the kind of file that the path's ending names: .pdf, .svg, .png; or the plotted data: .csv, .tex,
/// .md. Errors: a chart without content, options out of range, a picture of too many pixels, another ending,
/// a file that can't be written.
[[nodiscard]] Result<void> write_figure(const Chart& chart, const FigureOptions& options,
                                        const QString& path);

/// Writes the kind of file that the path's ending names: .png, .svg, .pdf. Errors: another ending, a file
/// that can't be written, no regular file.
[[nodiscard]] Result<void> write_picture(QWidget& view, const QString& path);

}  // namespace draftscope::gui
