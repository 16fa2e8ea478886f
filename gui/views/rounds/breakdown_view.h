// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parts of the time of rounds, by phase, layer or operation: one stacked column per round, or the mean over
// those that share a pixel. The parts add up to the round. Beside the plot are the times of the cursor's
// round and of the shown rounds; for phases, also the percentiles.

#include <QPointer>

#include "data/rounds/detailed_times.h"
#include "data/rounds/round_times.h"
#include "views/rounds/rounds_plot.h"
#include "widgets/read_when_asked.h"

namespace draftscope::gui {

class BreakdownView : public RoundsPlot {
  Q_OBJECT

 public:
  explicit BreakdownView(ViewState& state, QWidget* parent = nullptr);

  /// Gives both views the vertical axis of the longer rounds, so that heights can be compared.
  void share_scale(BreakdownView& other);

 protected:
  [[nodiscard]] int right_margin() const override { return 490; }
  [[nodiscard]] int min_area_height() const override;
  [[nodiscard]] BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                               std::size_t run_index) override;
  void forget_run() override;
  void paint(QPainter& painter, const RoundAxis& axis) override;
  [[nodiscard]] Chart figure_of(const RoundAxis& axis) const override;
  [[nodiscard]] QString tooltip_at(const RoundAxis& axis, const QPoint& point) const override;

 private:
  enum class Mode : std::uint8_t { phases, layers, operations };
  /// Parts of a column, from bottom to top.
  struct Parts {
    QStringList names;
    std::vector<QColor> colors;
    std::function<std::vector<std::int64_t>(std::size_t first, std::size_t last)> sum;
  };

  [[nodiscard]] Mode mode() const { return static_cast<Mode>(choice_.currentIndex()); }
  /// Times of the shown mode; null before they are read.
  [[nodiscard]] const DetailedTimes::Side* side(const DetailedTimes* times) const;
  [[nodiscard]] Parts phase_parts() const;
  [[nodiscard]] Parts detailed_parts(const DetailedTimes::Side& times) const;
  /// Parts of the shown mode; nullopt where they are not recorded, or not read yet.
  [[nodiscard]] std::optional<Parts> parts() const;
  [[nodiscard]] QString why_no_parts() const;

  /// Paints the scale; returns the time at the top of the plot.
  [[nodiscard]] double paint_scale(QPainter& painter, const RoundAxis& axis) const;
  void paint_columns(QPainter& painter, const RoundAxis& axis, const Parts& parts, double top_ns) const;
  /// Place of the cursor's round on the axis, visible or not; nullopt if the round belongs to another run.
  [[nodiscard]] std::optional<std::size_t> cursor_place() const;
  /// Times of its parts, then their sum; empty without a cursor's round.
  [[nodiscard]] std::vector<std::int64_t> cursor_times(const Parts& parts) const;
  void paint_percentiles(QPainter& painter, const RoundAxis& axis, const Parts& parts);
  void paint_shares(QPainter& painter, const RoundAxis& axis, const Parts& parts);
  /// Paints a row of the table beside the plot; without a colour there is no sign.
  void paint_row(QPainter& painter, int row, const QColor& color, const QString& name,
                 const QStringList& cells) const;

  /// Time at the top of the plot by this run's rounds alone. Outliers may be higher.
  [[nodiscard]] double own_top_ns() const;

  QComboBox& choice_;
  QPointer<BreakdownView> beside_;  ///< View of the pinned run, or of the run that it is pinned beside.
  RoundTimes times_;
  ReadWhenAsked<RecordedRun, DetailedTimes> details_{read_detailed_times, [this] { update(); }};
  // Percentiles of the shown rounds, cached until the range changes.
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  RoundPercentiles percentiles_{};
};

}  // namespace draftscope::gui
