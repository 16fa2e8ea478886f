// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Level of detail of a lane: how busy any stretch of time was, with what, without walking its slices. Node i
// of level k sums 64^(k+1) consecutive slices; an answer is exact, because the few slices at both ends of a
// stretch are looked at one by one.
//
// Memory: 80 bytes for each 64 slices. Immutable once built, free to read from several threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/lanes/lane_slices.h"

namespace draftscope::gui {

struct BusySummary {
  std::array<std::int64_t, traces::phase_count> by_phase_ns{};
  std::size_t slices = 0;
  std::size_t longest = 0;       ///< index of a longest slice; meaningless without slices
  std::int64_t longest_ns = -1;  ///< its whole duration, within the stretch or not

  [[nodiscard]] std::int64_t busy_ns() const;
  /// Phase that most time went to; of equals the first.
  [[nodiscard]] traces::Phase dominant() const;
};

class BusyPyramid {
 public:
  BusyPyramid() = default;
  /// O(slices).
  explicit BusyPyramid(const LaneSlices& slices);

  /// Busy time of [range.start_ns, range.end_ns) in the lane that this was built of; slices that reach out of
  /// it count with the part inside. O(log slices).
  [[nodiscard]] BusySummary summarise(const LaneSlices& slices, TimeRange range) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Node {
    std::array<std::int64_t, traces::phase_count> by_phase_ns{};
    std::uint32_t longest = 0;
    std::int64_t longest_ns = -1;
  };
  void add_whole(const LaneSlices& slices, std::size_t first, std::size_t last, BusySummary& sum) const;

  std::vector<std::vector<Node>> levels_;
};

}  // namespace draftscope::gui
