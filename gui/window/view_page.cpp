// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_page.h"

#include <QSplitter>
#include <algorithm>

#include "window/view_panel.h"

namespace draftscope::gui {

namespace {

constexpr int whole = 10'000;  // Total of the row sizes; a splitter scales them to the available room.

QSplitter* make_splitter(Qt::Orientation orientation) {
  auto* splitter = new QSplitter(orientation);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

}  // namespace

ViewPage::ViewPage(const std::vector<PageRow>& rows, QWidget* parent)
    : QScrollArea(parent), column_(make_splitter(Qt::Vertical)) {
  const bool is_alone = rows.size() == 1 && rows.front().views.size() == 1;
  for (const PageRow& row : rows) {
    QSplitter* side_by_side = make_splitter(Qt::Horizontal);
    for (const PlacedView& placed : row.views) {
      auto* panel = new ViewPanel(is_alone ? QString() : placed.title, placed.view);
      side_by_side->addWidget(panel);
      panels_.push_back(panel);
    }
    column_->addWidget(side_by_side);
    rows_.push_back(side_by_side);
    shares_.push_back(row.share);
  }
  setWidget(column_);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  reset();
}

ViewPanel* ViewPage::panel_of(const QWidget& view) const {
  const auto found = std::find_if(panels_.begin(), panels_.end(), [&](const ViewPanel* panel) {
    return &panel->view() == &view || panel->isAncestorOf(&view);
  });
  return found == panels_.end() ? nullptr : *found;
}

void ViewPage::maximise(const ViewPanel* panel) {
  if (std::find(panels_.begin(), panels_.end(), panel) == panels_.end()) panel = nullptr;
  for (ViewPanel* other : panels_) {
    other->setVisible(panel == nullptr || other == panel);
    other->show_maximised(other == panel);
  }
  for (QSplitter* row : rows_) row->setVisible(panel == nullptr || row->isAncestorOf(panel));
}

void ViewPage::reset() {
  int all = 0;
  for (const int share : shares_) all += share;
  QList<int> heights;
  for (const int share : shares_) heights << whole * share / all;
  column_->setSizes(heights);
  for (QSplitter* row : rows_) row->setSizes(QList<int>(row->count(), whole / row->count()));
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    column_->setStretchFactor(static_cast<int>(row), shares_[row]);
    for (int place = 0; place < rows_[row]->count(); ++place) rows_[row]->setStretchFactor(place, 1);
  }
}

QVariantList ViewPage::dividers() const {
  QVariantList list{column_->saveState()};
  for (const QSplitter* row : rows_) list << row->saveState();
  return list;
}

void ViewPage::set_dividers(const QVariantList& dividers) {
  // Another version saved these dividers, so they do not fit this page.
  if (dividers.size() != static_cast<qsizetype>(rows_.size()) + 1) return;
  column_->restoreState(dividers.front().toByteArray());
  for (std::size_t row = 0; row < rows_.size(); ++row)
    rows_[row]->restoreState(dividers[static_cast<qsizetype>(row) + 1].toByteArray());
}

}  // namespace draftscope::gui
