// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The timeline: requests and rounds of each run, decisions, host threads with nested phases, device streams,
// counters, on one time axis. Wheel or W / S zooms where the pointer is, dragging or A / D moves, F fits the
// selection, Shift-drag selects a range, a click takes the cursor to the slice's round.

#include <QAbstractScrollArea>
#include <optional>
#include <vector>

#include "state/range_navigation.h"
#include "state/view_state.h"
#include "timeline/slice_place.h"
#include "timeline/time_axis.h"

namespace draftscope::gui {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  /// `state` must outlive the view.
  explicit TimelineView(ViewState& state, QWidget* parent = nullptr);

  [[nodiscard]] const std::optional<SlicePlace>& selected() const { return selected_; }
  void select(std::optional<SlicePlace> place);

  /// Slices whose name contains the text, whatever its case; others fade, in recordings shown later, too.
  /// Returns how many names match.
  int set_search(const QString& text);
  /// Selects and shows the next match after the selected slice (or before it), in the order of time; wraps
  /// around. The run that is shown stays.
  bool step_match(bool forward);

  void fit_selection();

  /// Height of all lanes and counters with the axis, in sight or not.
  [[nodiscard]] int content_height() const { return content_height_; }

 signals:
  /// There are other lanes: content_height() may have changed.
  void laid_out();
  void slice_selected();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  /// A row of the view: a lane or a counter.
  struct Row {
    enum class Kind : std::uint8_t { lane, counter } kind = Kind::lane;
    std::size_t index = 0;
    int top = 0;
    int height = 0;
    bool begins_group = false;
  };

  /// Selects without taking the cursor along.
  void mark(std::optional<SlicePlace> place);
  [[nodiscard]] std::uint32_t selected_round() const;
  void scroll_to_lane(std::size_t lane);
  void lay_out();
  void set_scroll_range(int content_height);
  [[nodiscard]] TimeAxis axis() const;
  [[nodiscard]] std::optional<AxisRanges> axis_ranges() const;
  [[nodiscard]] const Row* row_at(int y) const;
  [[nodiscard]] QString title_of(const Row& row) const;
  [[nodiscard]] std::optional<SlicePlace> place_at(const QPoint& point) const;
  [[nodiscard]] QString describe(const SlicePlace& place) const;
  /// Tool tip of a place; empty where there is no slice.
  [[nodiscard]] QString tip_at(const QPoint& point) const;
  /// Takes the cursor to the slice at a point, or lets go of the selection where there is none.
  void choose_at(const QPoint& point);
  [[nodiscard]] int top_of(const Row& row) const;
  void paint_rows(QPainter& painter, const TimeAxis& axis) const;
  void paint_row(QPainter& painter, const Row& row, const TimeAxis& axis) const;
  void paint_header(QPainter& painter, const Row& row) const;
  void paint_axis(QPainter& painter, const TimeAxis& axis) const;
  void paint_overlays(QPainter& painter, const TimeAxis& axis) const;
  void paint_selection(QPainter& painter, const TimeAxis& axis) const;
  void paint_cursor(QPainter& painter, const TimeAxis& axis) const;
  void paint_selected_slice(QPainter& painter, const TimeAxis& axis) const;
  void paint_launch(QPainter& painter, const TimeAxis& axis) const;
  void update_description();

  ViewState& state_;
  std::vector<Row> rows_;
  int content_height_ = 0;
  std::optional<SlicePlace> selected_;
  std::optional<SlicePlace> launch_;  ///< the span that launched the selected kernel
  std::filesystem::path path_;        ///< of the recording that is shown
  QString search_;
  std::vector<bool> matches_;  ///< by name; empty without a search
  RangeNavigation navigation_;
};

}  // namespace draftscope::gui
