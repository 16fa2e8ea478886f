// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layers that the drafts ran or skipped, with one column per round and layer 0 at the bottom. The user
// switches between
//   ran or skipped      two rows per layer, attention below MLP: skipped is hatched and pale, run is filled
//   how often skipped   the same rows: the share of the surrounding rounds that skipped each
//   time per layer      one row per layer: time of the round in it, draft and verification together
// A line marks the exit layer, and ticks on top mark changes of the mask. Bars on the right summarise the
// shown rounds. Return or a double click leads to the decision that chose a round's mask.

#include <functional>

#include "data/decisions/decision_history.h"
#include "data/rounds/detailed_times.h"
#include "data/skip_pyramid.h"
#include "views/rounds/rounds_plot.h"
#include "widgets/read_when_asked.h"

namespace draftscope::gui {

class SkipMap : public RoundsPlot {
  Q_OBJECT

 public:
  explicit SkipMap(ViewState& state, QWidget* parent = nullptr);

 signals:
  /// Emitted when the user asks for the decision that chose the mask of this round.
  void decision_asked(std::uint32_t round_index);

 protected:
  [[nodiscard]] int right_margin() const override { return 190; }
  [[nodiscard]] BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                               std::size_t run_index) override;
  void forget_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] Chart figure_of(const RoundAxis& axis) const override;
  [[nodiscard]] QString tooltip_at(const RoundAxis& axis, const QPoint& point) const override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  enum class Mode : std::uint8_t { runs, share, time };

  [[nodiscard]] Mode mode() const { return static_cast<Mode>(choice_.currentIndex()); }
  void take(SkipPyramid skips);
  void paint_runs(QPainter& painter, const RoundAxis& axis) const;
  void paint_share(QPainter& painter, const RoundAxis& axis) const;
  /// Skipped share [sublayer] over the shown rounds that draft.
  [[nodiscard]] std::vector<double> skipped_shares(const RoundAxis& axis) const;
  /// Paints beside the cells the share of the shown rounds that skipped each sublayer; `color` takes
  /// (sublayer, share).
  void paint_skipped(QPainter& painter, const RoundAxis& axis,
                     const std::function<QColor(std::size_t, double)>& color) const;
  void paint_times(QPainter& painter, const RoundAxis& axis, const DetailedTimes::Side& times) const;
  void paint_times_or_why_not(QPainter& painter, const RoundAxis& axis);
  void paint_exit(QPainter& painter, const RoundAxis& axis) const;
  void paint_layer_ticks(QPainter& painter, std::size_t layers) const;
  /// Paints bars on the right, with lengths from 0 to 1.
  void paint_bars(QPainter& painter, const QString& title, const std::vector<double>& lengths,
                  const std::function<QColor(std::size_t row)>& color) const;
  [[nodiscard]] QRect row_box(std::size_t row, std::size_t rows) const;
  /// Why the mask changed at a round, as far as that is known yet; empty if it did not change.
  [[nodiscard]] QString change_text(std::size_t place) const;
  [[nodiscard]] QString layer_text(std::size_t first, std::size_t last, std::size_t layer) const;

  QComboBox& choice_;
  SkipPyramid skips_;
  QString description_;  ///< Rates of the whole run, in words.
  ReadWhenAsked<RecordedRun, DetailedTimes> times_{read_detailed_times, [this] { update(); }};
  ReadWhenAsked<RecordingPointer, DecisionHistory> decisions_{read_decision_history, [] {}};
};

}  // namespace draftscope::gui
