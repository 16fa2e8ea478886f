// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A lane's busy time in columns, from the recording's stored overview. It stands in for the lane's slices
// until they are read. Immutable once built.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lane_slices.h"

namespace draftscope::gui {

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
