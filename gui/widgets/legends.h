// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Legends above or below a plot, and titles of vertical axes.

#include <draftscope/traces/records.h>

#include <QBrush>
#include <QPainter>
#include <QPalette>
#include <QRect>
#include <QString>
#include <QWidget>
#include <vector>

namespace draftscope::gui {

/// Signs with their texts, side by side.
class LegendRow {
 public:
  /// Fills `box` from its left; signs that do not fit are left out.
  LegendRow(QPainter& painter, const QPalette& palette, const QRect& box);

  /// Adds a filled box.
  void add(const QBrush& fill, const QString& words);
  /// Adds a sign that `paint_sign` draws into the given box.
  template <typename PaintSign>
  void add_sign(const QString& words, const PaintSign& paint_sign) {
    const QRect sign = place(words);
    if (sign.isEmpty()) return;
    painter_.save();
    paint_sign(sign);
    painter_.restore();
  }

 private:
  /// Writes the text, and returns the place of its sign; an empty one if there is no room.
  [[nodiscard]] QRect place(const QString& words);

  QPainter& painter_;
  QPalette palette_;
  QRect box_;
};

/// Draws text from bottom to top, around a point.
void paint_upwards(QPainter& painter, const QPoint& middle, const QString& words);

/// The colours of phases with their names, side by side. The tool tip has all of them, even those that do not
/// fit.
class PhaseLegend : public QWidget {
  Q_OBJECT

 public:
  /// Shows all phases.
  explicit PhaseLegend(QWidget* parent = nullptr);
  void set_phases(std::vector<traces::Phase> phases);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<traces::Phase> phases_;
};

}  // namespace draftscope::gui
