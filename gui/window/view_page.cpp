// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "widgets/habits.h"

namespace draftscope::gui {

namespace {

constexpr int sign_pixels = 12;

}  // namespace

ViewPanel::ViewPanel(const QString& title, QWidget* view, QWidget* parent)
    : QWidget(parent), view_(view), title_(title) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  if (!title.isEmpty()) {
    bar_ = new QWidget;
    auto* row = new QHBoxLayout(bar_);
    row->setContentsMargins(6, 1, 2, 1);
    auto* words = new QLabel(QStringLiteral("<b>%1</b>").arg(title.toHtmlEscaped()));
    button_ = new QToolButton;
    button_->setAutoRaise(true);
    button_->setIconSize(QSize(sign_pixels, sign_pixels));
    // Keyboard users have F11.
    button_->setFocusPolicy(Qt::NoFocus);
    auto* help = new QToolButton;
    help->setAutoRaise(true);
    help->setText(QStringLiteral("?"));
    help->setToolTip(tr("What %1 shows, in the manual (F1)").arg(title));
    help->setAccessibleName(help->toolTip());
    // Keyboard users have F1.
    help->setFocusPolicy(Qt::NoFocus);
    connect(help, &QToolButton::clicked, this, &ViewPanel::help_requested);
    row->addWidget(words, 1);
    row->addWidget(help);
    row->addWidget(button_);
    bar_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    bar_->installEventFilter(this);
    words->installEventFilter(this);
    column->addWidget(bar_);
    connect(button_, &QToolButton::clicked, this, &ViewPanel::maximise_requested);
    show_maximised(false);
  }
  column->addWidget(view_, 1);
  when_recoloured(*this, [this] { draw_sign(); });
}

void ViewPanel::show_maximised(bool is_maximised) {
  is_maximised_ = is_maximised;
  if (button_ == nullptr) return;
  const QString words =
      is_maximised ? tr("Show the other views again (F11)") : tr("%1 on all of the page (F11)").arg(title_);
  button_->setToolTip(words);
  button_->setAccessibleName(words);
  draw_sign();
}

void ViewPanel::draw_sign() {
  if (button_ == nullptr) return;
  const qreal ratio = devicePixelRatioF();
  QPixmap sign(QSize(sign_pixels, sign_pixels) * ratio);
  sign.setDevicePixelRatio(ratio);
  sign.fill(Qt::transparent);
  QPainter painter(&sign);
  painter.setPen(palette().color(QPalette::ButtonText));
  if (is_maximised_)
    painter.drawRect(QRectF(2.5, 5.5, 7, 4));
  else
    painter.drawRect(QRectF(1.5, 1.5, 9, 9));
  painter.drawLine(QPointF(1.5, is_maximised_ ? 6.5 : 2.5), QPointF(10.5, is_maximised_ ? 6.5 : 2.5));
  painter.end();
  button_->setIcon(sign);
}

bool ViewPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::MouseButtonDblClick) return QWidget::eventFilter(watched, event);
  emit maximise_requested();
  return true;
}

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
