// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHelpEvent>
#include <QString>
#include <QWidget>

namespace draftscope::gui {

/// Shows the tool tip of a place of the widget, until the pointer moves on. Without words none is shown. The
/// widget tracks the mouse from then on.
void show_tip(const QHelpEvent& at, QWidget& widget, const QString& words);

}  // namespace draftscope::gui
