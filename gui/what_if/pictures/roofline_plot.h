// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Operations under the roof: arithmetic a byte to the right, arithmetic a second upwards, both logarithmic.
// The line from a point up to the roof is what its kernel leaves unused. Filled marks are passes of one row,
// hollow ones verifications; dashed marks' times are not determined by the recording.

#include <draftscope/simulator/prices/roofline.h>

#include "what_if/pictures/what_if_picture.h"

namespace draftscope::gui {

class RooflinePlot : public WhatIfPicture {
  Q_OBJECT

 public:
  explicit RooflinePlot(QWidget* parent = nullptr) : WhatIfPicture(parent) {}

  void set_roofline(simulator::Roofline roofline, const QString& title);

 protected:
  void paint(QPainter& painter) override;
  [[nodiscard]] QSize min_picture_size() const override;
  [[nodiscard]] QString tooltip_at(const QPoint& point) const override;

 private:
  /// Powers of ten that frame everything.
  struct Range {
    int first = 0;
    int last = 1;
  };
  [[nodiscard]] QRectF area() const;
  [[nodiscard]] QPointF place(double intensity, double flops_per_ns) const;
  void paint_axes(QPainter& painter) const;
  void paint_roof(QPainter& painter) const;
  void paint_point(QPainter& painter, const simulator::RooflinePoint& point) const;
  /// Operations of the points, each once, for the legend.
  [[nodiscard]] std::vector<speculation::Operation> operations() const;
  [[nodiscard]] std::int32_t widest_rows() const;
  void paint_legend(QPainter& painter) const;

  simulator::Roofline roofline_;
  QString title_;
  Range intensities_;
  Range rates_;
};

/// "qkv, 5 rows: 12.3 of 18.0 Gflop/s attainable".
[[nodiscard]] QString words_of(const simulator::Roofline& roofline, const simulator::RooflinePoint& point);

}  // namespace draftscope::gui
