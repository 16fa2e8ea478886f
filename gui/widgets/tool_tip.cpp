// SPDX-License-Identifier: GPL-3.0-or-later
#include "tool_tip.h"

#include <QToolTip>

namespace draftscope::gui {

void show_tip(const QHelpEvent& at, QWidget& widget, const QString& words) {
  // A resting hand moves by a pixel or two. Beyond that the text may be about another place.
  constexpr int rest = 3;
  const QRect place = QRect(at.pos(), QSize(1, 1)).adjusted(-rest, -rest, rest, rest);
  widget.setMouseTracking(true);
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(at.globalPos(), words, &widget, place);
}

}  // namespace draftscope::gui
