// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Axis over the rounds of a run: those in the visible time range, side by side. All views of rounds use it,
// so that zooming one zooms all.

#include <algorithm>
#include <cmath>
#include <vector>

#include "state/view_state.h"

namespace draftscope::gui {

struct RoundAxis {
  std::size_t first = 0;  ///< First place in the run.
  std::size_t last = 0;   ///< One after the last place.
  int left = 0;
  int width = 1;

  [[nodiscard]] std::size_t count() const { return last - first; }
  [[nodiscard]] double rounds_per_pixel() const {
    return static_cast<double>(std::max<std::size_t>(count(), 1)) / width;
  }
  [[nodiscard]] double x(double place) const {
    return left + (place - static_cast<double>(first)) / rounds_per_pixel();
  }
  /// Place at a pixel, clamped to the axis, which must not be empty.
  [[nodiscard]] std::size_t place(double pixel) const {
    const double offset = std::max(0.0, std::floor((pixel - left) * rounds_per_pixel()));
    return std::min(first + static_cast<std::size_t>(offset), last > first ? last - 1 : first);
  }
};

/// A stretch of pixels [left, right) and the rounds [first, last) that it shows.
struct RoundColumn {
  int left = 0;
  int right = 0;
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] int width() const { return right - left; }
  [[nodiscard]] std::size_t count() const { return last - first; }
};

/// Cuts the axis into columns: one per round where there is room, else `min_width` pixels with the rounds
/// that begin in them. Each round and each pixel belongs to one column. Columns that span many `grain`s end
/// at multiples of it, where pyramids are cheapest.
[[nodiscard]] std::vector<RoundColumn> round_columns(const RoundAxis& axis, int min_width = 1,
                                                     std::size_t grain = 1);

/// Rounds of the shown run that overlap the visible range. Without any, the axis is empty and stands before
/// the first round after the range.
[[nodiscard]] RoundAxis visible_rounds(const ViewState& state, int left, int width);

/// Time range that shows these rounds of the shown run.
[[nodiscard]] TimeRange time_of_rounds(const ViewState& state, std::size_t first, std::size_t last);

/// Time range that shows `factor` times as many rounds, with the round at `pixel` kept in place.
[[nodiscard]] TimeRange zoomed_rounds(const ViewState& state, const RoundAxis& axis, double factor,
                                      double pixel);
[[nodiscard]] TimeRange moved_rounds(const ViewState& state, const RoundAxis& axis, double pixels);

}  // namespace draftscope::gui
