// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small marks as pictures, each kind drawn once: thousands of smooth outlines would take longer than a frame
// may. They stand on whole pixels. A file has the outlines.

#include <QPixmap>
#include <cstddef>
#include <functional>
#include <vector>

class QPainter;
class QPointF;

namespace draftscope::gui {

class MarkPictures {
 public:
  using Draw = std::function<void(QPainter& painter, std::size_t kind, const QPointF& at)>;

  /// Marks of `kinds` kinds within `radius` of their places, as `draw` draws them. `painter` must outlive
  /// this.
  MarkPictures(QPainter& painter, std::size_t kinds, double radius, Draw draw);

  void paint(std::size_t kind, const QPointF& at) const;

 private:
  QPainter& painter_;
  Draw draw_;
  double ratio_;                   ///< of pixels
  std::vector<QPixmap> pictures_;  ///< by kind; none where there are no pixels
};

}  // namespace draftscope::gui
