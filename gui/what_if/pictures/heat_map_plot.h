// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predicted speedup of every exit layer (to the right) and draft length (upwards): orange below 1×, blue
// above, on a scale that stays while the question changes. Cells slower than vanilla decoding are hatched,
// cells without an answer crossed out; rings are recorded runs, the frame is the current setting, the diamond
// the fastest. A click or the arrow keys choose another setting.

#include <functional>
#include <map>
#include <optional>

#include "what_if/pictures/what_if_picture.h"
#include "what_if/questions/heat_map.h"

namespace draftscope::gui {

struct HeatMapMarks {
  std::vector<RecordedPoint> recorded;
  std::optional<std::pair<std::int32_t, std::int32_t>> current;  ///< exit, length
};

class HeatMapPlot : public WhatIfPicture {
  Q_OBJECT

 public:
  explicit HeatMapPlot(QWidget* parent = nullptr) : WhatIfPicture(parent) {}

  void set_map(HeatMap map, const QString& title);
  void set_marks(HeatMapMarks marks);
  /// The scale fits the next map anew.
  void forget_scale() { limit_ = 1.0; }
  /// From here, and from its inverse, colours are the strongest.
  [[nodiscard]] double scale_limit() const { return limit_; }
  /// Words on the interval of a cell, until another map is set.
  void set_interval(int exit, int gamma, const QString& words);

 signals:
  void chosen(int exit, int gamma);
  /// The interval of a cell is wanted, and not known yet.
  void interval_wanted(int exit, int gamma);

 protected:
  void paint(QPainter& painter) override;
  void paint_marks(QPainter& painter) override;
  [[nodiscard]] QSize min_picture_size() const override;
  [[nodiscard]] QString tooltip_at(const QPoint& point) const override;
  bool event(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] QRectF cell_rect(std::int32_t exit, std::int32_t gamma) const;
  [[nodiscard]] const HeatCell* cell_at(const QPointF& point) const;
  [[nodiscard]] QString words_of(const HeatCell& cell) const;
  /// Whether there is a map, and a place for it.
  [[nodiscard]] bool has_room() const;
  void paint_cell(QPainter& painter, const HeatCell& cell) const;
  void paint_axes(QPainter& painter) const;
  void paint_legend(QPainter& painter) const;
  void paint_scale(QPainter& painter, const QRect& box) const;
  /// Each sign on the map with its meaning, below one another.
  void paint_signs(QPainter& painter, int left, int top) const;
  void describe();

  HeatMap map_;
  HeatMapMarks marks_;
  QString title_;
  double limit_ = 1.0;  ///< of the scale; only grows
  std::map<std::pair<int, int>, QString> intervals_;
  std::pair<int, int> wanted_{0, 0};  ///< the cell whose interval was asked for last
  std::pair<int, int> hovered_{0, 0};
  QPoint hovered_at_;  ///< on the screen
};

}  // namespace draftscope::gui
