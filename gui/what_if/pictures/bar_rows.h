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
  [[nodiscard]] QSize min_picture_size() const override;
  [[nodiscard]] QString tooltip_at(const QPoint& point) const override;

 private:
  /// Scale from speedups to pixels; `max` is the largest that is drawn whole.
  struct Scale {
    int left = 0;
    double pixels_per_unit = 1.0;
    double max = 1.0;

    [[nodiscard]] double x(double value) const { return left + value * pixels_per_unit; }
  };

  [[nodiscard]] Scale scale(const std::vector<int>& widths) const;
  [[nodiscard]] QFont bold_font() const;
  [[nodiscard]] QColor faint_color() const;
  /// Height of the words below the bars.
  [[nodiscard]] int room_below() const;
  [[nodiscard]] int row_height() const;
  [[nodiscard]] std::vector<int> column_widths() const;
  /// At `top`, each right-aligned in its column.
  void paint_numbers(QPainter& painter, const QStringList& numbers, const std::vector<int>& widths, int top,
                     int height) const;
  void paint_heads(QPainter& painter, const std::vector<int>& widths) const;
  void paint_names(QPainter& painter, const BarRow& row, int top, int name_width,
                   const std::vector<int>& widths) const;
  void paint_bar(QPainter& painter, const BarRow& row, int top, const Scale& scale) const;
  void paint_break(QPainter& painter, const QRectF& bar) const;
  void paint_change(QPainter& painter, const BarRow& row, const QRectF& bar, const QColor& color,
                    const Scale& scale) const;
  void paint_interval(QPainter& painter, double low, double high, const QRectF& bar,
                      const Scale& scale) const;
  void paint_vanilla(QPainter& painter, int bottom, const Scale& scale) const;
  void paint_footnotes(QPainter& painter, int top) const;

  QString title_;
  QStringList columns_;
  std::vector<BarRow> rows_;
  QStringList footnotes_;
};

}  // namespace draftscope::gui
