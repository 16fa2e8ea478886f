// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What all views do alike: tool tips, scrolling, and where the focus goes.

#include <QHelpEvent>
#include <QString>
#include <QWidget>

class QScrollArea;

namespace draftscope::gui {

/// Shows the tool tip of a place of the widget, until the pointer moves on. Without words none is shown. The
/// widget tracks the mouse from then on.
void show_tip(const QHelpEvent& at, QWidget& widget, const QString& words);

/// An area that scrolls where the room is too small, so that nothing makes the window larger. Takes
/// ownership.
[[nodiscard]] QScrollArea* scrollable(QWidget* view);

/// Makes `part`, which is in the view, take the focus when the view is given it. A focus proxy would change
/// the Tab key: it would jump from the view straight to the proxy, past everything before it.
void set_first_focus(QWidget& view, QWidget& part);
/// Null if no part was set.
[[nodiscard]] QWidget* first_focus(const QWidget& view);

}  // namespace draftscope::gui
