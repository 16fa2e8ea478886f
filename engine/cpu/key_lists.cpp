// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/key_lists.h"

namespace draftscope::engine {

/// Without a tree and a window, a row's keys are [0, first_row + i]. Otherwise they are the committed rows
/// inside the window, usually one run, then ancestors in ascending cache row, then the row itself.
void KeyLists::build(const Batch& batch, std::span<const std::int32_t> positions,
                     std::int32_t sliding_window) {
  ranges_.clear();
  extra_.clear();
  const auto n = static_cast<std::int32_t>(batch.rows.size());
  const auto extra_size = [this] { return static_cast<std::int32_t>(extra_.size()); };
  const std::size_t words = batch.ancestors.empty() ? 0 : batch.ancestors.size() / batch.rows.size();
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t self = batch.first_row + i;
    const auto visible = [&](std::int32_t row) {
      return sliding_window == 0 ||
             batch.rows[static_cast<std::size_t>(i)].position - positions[static_cast<std::size_t>(row)] <
                 sliding_window;
    };
    // A chain continues the run, so that a prompt's keys are one run however it was divided into batches.
    const std::int32_t run_end = words == 0 ? self + 1 : batch.committed;
    KeyListRange range{0, run_end, extra_size(), 0};
    if (sliding_window != 0) {
      while (range.begin < run_end && !visible(range.begin)) ++range.begin;
      range.end = range.begin;
      while (range.end < run_end && visible(range.end)) ++range.end;
    }
    for (std::int32_t row = range.end; row < run_end; ++row)
      if (visible(row)) extra_.push_back(row);
    if (words != 0) {
      const std::uint64_t* bits = batch.ancestors.data() + static_cast<std::size_t>(i) * words;
      for (std::int32_t row = batch.committed; row < batch.first_row + n; ++row) {
        const std::int32_t bit = row - batch.committed;
        const bool ancestor = ((bits[bit / 64] >> (bit % 64)) & 1U) != 0;
        if (ancestor && row != self && visible(row)) extra_.push_back(row);
      }
      extra_.push_back(self);
    }
    range.extra_end = extra_size();
    ranges_.push_back(range);
  }
}

}  // namespace draftscope::engine
