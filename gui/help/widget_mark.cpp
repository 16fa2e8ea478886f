// SPDX-License-Identifier: GPL-3.0-or-later
#include "widget_mark.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

namespace draftscope::gui {

WidgetMark::WidgetMark(int line_width, QWidget* window) : QWidget(window), line_width_(line_width) {
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAttribute(Qt::WA_NoSystemBackground);
  setFocusPolicy(Qt::NoFocus);
  hide();
}

void WidgetMark::mark(QWidget* target) {
  if (target == target_) return place();
  watch(false);
  target_ = target;
  watch(true);
  place();
}

void WidgetMark::watch(bool is_on) {
  if (!is_on) {
    for (const QPointer<QWidget>& widget : watched_)
      if (widget) widget->removeEventFilter(this);
    watched_.clear();
    return;
  }
  for (QWidget* widget = target_; widget != nullptr; widget = widget->parentWidget()) {
    widget->installEventFilter(this);
    watched_.emplace_back(widget);
    if (widget == parentWidget()) break;
  }
}

void WidgetMark::place() {
  if (!target_ || !target_->isVisible() || !parentWidget()->isAncestorOf(target_)) return hide();
  // The frame surrounds only the visible part: scrolled-out and clipped parts have none.
  QRect seen(target_->mapTo(parentWidget(), QPoint()), target_->size());
  for (const QWidget* around = target_->parentWidget(); around != nullptr; around = around->parentWidget()) {
    seen &= QRect(around->mapTo(parentWidget(), QPoint()), around->size());
    if (around == parentWidget()) break;
  }
  if (seen.isEmpty()) return hide();
  setGeometry(seen.adjusted(-line_width_, -line_width_, line_width_, line_width_) & parentWidget()->rect());
  raise();
  if (above_) above_->raise();
  show();
}

void WidgetMark::paintEvent(QPaintEvent* /*event*/) {
  // Two colours, so that one of them is visible on any background.
  QPainter painter(this);
  const QColor inner = palette().color(QPalette::Active, QPalette::Base);
  const QColor outer = palette().color(QPalette::Active, QPalette::Highlight);
  painter.setPen(QPen(inner, line_width_ + 2, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  const qreal half = line_width_ / 2.0;
  const QRectF line = QRectF(rect()).adjusted(half, half, -half, -half);
  painter.drawRect(line);
  painter.setPen(QPen(outer, line_width_, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
  painter.drawRect(line);
}

bool WidgetMark::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::Show:
    case QEvent::Hide:
      // Place the frame after all of them have moved.
      QMetaObject::invokeMethod(
          this, [this] { place(); }, Qt::QueuedConnection);
      break;
    case QEvent::ParentChange:
      QMetaObject::invokeMethod(
          this,
          [this] {
            watch(false);
            watch(true);
            place();
          },
          Qt::QueuedConnection);
      break;
    default:
      break;
  }
  return QWidget::eventFilter(watched, event);
}

FocusMark::FocusMark(QWidget* window) : QObject(window), window_(window), mark_(new WidgetMark(2, window)) {
  qApp->installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this,
          [this](QWidget* /*from*/, QWidget* to) { follow(is_keyboard_used_ ? to : nullptr); });
}

void FocusMark::follow(QWidget* focus) {
  mark_->mark(focus != nullptr && focus->window() == window_ ? focus : nullptr);
}

bool FocusMark::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    if (!is_keyboard_used_) {
      is_keyboard_used_ = true;
      follow(QApplication::focusWidget());
    }
  } else if (event->type() == QEvent::MouseButtonPress) {
    is_keyboard_used_ = false;
    follow(nullptr);
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace draftscope::gui
