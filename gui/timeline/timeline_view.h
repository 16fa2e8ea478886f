// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The timeline: requests and rounds of each run, decisions, host threads with nested phases, device streams,
// counters, on the recording's clock. Wheel or W / S zooms at the pointer, dragging or A / D moves, F fits
// the selection, Shift-drag selects a range. A click moves the cursor to the slice's round. Titles of groups
// collapse them; the edge beside them can be dragged.

#include <QAbstractScrollArea>
#include <QTimer>
#include <optional>
#include <vector>

#include "data/lanes/slice_place.h"
#include "data/rounds/matching_rounds.h"
#include "state/range_navigation.h"
#include "state/view_state.h"
#include "timeline/lane_rows.h"
#include "timeline/marks_layer.h"
#include "timeline/query_lanes.h"
#include "timeline/slice_label.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_bar.h"

class QMenu;

namespace draftscope::gui {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  /// `state` must outlive the view.
  explicit TimelineView(ViewState& state, QWidget* parent = nullptr);

  [[nodiscard]] const std::optional<SlicePlace>& selected() const { return selected_; }
  /// Selects a slice and moves the cursor to its round. The range stays, unless it shows nothing of the
  /// slice.
  void select(std::optional<SlicePlace> place);

  /// Fades slices whose name does not contain the text, ignoring case, also in recordings shown later.
  /// Returns how many names match.
  int set_search(const QString& text);
  /// Selects and shows the next match in time order, after the selected slice or before it; wraps around. The
  /// shown run stays.
  bool step_match(bool forward);
  /// Rank of the selected slice, which step_match() has found.
  [[nodiscard]] MatchRank match_rank() const {
    return rank_of_match(*state_.timeline(), matches_, *selected_);
  }

  void fit_selection();

  [[nodiscard]] const LaneRows& lanes() const { return rows_; }
  /// Changes a group, given by its place in lanes().groups().
  void collapse(std::size_t group, bool is_collapsed);
  void pin(std::size_t group, bool is_pinned);
  void hide_group(std::size_t group);
  void show_hidden_groups();
  void set_folding(bool folds);
  /// The lane that keys act on, as an index into lanes().rows().
  [[nodiscard]] std::optional<std::size_t> current_row() const;

  /// Sets the width of the titles, limited so that titles are readable and lanes have room.
  void set_header_width(int width);
  [[nodiscard]] int header_width() const { return header_width_; }

  /// Height of all lanes and counters with the bar and the axis, visible or not.
  [[nodiscard]] int content_height() const;
  [[nodiscard]] TimelineBar& bar() { return *bar_; }
  [[nodiscard]] MarksLayer& marks() { return marks_; }
  [[nodiscard]] QueryLanes& query_lanes() { return *query_lanes_; }
  /// Asks for the text of the chosen mark, or of a new one: of the selected range, the selected slice's
  /// start, or the start of the cursor's round.
  void edit_mark();

 signals:
  /// The lanes have changed: content_height() may have changed, too.
  void laid_out();
  void slice_selected();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Identity of a row without its place: it identifies the current row when other rows come and go.
  struct RowName {
    std::string group;
    LaneRow::RowKind kind = LaneRow::RowKind::lane;
    std::size_t index = 0;
  };

  void connect_state();
  /// Whether the begin of a time is visible, or nothing but the time.
  [[nodiscard]] bool is_shown(TimeRange time) const;
  /// Places the bar on top and the lanes of queries at the bottom.
  void place_bars();
  /// Selects without moving the cursor.
  void mark(std::optional<SlicePlace> place);
  [[nodiscard]] std::uint32_t selected_round() const;
  void scroll_to_row(const LaneRow& row);
  /// Unfolds what hides a lane, and scrolls there.
  void reveal_lane(std::size_t lane);
  /// Rebuilds the groups for another recording.
  void regroup();
  /// Rebuilds the rows for a choice or another time.
  void lay_out();
  /// Removes lanes that became empty: at once or, under the pointer, when it rests.
  void follow_range();
  void set_scroll_range();
  void fit_header();
  /// Dims rounds that a filter leaves out.
  void follow_filter();
  void list_phases();
  [[nodiscard]] int top_of_lanes() const { return axis_height + rows_.pinned_height(); }
  [[nodiscard]] TimeAxis axis() const;
  [[nodiscard]] std::optional<AxisRanges> axis_ranges();
  [[nodiscard]] const LaneRow* row_at(int y) const;
  [[nodiscard]] QString title_of(const LaneRow& row, bool is_whole) const;
  [[nodiscard]] std::optional<SlicePlace> place_at(const QPoint& point) const;
  [[nodiscard]] QString describe(const SlicePlace& place) const;
  /// Tool tip of a place; empty where there is no slice.
  [[nodiscard]] QString tip_at(const QPoint& point) const;
  /// Moves the cursor to the slice at a point, or clears the selection where there is none.
  void choose_at(const QPoint& point);
  void make_current(const LaneRow& row);
  void step_row(int by);
  void step_slice(int by);
  /// Moves the end of the selected range by a share of the visible range.
  void stretch_selection(double share);
  bool press_lane_key(const QKeyEvent& event);
  [[nodiscard]] bool is_on_edge(const QPoint& point) const;
  /// Handles presses on titles and on their edge, and the moves and releases that follow.
  bool use_title_mouse(const QMouseEvent& event);
  void fill_lanes_menu();
  void add_group_actions(QMenu& menu, std::size_t group);

  [[nodiscard]] int top_of(const LaneRow& row) const;
  void paint_rows(QPainter& painter, const TimeAxis& axis, bool pinned) const;
  void paint_row(QPainter& painter, const LaneRow& row, const TimeAxis& axis, LabelBatch& labels) const;
  void paint_header(QPainter& painter, const LaneRow& row) const;
  void paint_axis(QPainter& painter, const TimeAxis& axis) const;
  void paint_ticks(QPainter& painter, const TimeAxis& axis) const;
  void paint_overlays(QPainter& painter, const TimeAxis& axis) const;
  /// Fills a time across the rows, with lines at its ends if `line` is valid.
  void paint_time(QPainter& painter, const TimeAxis& axis, TimeRange time, const QColor& fill,
                  const QColor& line) const;
  void paint_selection(QPainter& painter, const TimeAxis& axis) const;
  void paint_cursor(QPainter& painter, const TimeAxis& axis) const;
  void paint_selected_slice(QPainter& painter, const TimeAxis& axis) const;
  void paint_launch(QPainter& painter, const TimeAxis& axis) const;
  void update_description();

  ViewState& state_;
  TimelineBar* bar_ = new TimelineBar(this);
  QueryLanes* query_lanes_;
  MarksLayer marks_;
  LaneRows rows_;
  LabelFont label_font_;
  int wanted_header_width_;  ///< Width where there is room.
  int header_width_;
  int content_height_ = 0;        ///< Height of everything below the bar.
  std::optional<int> edge_drag_;  ///< Distance from the pointer to the edge, during a drag.
  std::optional<QPoint> title_press_;
  std::optional<RowName> current_;
  std::optional<SlicePlace> selected_;
  std::optional<SlicePlace> launch_;  ///< Call or span that launched the selected kernel.
  std::filesystem::path path_;        ///< Path of the shown recording.
  QString search_;
  std::vector<bool> matches_;       ///< [name] empty = no search
  std::optional<LeftRounds> left_;  ///< absent = no filter
  QTimer fold_timer_;
  RangeNavigation navigation_;
};

}  // namespace draftscope::gui
