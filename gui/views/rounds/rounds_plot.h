// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Base of the views over rounds: the rounds that the visible range holds on the x axis, zoom with the
// wheel, dragging, a click that takes the cursor to a round, the cursor's line; and that a run is read when
// it is first seen, on a worker if it is long. A view reads and draws its part and has its words.

#include <QWidget>

#include "charts/figure_source.h"
#include "state/range_navigation.h"
#include "views/rounds/round_axis.h"
#include "widgets/background_job.h"

class QComboBox;

namespace draftscope::gui {

class RoundsPlot : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit RoundsPlot(ViewState& state, QWidget* parent = nullptr);
  [[nodiscard]] QSize sizeHint() const override { return {900, 420}; }
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// Runs of so many rounds are read within a frame, longer ones on a worker.
  static constexpr std::size_t max_read_at_once = 10'000;

  /// Figure of the rounds that are shown; empty while they have not been read.
  [[nodiscard]] Chart figure() const override;

 protected:
  /// Job that reads this run of a recording that has its rows; done on a worker if the run is long.
  [[nodiscard]] virtual BackgroundJob::Job reading_job(const RecordingPointer& recording,
                                                       std::size_t run_index) = 0;
  /// Lets go of all that was read: another run is shown, or none.
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

  /// A choice of what the view shows, above the room beside the plot; M takes the next one. Once at most.
  QComboBox& add_choice(const QString& name, const QStringList& choices);

  /// Height without which what stands beside the plot is cut.
  [[nodiscard]] virtual int min_area_height() const { return 90; }

  /// Room beside the plot, for legends and tables.
  [[nodiscard]] virtual int right_margin() const { return 150; }

  [[nodiscard]] const ViewState& state() const { return state_; }
  [[nodiscard]] ViewState& state() { return state_; }
  /// Area inside margins that are the same in every such view, so that their axes stand below one another.
  [[nodiscard]] QRect plot_area() const;
  [[nodiscard]] RoundAxis axis() const;
  /// Number in the run of the round at a place of the axis; they differ where a filter leaves out some.
  [[nodiscard]] std::uint32_t round_number(std::size_t place) const;
  /// Shows a notice in the plot's place; it becomes the view's description too.
  void paint_notice(QPainter& painter, const QString& words);

  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void forget();
  void read();
  /// The run has been read, and can be drawn.
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] std::optional<AxisRanges> axis_ranges() const;
  void paint_round_ticks(QPainter& painter, const RoundAxis& axis) const;
  void paint_cursor(QPainter& painter, const RoundAxis& axis) const;

  ViewState& state_;
  QComboBox* choice_ = nullptr;
  BackgroundJob job_;
  /// The run is read when it is first painted.
  bool is_stale_ = true;
  RangeNavigation navigation_;
};

}  // namespace draftscope::gui
