// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The look of QCustomPlot charts, from a palette.

#include <qcustomplot.h>

namespace draftscope::gui {

/// Sets background, axes, grid, legend and fonts.
void apply_look(QCustomPlot& plot, const QPalette& palette);
/// One of eight colours that differ under any common colour vision: grey for 0, then seven that repeat. With
/// series_shape() of one less, 42 series differ.
[[nodiscard]] QColor series_color(std::size_t index, bool dark);
/// A marker shape per series, so that colour is not the only sign.
[[nodiscard]] QCPScatterStyle::ScatterShape series_shape(std::size_t index);

}  // namespace draftscope::gui
