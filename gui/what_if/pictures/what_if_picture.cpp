// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if_picture.h"

#include <QHelpEvent>
#include <QPaintEngine>
#include <QPainter>

#include "widgets/tool_tip.h"

namespace draftscope::gui {

WhatIfPicture::WhatIfPicture(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
}

QSize WhatIfPicture::minimumSizeHint() const {
  return message_.isEmpty() ? min_picture_size() : QSize(160, 80);
}

void WhatIfPicture::set_message(const QString& words) {
  message_ = words;
  picture_ = {};
  updateGeometry();
  if (!words.isEmpty()) setAccessibleDescription(words);
  update();
}

void WhatIfPicture::set_stale(bool is_stale) {
  if (is_stale == is_stale_) return;
  is_stale_ = is_stale;
  update();
}

void WhatIfPicture::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  painter.setPen(palette().color(QPalette::WindowText));
  constexpr int margin = 24;
  if (!message_.isEmpty()) {
    painter.drawText(rect().adjusted(margin, margin, -margin, -margin), Qt::AlignCenter | Qt::TextWordWrap,
                     message_);
    return;
  }
  painter.save();
  // A file has texts and lines, not their picture.
  if (painter.paintEngine()->type() == QPaintEngine::Raster)
    painter.drawPixmap(0, 0, picture(painter.device()->devicePixelRatioF()));
  else
    paint(painter);
  paint_marks(painter);
  painter.restore();
  if (!is_stale_) return;
  QColor veil = palette().color(QPalette::Base);
  veil.setAlpha(140);
  painter.fillRect(rect(), veil);
  const QString words = tr("of an older setting; the new one is being computed …");
  const QRect text = painter.fontMetrics().boundingRect(words).adjusted(-8, -4, 8, 4);
  const QRect badge(width() - text.width() - 6, 6, text.width(), text.height());
  painter.fillRect(badge, palette().color(QPalette::ToolTipBase));
  painter.setPen(palette().color(QPalette::ToolTipText));
  painter.drawRect(badge);
  painter.drawText(badge, Qt::AlignCenter, words);
}

const QPixmap& WhatIfPicture::picture(double pixel_ratio) {
  // A step of a slider dims a picture, and moves its marks: hundreds of texts stay as they are.
  const QSize pixels = (QSizeF(size()) * pixel_ratio).toSize();
  if (picture_.size() == pixels && picture_.devicePixelRatio() == pixel_ratio) return picture_;
  picture_ = QPixmap(pixels);
  picture_.setDevicePixelRatio(pixel_ratio);
  picture_.fill(palette().color(QPalette::Base));
  QPainter painter(&picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font());
  painter.setPen(palette().color(QPalette::WindowText));
  paint(painter);
  return picture_;
}

void WhatIfPicture::changeEvent(QEvent* event) {
  picture_ = {};  // letters and colours may be others
  QWidget::changeEvent(event);
}

void WhatIfPicture::paint_names(QPainter& painter, const QRectF& area, const QString& title, const QString& x,
                                const QString& y) const {
  painter.drawText(QRectF(area.left(), area.bottom() + 22, area.width(), 18), Qt::AlignCenter, x);
  painter.save();
  painter.translate(12, area.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-area.height() / 2, -10, area.height(), 18), Qt::AlignCenter, y);
  painter.restore();
  // Two lines where one is too short; words that begin the second leave room at the first one's end.
  const int room = width() - 12;
  const bool is_in_one_line = painter.fontMetrics().horizontalAdvance(title) <= room;
  painter.drawText(
      QRectF(6, 0, room, area.top()), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextWordWrap,
      is_in_one_line ? title : painter.fontMetrics().elidedText(title, Qt::ElideRight, 2 * room - room / 4));
}

bool WhatIfPicture::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  show_tip(*help, *this, message_.isEmpty() ? tooltip_at(help->pos()) : QString());
  return true;
}

}  // namespace draftscope::gui
