// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The first column of a table that stays in sight while the others scroll sideways.

#include <QWidget>

class QTableView;

namespace draftscope::gui {

/// Draws the first shown column over the table's left edge as soon as it is scrolled away. Clicks and tool
/// tips on it are those of the cell that it shows. The table owns it.
class FrozenColumn : public QWidget {
 public:
  explicit FrozenColumn(QTableView& table);
  /// Takes its place again; call it when a width or the size of the table has changed.
  void follow();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  /// Logical index of the column; -1 if all are hidden.
  [[nodiscard]] int column() const;
  void paint_head(QPainter& painter, int column) const;
  void paint_cell(QPainter& painter, const QModelIndex& index, const QRect& box) const;
  /// Scrolls back by what this column would cover of the current cell.
  void uncover(const QModelIndex& current) const;

  QTableView& table_;
};

}  // namespace draftscope::gui
