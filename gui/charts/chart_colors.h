// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Colours of speedups on both sides of vanilla decoding.

#include <QColor>
#include <QPalette>

namespace draftscope::gui {

/// Orange below 1, blue above, the background's shade at 1; strongest from `limit` and its inverse on, even
/// by ratio. `limit` is above 1.
[[nodiscard]] QColor diverging_color(double speedup, double limit, bool dark);

/// The least limit of a scale, of a few round ones, that a speedup lies within.
[[nodiscard]] double scale_limit_for(double speedup);

/// Black on white, whatever the window has: for paper.
[[nodiscard]] QPalette paper_palette();

}  // namespace draftscope::gui
