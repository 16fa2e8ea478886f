// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline_bar.h"

#include <QHBoxLayout>

namespace draftscope::gui {

TimelineBar::TimelineBar(QWidget* parent) : QWidget(parent) {
  setAutoFillBackground(true);
  // A click leaves the focus with the lanes, so that they get the next key.
  lanes_->setMenu(lanes_menu_);
  lanes_->setPopupMode(QToolButton::InstantPopup);
  lanes_->setFocusPolicy(Qt::TabFocus);
  lanes_->setAutoRaise(true);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 1, 4, 1);
  row->setSpacing(8);
  row->addWidget(lanes_);
  row->addWidget(legend_, 1);
  set_absent(0, 0);
}

void TimelineBar::set_absent(int folded, int hidden) {
  QStringList absent;
  if (folded > 0) absent << tr("%1 empty").arg(folded);
  if (hidden > 0) absent << tr("%1 hidden").arg(hidden);
  const QString words =
      absent.isEmpty() ? tr("Lanes") : tr("Lanes (%1)").arg(absent.join(QStringLiteral(", ")));
  if (words == lanes_->text()) return;
  lanes_->setText(words);
  lanes_->setAccessibleName(words);
}

}  // namespace draftscope::gui
