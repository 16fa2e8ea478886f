// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A row an exit, a column a category or a stretch of the output; a cell's colour and number are the share of
// the column's rounds that drafted there. Arrows go from cell to cell, and what stands there is said.

#include "data/decisions/exit_grid.h"
#include "widgets/keyboard_plot.h"

namespace draftscope::gui {

class ExitGridPlot : public KeyboardPlot {
  Q_OBJECT

 public:
  explicit ExitGridPlot(QWidget* parent = nullptr);
  void show_grid(ExitGrid grid);
  [[nodiscard]] const ExitGrid& grid() const { return grid_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 130}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  /// Row after row.
  [[nodiscard]] std::size_t places() const override { return grid_.exits.size() * grid_.columns.size(); }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t place) const override;
  [[nodiscard]] std::optional<std::size_t> next_place(std::size_t from, int key) const override;

 private:
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] QRect box_of(std::size_t exit_row, std::size_t exit_column) const;

  ExitGrid grid_;
};

}  // namespace draftscope::gui
