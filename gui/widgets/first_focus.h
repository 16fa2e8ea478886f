// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The part of a view that takes the focus when the view is given it. A focus proxy would change the Tab key:
// it would jump from the view straight to the proxy, past everything before it.

#include <QWidget>

namespace draftscope::gui {

/// Makes `part`, which is in the view, take the focus.
void set_first_focus(QWidget& view, QWidget& part);
/// Null if no part was set.
[[nodiscard]] QWidget* first_focus(const QWidget& view);

}  // namespace draftscope::gui
