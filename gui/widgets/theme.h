// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The colours of the views, light and dark by the palette. They differ under any common colour vision (after
// Okabe and Ito), and are never the only sign: accepted and rejected differ by shape, skipped sublayers are
// hatched.

#include <draftscope/traces/records.h>
#include <QColor>
#include <QPalette>

#include "data/details/replayed_text.h"

namespace draftscope::gui {

[[nodiscard]] bool is_dark(const QPalette& palette);

[[nodiscard]] QColor phase_color(traces::Phase phase, bool dark);
[[nodiscard]] QColor origin_color(TokenOrigin origin, bool dark);
[[nodiscard]] QColor rejected_color(bool dark);
/// Colour of draft tokens that the verifier did not reach.
[[nodiscard]] QColor untested_color(bool dark);
/// Colour of a share from 0 to 1 where more is better; steps look even.
[[nodiscard]] QColor scale_color(double share, bool dark);
/// Colour between two opaque ones, at a share of the way from 0 to 1.
[[nodiscard]] QColor blended(const QColor& from, const QColor& to, double share);
/// Contrast of two opaque colours by WCAG 2: from 1 (alike) to 21 (black on white).
[[nodiscard]] double contrast_of(const QColor& a, const QColor& b);
/// Black or white, whichever is easier to read on a colour.
[[nodiscard]] QColor ink_on(const QColor& back);
[[nodiscard]] QColor grid_color(const QPalette& palette);
/// Colours of the cursor and the selected range.
[[nodiscard]] QColor cursor_color(bool dark);
[[nodiscard]] QColor selection_color(bool dark);

}  // namespace draftscope::gui
