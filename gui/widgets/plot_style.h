// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The look of QCustomPlot charts, from a palette: of the plot, of series, and of speedups on both sides of
// vanilla decoding.

#include <qcustomplot.h>
#include <QColor>
#include <QPalette>

namespace draftscope::gui {

/// Sets background, axes, grid, legend and fonts.
void apply_look(QCustomPlot& plot, const QPalette& palette);
/// One of eight colours that differ under any common colour vision: grey for 0, then seven that repeat. With
/// series_shape() of one less, 42 series differ.
[[nodiscard]] QColor series_color(std::size_t index, bool dark);
/// A marker shape per series, so that colour is not the only sign.
[[nodiscard]] QCPScatterStyle::ScatterShape series_shape(std::size_t index);

/// Orange below 1, blue above, the background's shade at 1; strongest from `limit` and its inverse on, linear
/// in log(ratio). `limit` is above 1.
[[nodiscard]] QColor diverging_color(double speedup, double limit, bool dark);

/// Smallest limit of a scale, from a few round ones, that includes a speedup.
[[nodiscard]] double scale_limit_for(double speedup);

/// Black on white for paper, whatever palette the window has.
[[nodiscard]] QPalette paper_palette();

}  // namespace draftscope::gui
