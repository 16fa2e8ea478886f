// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Level of detail of a lane: how busy any stretch of time was, and with what, without walking its slices.
// Blocks of 64 consecutive slices have running sums. Node i of level k has the longest slice of 64^(k+1).
//
// An answer is exact, because the few slices at both ends of a stretch are examined one by one. From afar,
// where a pixel has hundreds of slices, they count in proportion.
//
// Memory: 88 bytes per 64 slices. Immutable once built; several threads may read it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "data/lanes/lane_slices.h"
#include "lane_slices.h"

namespace draftscope::gui {

struct BusySummary {
  std::array<std::int64_t, traces::phase_count> by_phase_ns{};
  std::size_t slices = 0;
  std::size_t longest = 0;       ///< Index of a longest slice; meaningless without slices.
  std::int64_t longest_ns = -1;  ///< Its whole duration, even if it reaches out of the stretch.

  [[nodiscard]] std::int64_t busy_ns() const;
  /// Phase that took most time; ties go to the first phase.
  [[nodiscard]] traces::Phase dominant() const;
};

class BusyPyramid {
 public:
  /// Slices per block.
  static constexpr std::size_t block = 64;

  BusyPyramid() = default;
  /// O(slices).
  explicit BusyPyramid(const LaneSlices& slices);

  /// Busy time of [range.start_ns, range.end_ns) in the lane that this was built from. Slices that reach out
  /// of the range count with the part inside. O(log slices).
  [[nodiscard]] BusySummary summarise(const LaneSlices& slices, TimeRange range) const;
  /// Summarises a range for which `first`, the first slice that ends after its start, is known.
  [[nodiscard]] BusySummary summarise(const LaneSlices& slices, TimeRange range, std::size_t first) const;

  /// Summarises a range with many blocks for a picture; absent for a range with few. Blocks that reach out of
  /// the range count in proportion to their time inside, and without their longest slices. Adjacent ranges
  /// add up. `near` is the block in which the previous range began, 0 at first; it becomes this range's
  /// block. O(log blocks).
  [[nodiscard]] std::optional<BusySummary> from_afar(TimeRange range, std::size_t& near) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  using ByPhase = std::array<std::int64_t, traces::phase_count>;  ///< ns
  struct Longest {
    std::uint32_t index = 0;
    std::int64_t ns = -1;
  };
  /// Block that contains a time, searched from block `from`, at or before it; the number of blocks after the
  /// last.
  [[nodiscard]] std::size_t block_at(std::int64_t time_ns, std::size_t from) const;
  void add_whole(const LaneSlices& slices, std::size_t first, std::size_t last, BusySummary& sum) const;

  std::vector<std::int64_t>
      starts_ns_;  ///< [block] Start of each block, and the end of the last, which may be shorter.
  std::vector<ByPhase> before_;               ///< [block] Busy time before each block, and in total.
  std::vector<std::vector<Longest>> levels_;  ///< Longest slices of whole blocks.
};

/// A lane's busy time in columns, from the recording's stored overview. It stands in for the lane's slices
/// until they are read. Immutable once built.
class BusyColumns {
 public:
  using ByPhase = std::array<double, traces::phase_count>;  ///< ns

  BusyColumns() = default;
  explicit BusyColumns(std::int64_t column_ns) : column_ns_(column_ns) {}

  /// Adds columns in the order of their starts; several phases of one column may follow one another.
  void add(std::int64_t start_ns, traces::Phase phase, std::int64_t busy_ns);

  [[nodiscard]] bool empty() const { return start_ns_.empty(); }
  [[nodiscard]] std::size_t size() const { return start_ns_.size(); }
  [[nodiscard]] TimeRange whole() const;
  /// Busy time within the range. Columns that reach out of it count in proportion. O(log columns + columns
  /// met).
  [[nodiscard]] ByPhase summarise(TimeRange range) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  std::int64_t column_ns_ = 1;
  std::vector<std::int64_t> start_ns_;
  std::vector<std::array<float, traces::phase_count>> busy_ns_;
};

}  // namespace draftscope::gui
