// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Colours of speedups on both sides of vanilla decoding.

#include <QColor>
#include <QPalette>

namespace draftscope::gui {

/// Orange below 1, blue above, the background's shade at 1; strongest from `limit` and its inverse on, linear
/// in log(ratio). `limit` is above 1.
[[nodiscard]] QColor diverging_color(double speedup, double limit, bool dark);

/// Smallest limit of a scale, from a few round ones, that includes a speedup.
[[nodiscard]] double scale_limit_for(double speedup);

/// Black on white for paper, whatever palette the window has.
[[nodiscard]] QPalette paper_palette();

}  // namespace draftscope::gui
