// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds of a run as an axis: those that the visible range of time holds, side by side. Views of rounds
// take theirs from here, so that zooming one zooms all.

#include <algorithm>
#include <cmath>
#include <vector>

#include "state/view_state.h"

namespace draftscope::gui {

struct RoundAxis {
  std::size_t first = 0;  ///< place in the run
  std::size_t last = 0;   ///< one after the last
  int left = 0;
  int width = 1;

  [[nodiscard]] std::size_t count() const { return last - first; }
  [[nodiscard]] double rounds_per_pixel() const {
    return static_cast<double>(std::max<std::size_t>(count(), 1)) / width;
  }
  [[nodiscard]] double x(double place) const {
    return left + (place - static_cast<double>(first)) / rounds_per_pixel();
  }
  /// The place at a pixel; within the axis, which is not empty.
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

/// The axis cut into columns: a column a round where there is room, else columns of `min_width` pixels with
/// the rounds that begin in them. Each round is in one column, each pixel too. Where columns hold many
/// `grain`s, they end at multiples of it, for pyramids that are cheapest there.
[[nodiscard]] std::vector<RoundColumn> round_columns(const RoundAxis& axis, int min_width = 1,
                                                     std::size_t grain = 1);

/// The rounds of the shown run that overlap the visible range. Without any the axis is empty, and stands
/// before the first round after the range.
[[nodiscard]] RoundAxis visible_rounds(const ViewState& state, int left, int width);

/// The range of time of some rounds of the shown run: what to show to see them.
[[nodiscard]] TimeRange time_of_rounds(const ViewState& state, std::size_t first, std::size_t last);

/// The range that shows `factor` times as many rounds, with the round at `pixel` kept there.
[[nodiscard]] TimeRange zoomed_rounds(const ViewState& state, const RoundAxis& axis, double factor,
                                      double pixel);
[[nodiscard]] TimeRange moved_rounds(const ViewState& state, const RoundAxis& axis, double pixels);

}  // namespace draftscope::gui
