// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The look of QCustomPlot charts, from the palette at hand.

#include <qcustomplot.h>

namespace draftscope::gui {

/// Background, axes, grid, legend and fonts.
void apply_look(QCustomPlot& plot, const QPalette& palette);
/// One of eight colours that stay apart with any common colour vision; repeats after that.
[[nodiscard]] QColor series_color(std::size_t index, bool dark);
/// A marker shape of its own for each, so that colour is not the only sign.
[[nodiscard]] QCPScatterStyle::ScatterShape series_shape(std::size_t index);

}  // namespace draftscope::gui
