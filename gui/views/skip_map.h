// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which sublayers each round's draft ran: a column a round, two rows a layer, attention below MLP. Skipped is
// hatched and pale, run is filled; a line marks the exit layer, ticks on top where the mask changed. On the
// right: how often each layer was skipped in what is shown.

#include "data/skip_pyramid.h"
#include "views/rounds_plot.h"

namespace draftscope::gui {

class SkipMap : public RoundsPlot {
  Q_OBJECT

 public:
  explicit SkipMap(ViewState& state, QWidget* parent = nullptr);

 protected:
  void read_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] QString words_at(const RoundAxis& axis, const QPoint& point) const override;

 private:
  void paint_cells(QPainter& painter, const RoundAxis& axis) const;
  void paint_shares(QPainter& painter, const RoundAxis& axis) const;
  void paint_layer_ticks(QPainter& painter) const;
  [[nodiscard]] int row_top(std::size_t sublayer) const;

  SkipPyramid skips_;
};

}  // namespace draftscope::gui
