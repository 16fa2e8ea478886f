// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws one lane. A slice of at least three pixels is drawn as a box, a round as its phases. Where slices are
// narrower, each column of one pixel shows how busy its time was by height, and the phase by colour, so that
// gaps stay visible at any zoom. O(width · log slices), whatever the lane holds.

#include <QColor>
#include <QPainter>
#include <QRect>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/lanes/lane_groups.h"
#include "data/lanes/timeline.h"
#include "data/rounds/matching_rounds.h"
#include "timeline/slice_label.h"
#include "timeline/time_axis.h"

namespace draftscope::gui {

struct LaneLook {
  bool dark = false;
  QColor back;  ///< Colour that fills the lane, so that its boxes can be drawn at once.
  /// By Timeline::names: slices of unmarked names are faded; null fades none.
  const std::vector<bool>* matches = nullptr;
  /// Slices of rounds that the filter leaves out are faded, and requests without a remaining round; null
  /// fades none.
  const LeftRounds* left = nullptr;
  std::size_t run_index = ShownGroup::no_run;  ///< Run of the lane's rounds; no_run = all runs
  /// Rows for labels and divisions of rounds, requests and draft steps; without them no slice is labelled.
  const OpenedRecording* opened = nullptr;
  LabelBatch* labels = nullptr;  ///< Takes the labels, which the caller draws after the lanes.
};

void paint_lane(QPainter& painter, const Timeline& timeline, const Lane& lane, const TimeAxis& axis,
                const QRect& area, const LaneLook& look);

/// Values at the bottom and the top of a counter's lane; 0 is always in between.
[[nodiscard]] std::pair<double, double> counter_range(const CounterLane& counter);

/// Draws a polyline of the minimum and the maximum per pixel.
void paint_counter(QPainter& painter, const CounterLane& counter, const TimeAxis& axis, const QRect& area,
                   const QColor& color);

/// The slice at a pixel, or the longest of several slices that share it; none if no slice is within a pixel.
[[nodiscard]] std::optional<std::size_t> slice_at(const Lane& lane, const TimeAxis& axis, double pixel);

}  // namespace draftscope::gui
