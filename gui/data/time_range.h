// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ranges of time and indices of rows, shared by all of the app's data. Times are nanoseconds of the
// recording's clock, ranges are half-open.

#include <cstdint>
#include <limits>

namespace draftscope::gui {

/// Index that means "none".
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

struct TimeRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  [[nodiscard]] std::int64_t duration_ns() const { return end_ns - start_ns; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace draftscope::gui
