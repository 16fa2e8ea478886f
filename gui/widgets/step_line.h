// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines of 2 pixels through the columns of a plot, drawn as filled boxes: a stroked path of a thousand steps
// takes longer than a frame.

#include <QColor>
#include <QPainter>
#include <optional>

namespace draftscope::gui {

/// Horizontal in each column, with upright connections between them.
class StepLine {
 public:
  StepLine(QPainter& painter, const QColor& color) : painter_(painter), color_(color) {}
  /// Draws a step from `left` to `right`, each at or after the end of the one before.
  void add(int left, int right, int y);
  /// Leaves the next step unconnected.
  void lift() { last_y_.reset(); }

 private:
  QPainter& painter_;
  QColor color_;
  std::optional<int> last_y_;
};

/// Horizontal, in dashes of `on` pixels and gaps of `off`, which stand at the same places whoever draws a
/// part of a line.
void paint_dashes(QPainter& painter, int left, int right, int y, int on, int off, const QColor& color);

}  // namespace draftscope::gui
