// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lanes of the timeline that show intervals of the user's own queries, below the others. Each has a title and
// a button that removes it. A click on an interval selects its time.

#include <QWidget>
#include <functional>
#include <vector>

#include "data/sql_schema.h"
#include "state/view_state.h"
#include "timeline/time_axis.h"

class QToolButton;

namespace draftscope::gui {

class QueryLanes : public QWidget {
  Q_OBJECT

 public:
  /// `axis` gives the timeline's axis in this widget's pixels; `state` must outlive the lanes.
  QueryLanes(ViewState& state, std::function<TimeAxis()> axis, QWidget* parent);

  /// Adds a lane, in place of one with the same title, and of the oldest where there are too many.
  void add(const QString& title, QueryIntervals intervals);
  void remove(std::size_t index);
  [[nodiscard]] std::size_t count() const { return lanes_.size(); }
  [[nodiscard]] int wanted_height() const;
  /// Interval at a point, as indices of its lane and in it; the last one that begins before the point.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> interval_at(const QPoint& point) const;

 signals:
  void height_changed();

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  struct QueryLane {
    QString title;
    std::vector<QueryInterval> intervals;
    QToolButton* close = nullptr;
  };
  void place_buttons();
  void clear_for_other_recording();

  ViewState& state_;
  std::function<TimeAxis()> axis_;
  std::filesystem::path recording_;
  std::vector<QueryLane> lanes_;
};

}  // namespace draftscope::gui
