// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the time of rounds went: a stacked column a round, or the mean of those that share a pixel; the parts
// add up to the round. Beside it the percentiles of what is shown.

#include "data/round_times.h"
#include "views/rounds_plot.h"

namespace draftscope::gui {

class BreakdownView : public RoundsPlot {
  Q_OBJECT

 public:
  explicit BreakdownView(ViewState& state, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] int right_margin() const override { return 430; }
  void read_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] QString words_at(const RoundAxis& axis, const QPoint& point) const override;

 private:
  void paint_percentiles(QPainter& painter, const RoundAxis& axis);

  RoundTimes times_;
  // Of what is shown, kept until that changes.
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::array<PartPercentiles, round_parts + 1> percentiles_{};
};

}  // namespace draftscope::gui
