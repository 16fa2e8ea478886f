// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What all views do alike: tool tips, scrolling, where the focus goes, what follows when they are seen or
// recoloured.

#include <QHelpEvent>
#include <QString>
#include <QWidget>
#include <functional>

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

/// Calls `start` in a later turn of the event loop whenever the view has been painted: somebody sees it.
void when_seen(QWidget& view, std::function<void()> start);
/// Calls `show_again` when the widget's palette changes, since rich texts keep the colours of their links.
void when_recoloured(QWidget& widget, std::function<void()> show_again);

}  // namespace draftscope::gui
