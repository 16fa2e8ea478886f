// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines over numbered places: trials of a search, gaps between choices. Arrows go from place to place, and
// what stands there is said.

#include <QWidget>

#include "data/decisions/numbered_picture.h"

namespace draftscope::gui {

class NumberedPlot : public QWidget {
  Q_OBJECT

 public:
  explicit NumberedPlot(QWidget* parent = nullptr);
  void show_picture(NumberedPicture picture);
  [[nodiscard]] const NumberedPicture& picture() const { return picture_; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {240, 130}; }

 signals:
  /// The place that the words are about has changed.
  void described(const QString& words);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] std::size_t places() const { return picture_.labels.size(); }
  [[nodiscard]] double x_of(std::size_t place) const;
  [[nodiscard]] double y_of(double value) const;
  [[nodiscard]] std::size_t place_at(int x) const;
  void go_to(std::size_t place);
  void paint_axes(QPainter& painter) const;
  void paint_line(QPainter& painter, std::size_t line) const;
  void paint_legend(QPainter& painter) const;

  NumberedPicture picture_;
  std::size_t place_ = 0;
};

}  // namespace draftscope::gui
