// SPDX-License-Identifier: GPL-3.0-or-later
#include "view_panel.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

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
}

int ViewPanel::bar_height() const {
  return bar_ == nullptr ? 0 : bar_->sizeHint().height();
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

void ViewPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw_sign();
}

bool ViewPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::MouseButtonDblClick) return QWidget::eventFilter(watched, event);
  emit maximise_requested();
  return true;
}

}  // namespace draftscope::gui
