// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Overview above every view: all rounds of the run side by side, coloured by the number of emitted tokens.
// Where rounds are narrower than a pixel, a column shows their mean. A click or drag moves the cursor; arrow
// keys step.

#include <cstdint>
#include <vector>

#include "state/view_state.h"
#include "widgets/keyboard_plot.h"

namespace draftscope::gui {

class RoundsStrip : public KeyboardPlot {
  Q_OBJECT

 public:
  explicit RoundsStrip(ViewState& state, QWidget* parent = nullptr);
  /// Place of the cursor's round; if the filter leaves that out, the first one next to it.
  [[nodiscard]] std::optional<std::size_t> current() const override;
  [[nodiscard]] QSize sizeHint() const override { return {400, 46}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  [[nodiscard]] std::size_t places() const override { return has_rows() ? rounds() : 0; }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t place) const override;
  void go_to(std::size_t place) override { state_.go_to_round(state_.shown_rounds()->rounds[place]); }

 private:
  void read_run();
  /// False for an overview, which has no single rounds to go to.
  [[nodiscard]] bool has_rows() const { return rounds() > 0 && state_.recording()->has_rows(); }
  [[nodiscard]] QString title() const;
  void paint_place(QPainter& painter, double rounds_per_pixel) const;
  [[nodiscard]] std::size_t rounds() const { return sums_.empty() ? 0 : sums_.size() - 1; }

  ViewState& state_;
  std::vector<std::int64_t> sums_;  ///< Tokens emitted before round i.
  std::int32_t max_ = 1;
};

}  // namespace draftscope::gui
