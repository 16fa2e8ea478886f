// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every drafted token by its confidence, over the rounds: a dot where it was accepted, a cross where it was
// rejected, a ring where the verifier did not get to it; the draft-exit threshold runs through. From afar,
// where tokens are denser than pixels, a pixel's colour is the share accepted and its strength how many there
// are. Below: the acceptance rate α and the exit layer. On the right: how far confidence can be trusted
// (calibration).

#include "data/draft_confidences.h"
#include "views/rounds_plot.h"

namespace draftscope::gui {

class ConfidenceView : public RoundsPlot {
  Q_OBJECT

 public:
  explicit ConfidenceView(ViewState& state, QWidget* parent = nullptr);

 protected:
  void read_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] QString words_at(const RoundAxis& axis, const QPoint& point) const override;

 private:
  [[nodiscard]] QRect confidence_area() const;
  [[nodiscard]] QRect trend_area() const;
  [[nodiscard]] double x_of_token(const RoundAxis& axis, std::size_t place, std::size_t token) const;
  void paint_legend(QPainter& painter) const;
  void paint_marks(QPainter& painter, const RoundAxis& axis) const;
  void paint_density(QPainter& painter, const RoundAxis& axis) const;
  void paint_threshold(QPainter& painter, const RoundAxis& axis) const;
  void paint_trends(QPainter& painter, const RoundAxis& axis) const;
  void paint_calibration(QPainter& painter, const RoundAxis& axis) const;

  DraftConfidences drafts_;
};

}  // namespace draftscope::gui
