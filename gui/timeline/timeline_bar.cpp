// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>

#include "widgets/legends.h"

namespace draftscope::gui {

TimelineBar::TimelineBar(QWidget* parent)
    : QWidget(parent),
      mode_(new QComboBox),
      lanes_(new QToolButton),
      lanes_menu_(new QMenu(this)),
      legend_(new PhaseLegend) {
  setAutoFillBackground(true);
  mode_->addItems({tr("all"), tr("this run only"), tr("runs aligned")});
  mode_->setAccessibleName(tr("What time the timeline shows"));
  mode_->setToolTip(
      tr("all: everything, by the clock\nthis run only: other runs' time is cut out\n"
         "runs aligned: all runs below one another, each request from 0"));
  // A click leaves the focus with the lanes, so that the next key is theirs.
  mode_->setFocusPolicy(Qt::TabFocus);
  lanes_->setMenu(lanes_menu_);
  lanes_->setPopupMode(QToolButton::InstantPopup);
  lanes_->setFocusPolicy(Qt::TabFocus);
  lanes_->setAutoRaise(true);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 1, 4, 1);
  row->setSpacing(8);
  row->addWidget(mode_);
  row->addWidget(lanes_);
  row->addWidget(legend_, 1);
  set_absent(0, 0);
  connect(mode_, &QComboBox::currentIndexChanged, this, &TimelineBar::mode_changed);
}

TimelineMode TimelineBar::mode() const {
  return static_cast<TimelineMode>(mode_->currentIndex());
}

void TimelineBar::set_mode(TimelineMode mode) {
  mode_->setCurrentIndex(static_cast<int>(mode));
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
