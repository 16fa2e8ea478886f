// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A row an exit, a column a category or a stretch of the output; a cell's colour and number are the share of
// the column's rounds that drafted there. Arrows go from cell to cell, and what stands there is said.

#include <QWidget>
#include <optional>

#include "data/decisions/exit_grid.h"

namespace draftscope::gui {

class ExitGridPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ExitGridPlot(QWidget* parent = nullptr);
  void show_grid(ExitGrid grid);
  [[nodiscard]] const ExitGrid& grid() const { return grid_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 130}; }

 signals:
  /// The cell that the words are about has changed.
  void described(const QString& words);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Cell {
    std::size_t row = 0;
    std::size_t column = 0;
  };
  [[nodiscard]] bool empty() const { return grid_.exits.empty() || grid_.columns.empty(); }
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] QRect box_of(Cell cell) const;
  [[nodiscard]] std::optional<Cell> cell_at(const QPoint& point) const;
  [[nodiscard]] QString words_of(Cell cell) const;
  void go_to(Cell cell);

  ExitGrid grid_;
  Cell cell_;
};

}  // namespace draftscope::gui
