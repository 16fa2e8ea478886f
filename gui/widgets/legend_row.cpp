// SPDX-License-Identifier: GPL-3.0-or-later
#include "legend_row.h"

namespace draftscope::gui {

namespace {

constexpr int sign_size = 12;
constexpr int sign_gap = 6;
constexpr int entry_gap = 18;

}  // namespace

LegendRow::LegendRow(QPainter& painter, const QPalette& palette, const QRect& box)
    : painter_(painter), palette_(palette), box_(box) {}

QRect LegendRow::place(const QString& words) {
  const int width = painter_.fontMetrics().horizontalAdvance(words);
  if (sign_size + sign_gap + width > box_.width()) {
    box_.setWidth(0);
    return {};
  }
  const QRect sign(box_.left(), box_.center().y() - sign_size / 2, sign_size, sign_size);
  painter_.setPen(palette_.color(QPalette::WindowText));
  painter_.drawText(QRect(sign.right() + 1 + sign_gap, box_.top(), width + 2, box_.height()),
                    Qt::AlignLeft | Qt::AlignVCenter, words);
  box_.setLeft(box_.left() + sign_size + sign_gap + width + entry_gap);
  return sign;
}

void LegendRow::add(const QBrush& fill, const QString& words) {
  add_sign(words, [&](const QRect& sign) {
    painter_.setPen(palette_.color(QPalette::WindowText));
    painter_.setBrush(fill);
    painter_.drawRect(sign);
  });
}

void paint_upwards(QPainter& painter, const QPoint& middle, const QString& words) {
  constexpr int max_length = 400;
  painter.save();
  painter.translate(middle);
  painter.rotate(-90);
  painter.drawText(QRect(-max_length / 2, -10, max_length, 20), Qt::AlignCenter, words);
  painter.restore();
}

}  // namespace draftscope::gui
