// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Base of views over rounds. It has the x axis over the rounds in the visible range, zoom by wheel, dragging,
// a click that moves the cursor, and the cursor's line. It reads a run when the view is first shown, on a
// worker if the run is long. A view reads and draws its data, and provides its texts.

#include <QComboBox>
#include <QWidget>

#include "charts/chart_pane.h"
#include "state/range_navigation.h"
#include "views/rounds/round_axis.h"
#include "widgets/background_job.h"

namespace draftscope::gui {

class RoundsPlot : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit RoundsPlot(ViewState& state, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {900, 420}; }
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// Max rounds of a run that is read within a frame; longer runs are read on a worker.
  static constexpr std::size_t max_read_at_once = 10'000;

  /// Figure of the shown rounds; empty while they have not been read.
  [[nodiscard]] Chart figure() const override;

 protected:
  /// Job that reads this run of a recording with rows; runs on a worker if the run is long.
  [[nodiscard]] virtual BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                                       std::size_t run_index) = 0;
  /// Releases all that was read, since another run is shown, or none.
  virtual void forget_run() = 0;
  /// Draws what reading_job() read.
  virtual void paint(QPainter& painter, const RoundAxis& axis) = 0;
  /// Tool tip of a place in the plot; empty shows none.
  [[nodiscard]] virtual QString tooltip_at(const RoundAxis& axis, const QPoint& point) const = 0;

  /// Figure of what is drawn, for files; empty if there is none.
  [[nodiscard]] virtual Chart figure_of(const RoundAxis& /*axis*/) const { return {}; }
  /// Tool tip of a place beside the plot; empty shows none.
  [[nodiscard]] virtual QString tooltip_beside(const RoundAxis& /*axis*/, const QPoint& /*point*/) const {
    return {};
  }

  /// Adds a choice above the room beside the plot; the key M takes the next entry. Call it at most once.
  QComboBox& add_choice(const QString& name, const QStringList& choices);

  /// Min height at which what stands beside the plot is not cut off.
  [[nodiscard]] virtual int min_area_height() const { return 90; }

  /// Room beside the plot, for legends and tables.
  [[nodiscard]] virtual int right_margin() const { return 16; }

  [[nodiscard]] const ViewState& state() const { return state_; }
  [[nodiscard]] ViewState& state() { return state_; }
  /// Area inside margins that are the same in every such view, so that their axes line up.
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] RoundAxis axis() const;
  /// Number in the run of the round at a place of the axis; they differ if a filter leaves out some rounds.
  [[nodiscard]] std::uint32_t round_number(std::size_t place) const;
  /// Shows a notice in place of the plot; it also becomes the view's description.
  void paint_notice(QPainter& painter, const QString& words);

  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void forget();
  void read();
  /// Whether the run has been read, and can be drawn.
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] std::optional<AxisRanges> axis_ranges() const;
  void paint_round_ticks(QPainter& painter, const RoundAxis& axis) const;
  void paint_cursor(QPainter& painter, const RoundAxis& axis) const;

  ViewState& state_;
  QComboBox* choice_ = nullptr;
  BackgroundJob job_;
  /// True until the run is read, at the first painting.
  bool is_stale_ = true;
  RangeNavigation navigation_;
};

}  // namespace draftscope::gui
