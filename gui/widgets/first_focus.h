// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The part of a view that takes the focus when the view is given it. Unlike a focus proxy it leaves the Tab
// key alone, which would go from the view straight to its proxy, past all that stands before it.

#include <QWidget>

namespace draftscope::gui {

/// From now on `part`, which is in the view, is the one.
void set_first_focus(QWidget& view, QWidget& part);
/// Null if none was named.
[[nodiscard]] QWidget* first_focus(const QWidget& view);

}  // namespace draftscope::gui
