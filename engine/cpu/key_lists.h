// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The keys of every row of a batch, in path order, so that a branch of a tree gives the same sum as a chain.

#include <draftscope/engine/backend.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Cache rows [begin, end), then extra[extra_begin … extra_end).
struct KeyListRange {
  std::int32_t begin = 0, end = 0;
  std::int32_t extra_begin = 0, extra_end = 0;
  [[nodiscard]] std::int32_t size() const { return end - begin + (extra_end - extra_begin); }
};

class KeyLists {
 public:
  /// Builds the lists of a batch. `positions[r]` is the position that cache row r was written for, including
  /// this batch's rows. `sliding_window` 0 = none.
  void build(const Batch& batch, std::span<const std::int32_t> positions, std::int32_t sliding_window);

  [[nodiscard]] std::span<const KeyListRange> ranges() const { return ranges_; }
  [[nodiscard]] std::span<const std::int32_t> extra() const { return extra_; }

 private:
  std::vector<KeyListRange> ranges_;
  std::vector<std::int32_t> extra_;
};

}  // namespace draftscope::engine
