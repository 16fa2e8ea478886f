// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws one lane. A slice of three pixels and more is drawn as itself, a round as its phases; where slices
// are narrower, a column of one pixel shows how busy that time was by its height and what with by its colour,
// so that gaps stay visible at any zoom. O(width · log slices), whatever the lane holds.

#include <QColor>
#include <QPainter>
#include <QRect>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/lanes/lane_groups.h"
#include "data/lanes/timeline.h"
#include "data/rounds/left_rounds.h"
#include "timeline/label_font.h"
#include "timeline/time_axis.h"

namespace draftscope::gui {

struct LaneLook {
  bool dark = false;
  QColor back;  ///< what the lane has been filled with, so that its boxes can be drawn at once
  /// By Timeline::names: slices of other names are faded; null fades none.
  const std::vector<bool>* matches = nullptr;
  /// Slices of rounds that a filter leaves out are faded, and requests without any that it leaves; null fades
  /// none.
  const LeftRounds* left = nullptr;
  std::size_t run_index = ShownGroup::no_run;  ///< whose rounds the lane has; else of all runs
  /// Rows that rounds, requests and draft steps are labelled and divided by; without them no slice is
  /// labelled.
  const OpenedRecording* opened = nullptr;
  LabelBatch* labels = nullptr;  ///< takes the labels, which the caller draws after the lanes
};

void paint_lane(QPainter& painter, const Timeline& timeline, const Lane& lane, const TimeAxis& axis,
                const QRect& area, const LaneLook& look);

/// Values at the bottom and the top of a counter's lane; 0 is always in between.
[[nodiscard]] std::pair<double, double> counter_range(const CounterLane& counter);

/// A polyline of minimum and maximum a pixel.
void paint_counter(QPainter& painter, const CounterLane& counter, const TimeAxis& axis, const QRect& area,
                   const QColor& color);

/// The slice at a pixel, or the longest of those that share it; none within a pixel of it.
[[nodiscard]] std::optional<std::size_t> slice_at(const Lane& lane, const TimeAxis& axis, double pixel);

}  // namespace draftscope::gui
