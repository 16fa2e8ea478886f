// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Maps between times and pixels of the timeline, and sizes of its parts in pixels.

#include <algorithm>
#include <cmath>

#include "data/lanes/lane_slices.h"

namespace draftscope::gui {

/// [range.start_ns, range.end_ns) fills [left, left + width).
struct TimeAxis {
  TimeRange range;
  int left = 0;
  int width = 1;

  [[nodiscard]] double ns_per_pixel() const { return static_cast<double>(range.duration_ns()) / width; }
  [[nodiscard]] double x(std::int64_t ns) const {
    return left + static_cast<double>(ns - range.start_ns) / ns_per_pixel();
  }
  /// Time at a pixel's left edge; fractions of pixels are allowed.
  [[nodiscard]] std::int64_t ns(double pixel) const {
    return range.start_ns + static_cast<std::int64_t>(std::llround((pixel - left) * ns_per_pixel()));
  }
  /// The range, longer or shorter by `factor`, with the time at `pixel` in place.
  [[nodiscard]] TimeRange zoomed(double factor, double pixel) const {
    const std::int64_t kept = ns(pixel);
    const double before = static_cast<double>(kept - range.start_ns) * factor;
    const double duration = static_cast<double>(range.duration_ns()) * factor;
    const std::int64_t start = kept - std::llround(before);
    return {start, start + std::max<std::int64_t>(std::llround(duration), 1)};
  }
  [[nodiscard]] TimeRange moved(double pixels) const {
    const std::int64_t by = std::llround(pixels * ns_per_pixel());
    return {range.start_ns + by, range.end_ns + by};
  }
};

inline constexpr int axis_height = 24;
inline constexpr int first_header_width = 190;
inline constexpr int min_header_width = 60;
inline constexpr int header_step = 20;

}  // namespace draftscope::gui
