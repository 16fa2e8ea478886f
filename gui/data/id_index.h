// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Index of rows by id. Ids of a recording mostly have no gaps: then a look-up is one access, of a table
// of 4 bytes an id; where they have many it is a hash map's.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "data/lanes/lane_slices.h"

namespace draftscope::gui {

class IdIndex {
 public:
  IdIndex() = default;
  /// `id` gives a row's; the first of equal ones counts. O(rows).
  template <typename Row, typename Id>
  IdIndex(const std::vector<Row>& rows, Id id) {
    if (rows.empty()) return;
    const auto [least, most] = std::ranges::minmax_element(rows, {}, id);
    first_ = id(*least);
    const auto reach = static_cast<std::uint64_t>(id(*most)) - static_cast<std::uint64_t>(first_);
    if (reach / 4 <= rows.size()) dense_.assign(reach + 1, no_index);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      if (dense_.empty())
        sparse_.emplace(id(rows[i]), index);
      else if (std::uint32_t& place = dense_[static_cast<std::size_t>(id(rows[i]) - first_)];
               place == no_index)
        place = index;
    }
  }

  /// no_index if there is none.
  [[nodiscard]] std::uint32_t operator[](std::int64_t id) const {
    if (dense_.empty()) {
      const auto found = sparse_.find(id);
      return found == sparse_.end() ? no_index : found->second;
    }
    const auto place = static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(first_);
    return place < dense_.size() ? dense_[place] : no_index;
  }

 private:
  std::int64_t first_ = 0;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::int64_t, std::uint32_t> sparse_;
};

}  // namespace draftscope::gui
