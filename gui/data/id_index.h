// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Index of rows by id. Ids of a recording mostly have no gaps: then a look-up is one access to a table of 4
// bytes per id; with many gaps it uses a hash map.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "data/time_range.h"

namespace draftscope::gui {

template <typename RowId>
class IdIndex {
 public:
  IdIndex() = default;
  /// `id_of` gives a row's id; the first of several rows with one id counts. O(rows).
  template <typename Row, typename IdOf>
  IdIndex(const std::vector<Row>& rows, IdOf id_of) {
    if (rows.empty()) return;
    const auto [least, most] = std::ranges::minmax_element(rows, {}, id_of);
    first_ = id_of(*least);
    const std::uint64_t reach = place_of(id_of(*most));
    if (reach / 4 <= rows.size()) dense_.assign(reach + 1, no_index);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto index = static_cast<std::uint32_t>(i);
      if (dense_.empty())
        sparse_.emplace(id_of(rows[i]), index);
      else if (std::uint32_t& place = dense_[place_of(id_of(rows[i]))]; place == no_index)
        place = index;
    }
  }

  /// no_index if there is none.
  [[nodiscard]] std::uint32_t operator[](RowId id) const {
    if (dense_.empty()) {
      const auto found = sparse_.find(id);
      return found == sparse_.end() ? no_index : found->second;
    }
    const std::uint64_t place = place_of(id);
    return place < dense_.size() ? dense_[place] : no_index;
  }

 private:
  [[nodiscard]] std::uint64_t place_of(RowId id) const {
    return static_cast<std::uint64_t>(id.value()) - static_cast<std::uint64_t>(first_.value());
  }

  RowId first_;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<RowId, std::uint32_t> sparse_;
};

}  // namespace draftscope::gui
