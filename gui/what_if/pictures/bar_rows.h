// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Speedups one below the other, each a bar from nothing with its interval as a whisker, and the change from
// the row above as a hatched piece. The dashed line is 1, vanilla decoding, where nothing is gained.

#include <QColor>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

#include "what_if/pictures/what_if_picture.h"

namespace draftscope::gui {

struct BarRow {
  QString name;
  QString meaning;  ///< smaller, below the name
  double value = 0.0;
  std::optional<double> before;     ///< the row above's: the change is marked
  std::optional<double> low, high;  ///< of the interval
  QStringList numbers;              ///< at the right end, one a column
  bool may_leave = false;           ///< a thought experiment: if it is long, the others' scale is kept
  bool is_marked = false;           ///< in bold, with a stronger bar: what the eye should find
};

class BarRows : public WhatIfPicture {
  Q_OBJECT

 public:
  explicit BarRows(QWidget* parent = nullptr) : WhatIfPicture(parent) {}

  /// `columns` are the heads of the rows' numbers.
  void set_rows(const QString& title, const QStringList& columns, std::vector<BarRow> rows,
                const QStringList& footnotes);

 protected:
  void paint(QPainter& painter) override;
  [[nodiscard]] QString tooltip_at(const QPoint& point) const override;

 private:
  [[nodiscard]] int row_height() const;
  [[nodiscard]] std::vector<int> column_widths() const;
  /// At `top`, each right-aligned in its column.
  void paint_numbers(QPainter& painter, const QStringList& numbers, const std::vector<int>& widths, int top,
                     int height) const;

  QString title_;
  QStringList columns_;
  std::vector<BarRow> rows_;
  QStringList footnotes_;
};

}  // namespace draftscope::gui
