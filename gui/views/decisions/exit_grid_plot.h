// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Grid with one row per exit and one column per category or part of the output. A cell's colour and number
// are the share of the column's rounds that drafted at this exit. Arrow keys move between cells and announce
// them.

#include "data/decisions/summary_pictures.h"
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
  /// Cells in order of rows, then columns.
  [[nodiscard]] std::size_t places() const override { return grid_.exits.size() * grid_.columns.size(); }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t place) const override;
  [[nodiscard]] std::optional<std::size_t> next_place(std::size_t from, int key) const override;

 private:
  [[nodiscard]] QRect plot_area() const { return rect().adjusted(64, 8, -16, -28); }
  [[nodiscard]] QRect box_of(std::size_t exit_row, std::size_t exit_column) const;

  ExitGrid grid_;
};

}  // namespace draftscope::gui
