// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline_panel.h"

#include <QApplication>
#include <QVBoxLayout>
#include <algorithm>

#include "details/details_view.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_view.h"

namespace draftscope::gui {

namespace {

constexpr int details_height = 240;
constexpr int first_details_width = 420;

}  // namespace

TimelinePanel::TimelinePanel(ViewState& state, QWidget* parent)
    : QWidget(parent), timeline_(new TimelineView(state)), details_(new DetailsView(state, *timeline_)) {
  timeline_->setObjectName(QStringLiteral("timeline"));
  details_->setObjectName(QStringLiteral("details"));
  split_->setChildrenCollapsible(false);
  split_->addWidget(timeline_);
  split_->addWidget(details_);
  split_->setStretchFactor(0, 1);
  split_->setStretchFactor(1, 0);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(split_);
  setFocusProxy(timeline_);
  details_->hide();
  connect(timeline_, &TimelineView::laid_out, this, &TimelinePanel::laid_out);
  connect(split_, &QSplitter::splitterMoved, this, [this] { details_width_ = details_->width(); });
  connect(details_, &DetailsView::close_requested, this, [this] { open_details(false); });
  connect(details_, &DetailsView::asked_for, this, [this] {
    if (chosen_.value_or(true)) place_details();
  });
}

bool TimelinePanel::are_details_open() const {
  return !details_->isHidden();
}

void TimelinePanel::place_details() {
  if (are_details_open()) return;
  details_->show();
  const int all = split_->width();
  const int wanted = std::min(details_width_.value_or(first_details_width), all / 2);
  split_->setSizes({all - wanted, wanted});
  emit laid_out();
  emit details_opened(true);
}

void TimelinePanel::open_details(bool are_open) {
  chosen_ = are_open;
  if (are_open) return place_details();
  const QWidget* focus = QApplication::focusWidget();
  const bool had_focus = focus != nullptr && details_->isAncestorOf(focus);
  details_->hide();
  if (had_focus) timeline_->setFocus();
  emit laid_out();
  emit details_opened(false);
}

void TimelinePanel::show_view(const QWidget& view) {
  if (details_ == &view || details_->isAncestorOf(&view)) open_details(true);
}

int TimelinePanel::content_height() const {
  return std::max(timeline_->content_height(), are_details_open() ? details_height : 0);
}

QVariantMap TimelinePanel::layout_state() const {
  QVariantMap state{{QStringLiteral("names width"), timeline_->header_width()},
                    {QStringLiteral("folds"), timeline_->lanes().folds()}};
  if (chosen_) state[QStringLiteral("details")] = *chosen_;
  if (details_width_) state[QStringLiteral("details width")] = *details_width_;
  return state;
}

void TimelinePanel::restore_layout(const QVariantMap& state) {
  if (const int width = state.value(QStringLiteral("names width")).toInt(); width > 0)
    timeline_->set_header_width(width);
  timeline_->set_folding(state.value(QStringLiteral("folds"), true).toBool());
  if (const int width = state.value(QStringLiteral("details width")).toInt(); width > 0)
    details_width_ = width;
  if (const QVariant chosen = state.value(QStringLiteral("details")); chosen.isValid())
    open_details(chosen.toBool());
}

void TimelinePanel::reset_layout() {
  open_details(false);
  chosen_.reset();
  details_width_.reset();
  timeline_->set_header_width(first_header_width);
  timeline_->set_folding(true);
  timeline_->show_hidden_groups();
}

}  // namespace draftscope::gui
