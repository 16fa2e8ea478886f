// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device activities of a timeline, and which host range launched each: by a number that the launch and the
// activity share.

#include <draftscope/traces/records.h>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace draftscope::traces {

/// "host" has no device rows; what a row's name in brackets says decides between the others.
[[nodiscard]] inline std::string_view device_track_kind(std::string_view name) {
  if (name.starts_with("[wait") || name.starts_with("[stream waits")) return "sync";
  const bool is_other = name.starts_with("[CUPTI") || name.starts_with("[driver") ||
                        name.starts_with("[module") || name.starts_with("[lazy") ||
                        name.starts_with("[command buffer") || name == "[overhead]";
  return is_other ? "overhead" : "stream";
}

/// 12 bytes a launch, of which there may be as many as kernels.
class Launches {
 public:
  /// `process` sets apart what numbers its launches on its own.
  void add(std::uint32_t process, std::uint32_t number, std::uint32_t range) {
    rows_.push_back({process, number, range});
  }
  void sort() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.process, a.number) < std::tie(b.process, b.number);
    });
  }
  /// The range that was given with the first launch of that number, after sort(). O(log n).
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
