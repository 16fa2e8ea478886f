// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A legend above or below a plot: signs with their words, side by side. And titles of vertical axes.

#include <QBrush>
#include <QPainter>
#include <QPalette>
#include <QRect>
#include <QString>

namespace draftscope::gui {

class LegendRow {
 public:
  /// Within `box`, from its left; what does not fit is left out.
  LegendRow(QPainter& painter, const QPalette& palette, const QRect& box);

  /// A filled box.
  void add(const QBrush& fill, const QString& words);
  /// `paint_sign` draws into the box that it gets.
  template <typename PaintSign>
  void add_sign(const QString& words, const PaintSign& paint_sign) {
    const QRect sign = place(words);
    if (sign.isEmpty()) return;
    painter_.save();
    paint_sign(sign);
    painter_.restore();
  }

 private:
  /// Writes the words, and gives the place of their sign; an empty one if there is no room.
  [[nodiscard]] QRect place(const QString& words);

  QPainter& painter_;
  QPalette palette_;
  QRect box_;
};

/// Draws text from the bottom to the top, around a point.
void paint_upwards(QPainter& painter, const QPoint& middle, const QString& words);

}  // namespace draftscope::gui
