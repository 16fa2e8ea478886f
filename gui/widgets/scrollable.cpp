// SPDX-License-Identifier: GPL-3.0-or-later
#include "scrollable.h"

#include <QScrollArea>

namespace draftscope::gui {

QScrollArea* scrollable(QWidget* view) {
  auto* area = new QScrollArea;
  area->setWidget(view);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  return area;
}

}  // namespace draftscope::gui
