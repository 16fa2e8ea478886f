// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device activities of a timeline, and the host range that launched each. The launch and the activity share a
// number.

#include <draftscope/traces/records.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace draftscope::traces {

/// The kind of a device track; a row's name in brackets decides. "host" has no device rows.
/// Calls of CUDA's API begin with "cu".
[[nodiscard]] inline std::string_view device_track_kind(std::string_view name) {
  if (name.starts_with("[wait") || name.starts_with("[stream waits")) return "sync";
  if (name.starts_with("[cu")) return "calls";
  const bool is_other = name.starts_with("[CUPTI") || name.starts_with("[driver") ||
                        name.starts_with("[module") || name.starts_with("[lazy") ||
                        name.starts_with("[command buffer") || name == "[overhead]";
  return is_other ? "overhead" : "stream";
}

/// The launches of a timeline, in 12 bytes each, since there may be as many as kernels.
class Launches {
 public:
  /// Adds a launch. `process` separates sources that number their launches independently.
  void add(std::uint32_t process, std::uint32_t number, std::uint32_t range) {
    rows_.push_back({process, number, range});
  }
  void sort() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.process, a.number) < std::tie(b.process, b.number);
    });
  }
  /// The range of the first launch with that number, after sort(). O(log n).
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t process, std::uint32_t number) const {
    const auto found = std::lower_bound(
        rows_.begin(), rows_.end(), std::tuple(process, number),
        [](const Row& row, const auto& key) { return std::tuple(row.process, row.number) < key; });
    if (found == rows_.end() || found->process != process || found->number != number) return std::nullopt;
    return found->range;
  }

 private:
  struct Row {
    std::uint32_t process, number, range;
  };
  std::vector<Row> rows_;
};

}  // namespace draftscope::traces
