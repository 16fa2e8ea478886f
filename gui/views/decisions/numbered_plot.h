// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines over numbered places: trials of a search, gaps between choices. Arrows go from place to place, and
// what stands there is said.

#include "data/decisions/numbered_picture.h"
#include "widgets/keyboard_plot.h"

namespace draftscope::gui {

class NumberedPlot : public KeyboardPlot {
  Q_OBJECT

 public:
  explicit NumberedPlot(QWidget* parent = nullptr);
  void show_picture(NumberedPicture picture);
  [[nodiscard]] const NumberedPicture& picture() const { return picture_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 130}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  [[nodiscard]] std::size_t places() const override { return picture_.labels.size(); }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t place) const override;

 private:
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] double x_of(std::size_t place) const;
  [[nodiscard]] double y_of(double value) const;
  void paint_axes(QPainter& painter) const;
  void paint_line(QPainter& painter, std::size_t line) const;
  void paint_legend(QPainter& painter) const;

  NumberedPicture picture_;
};

}  // namespace draftscope::gui
