// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Level of detail of a lane on a cut axis (cut_time.h): how busy any part of the axis was, and with what,
// however many stretches it has. Exact. Memory: 64 bytes a stretch. Immutable once built.

#include <vector>

#include "cut_time.h"
#include "timeline.h"

namespace draftscope::gui {

/// Busy time of a lane, by its slices or, while those have not been read, by its columns. O(log slices).
[[nodiscard]] BusyColumns::ByPhase busy_time(const Lane& lane, TimeRange time);

class CutSums {
 public:
  CutSums() = default;
  /// O(stretches · log slices).
  CutSums(const Lane& lane, const CutTime& time);

  /// Busy time of the lane in a part of the axis, both as this was built of. O(log slices + log stretches).
  [[nodiscard]] BusyColumns::ByPhase summarise(const Lane& lane, const CutTime& time, TimeRange axis) const;
  /// The same before a place of the axis, of a lane whose slices have been read.
  [[nodiscard]] BusyPyramid::ByPhase until(const Lane& lane, const CutTime& time, std::int64_t at_ns) const;

 private:
  /// Busy time in all stretches before the i-th, one more than there are; of a lane that has columns.
  std::vector<BusyColumns::ByPhase> before_;
  /// Busy time until the i-th stretch begins, less that in stretches before it; of a lane that has slices.
  std::vector<BusyPyramid::ByPhase> left_out_;
};

}  // namespace draftscope::gui
