// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// All rounds of the run, side by side from the first to the last, coloured by how many tokens they emitted:
// the overview above every view. Where rounds are narrower than a pixel, a column shows their mean. A click
// or drag moves the cursor; arrows step.

#include <QWidget>
#include <cstdint>
#include <vector>

#include "state/view_state.h"

namespace draftscope::gui {

class RoundsStrip : public QWidget {
  Q_OBJECT

 public:
  explicit RoundsStrip(ViewState& state, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {400, 46}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void read_run();
  /// False of an overview: it has no single rounds to go to.
  [[nodiscard]] bool has_rows() const;
  [[nodiscard]] QString title() const;
  void paint_place(QPainter& painter, double rounds_per_pixel) const;
  [[nodiscard]] std::size_t rounds() const { return sums_.empty() ? 0 : sums_.size() - 1; }
  [[nodiscard]] std::size_t place_at(int x) const;
  void go_to(std::size_t place);

  ViewState& state_;
  std::vector<std::int64_t> sums_;  ///< tokens emitted before round i
  std::int32_t max_ = 1;
};

}  // namespace draftscope::gui
