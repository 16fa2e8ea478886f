// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Level of detail of a lane: how busy any stretch of time was, with what, without walking its slices. Blocks
// of 64 consecutive slices have running sums, and node i of level k the longest slice of 64^(k+1). An answer
// is exact, because the few slices at both ends of a stretch are looked at one by one; from afar, where a
// pixel has hundreds, they count in proportion.
//
// Memory: 88 bytes for each 64 slices. Immutable once built, free to read from several threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  /// Slices a block.
  static constexpr std::size_t block = 64;

  BusyPyramid() = default;
  /// O(slices).
  explicit BusyPyramid(const LaneSlices& slices);

  /// Busy time of [range.start_ns, range.end_ns) in the lane that this was built of; slices that reach out of
  /// it count with the part inside. O(log slices).
  [[nodiscard]] BusySummary summarise(const LaneSlices& slices, TimeRange range) const;
  /// The same where the first slice that ends after the range's start is known.
  [[nodiscard]] BusySummary summarise(const LaneSlices& slices, TimeRange range, std::size_t first) const;

  /// A summary for a picture, of a range with many blocks: blocks that reach out of it count in proportion to
  /// their time inside, and their longest slices not at all. Ranges next to each other add up. Absent of a
  /// range with few blocks. `near` is the block that the range before began in, 0 at first; it becomes this
  /// range's. O(log blocks).
  [[nodiscard]] std::optional<BusySummary> from_afar(TimeRange range, std::size_t& near) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  using ByPhase = std::array<std::int64_t, traces::phase_count>;  ///< ns
  struct Longest {
    std::uint32_t index = 0;
    std::int64_t ns = -1;
  };
  /// Block that a time lies in, from a block on that is at or before it; their number after the last.
  [[nodiscard]] std::size_t block_at(std::int64_t time_ns, std::size_t from) const;
  void add_whole(const LaneSlices& slices, std::size_t first, std::size_t last, BusySummary& sum) const;

  std::vector<std::int64_t>
      starts_ns_;                ///< of each block, the last of which may have fewer, and where it ends
  std::vector<ByPhase> before_;  ///< busy time before each block, and of all
  std::vector<std::vector<Longest>> levels_;  ///< Longest slices of whole blocks.
};

}  // namespace draftscope::gui
