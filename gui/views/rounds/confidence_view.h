// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Confidence of every drafted token over the rounds: a dot if accepted, a cross if rejected, a ring if the
// verifier did not reach it, with a line at the draft-exit threshold. If there are more tokens than marks can
// show, a cell's colour mixes the fates and its strength shows the count.
//
// Below are the acceptance rate α and the exit layer; lines are means over the rounds of a column, with a
// min-max band. On the right are the calibration of the confidence, and the acceptance rate per draft
// position among tokens that the verifier reached.

#include "data/rounds/draft_confidences.h"
#include "views/rounds/rounds_plot.h"

namespace draftscope::gui {

class ConfidenceView : public RoundsPlot {
  Q_OBJECT

 public:
  explicit ConfidenceView(ViewState& state, QWidget* parent = nullptr);

 protected:
  [[nodiscard]] int right_margin() const override { return 190; }
  [[nodiscard]] int min_area_height() const override { return 210; }  // Height of the small plots.
  [[nodiscard]] BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                               std::size_t run_index) override;
  void forget_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] Chart figure_of(const RoundAxis& axis) const override;
  [[nodiscard]] QString tooltip_at(const RoundAxis& axis, const QPoint& point) const override;
  [[nodiscard]] QString tooltip_beside(const RoundAxis& axis, const QPoint& point) const override;

 private:
  [[nodiscard]] QRect confidence_area() const;
  [[nodiscard]] QRect trend_area() const;
  [[nodiscard]] bool has_marks(const RoundAxis& axis) const;
  [[nodiscard]] double x_of_token(const RoundAxis& axis, std::size_t place, std::size_t token_index) const;
  void paint_legend(QPainter& painter, const RoundAxis& axis) const;
  void paint_marks(QPainter& painter, const RoundAxis& axis) const;
  void paint_density(QPainter& painter, const RoundAxis& axis) const;
  void paint_threshold(QPainter& painter, const RoundAxis& axis) const;
  void paint_trends(QPainter& painter, const RoundAxis& axis) const;
  void paint_trend_legend(QPainter& painter, std::size_t window) const;
  /// The upper or the lower small plot on the right; empty where there is no room.
  [[nodiscard]] QRect small_plot(int place) const;
  void paint_frame(QPainter& painter, const QRect& box, const QString& title, const QString& x) const;
  void paint_calibration(QPainter& painter, const RoundAxis& axis) const;
  void paint_positions(QPainter& painter, const RoundAxis& axis) const;
  [[nodiscard]] QString round_text(std::size_t place) const;
  [[nodiscard]] QString rounds_text(const RoundAxis& axis, const QPoint& point) const;

  void describe_run();

  DraftConfidences drafts_;
  DraftDensity density_;
  AcceptanceByPosition positions_;
};

}  // namespace draftscope::gui
