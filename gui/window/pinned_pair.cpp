// SPDX-License-Identifier: GPL-3.0-or-later
#include "pinned_pair.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include "views/rounds/breakdown_view.h"

namespace draftscope::gui {

PinnedPair::PinnedPair(PinnedRun& pinned, Qt::Orientation orientation, QWidget* view,
                       std::function<QWidget*(ViewState&)> make, QWidget* parent)
    : QWidget(parent),
      pinned_(pinned),
      view_(view),
      make_(std::move(make)),
      split_(new QSplitter(orientation)) {
  split_->setChildrenCollapsible(false);
  split_->addWidget(view_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(split_);
  setFocusProxy(view_);
  connect(&pinned_, &PinnedRun::changed, this, &PinnedPair::follow);
}

void PinnedPair::make_other() {
  other_ = new QWidget;
  other_view_ = make_(pinned_.state());
  other_view_->setAccessibleName(tr("%1, pinned run").arg(view_->accessibleName()));
  if (auto* breakdown = qobject_cast<BreakdownView*>(view_))
    breakdown->share_scale(*static_cast<BreakdownView*>(other_view_));
  runs_ = new QComboBox;
  runs_->setAccessibleName(tr("Pinned run"));
  runs_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  runs_->setMinimumContentsLength(12);
  runs_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  auto* label = new QLabel(tr("Pinned:"));
  label->setBuddy(runs_);
  auto* let_go = new QToolButton;
  let_go->setText(tr("Unpin"));
  let_go->setToolTip(tr("Show the chosen run alone (Ctrl+P)"));
  let_go->setFocusPolicy(Qt::StrongFocus);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 2, 6, 0);
  row->addWidget(label);
  row->addWidget(runs_, 1);
  row->addWidget(let_go);
  auto* column = new QVBoxLayout(other_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(row);
  column->addWidget(other_view_, 1);
  split_->addWidget(other_);
  split_->setSizes({1000, 1000});
  connect(runs_, &QComboBox::activated, this,
          [this](int run) { pinned_.pin(static_cast<std::size_t>(run)); });
  connect(let_go, &QToolButton::clicked, this, [this] {
    view_->setFocus();
    pinned_.unpin();
  });
}

void PinnedPair::follow() {
  const bool is_pinned = pinned_.is_pinned();
  if (is_pinned && other_ == nullptr) make_other();
  if (other_ == nullptr) return;
  if (is_pinned) {
    runs_->clear();
    for (const RunRounds& run : pinned_.state().recording()->runs())
      runs_->addItem(QString::fromStdString(run.run->specification));
    runs_->setCurrentIndex(static_cast<int>(pinned_.state().run()));
  }
  other_->setVisible(is_pinned);
}

}  // namespace draftscope::gui
