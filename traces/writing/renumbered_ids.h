// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Ids of a shard's rows in the merged recording. Both rise together, mostly by one: a stretch of such ids
// takes one entry, however long it is.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace draftscope::traces {

template <typename Id>
class RenumberedIds {
 public:
  /// `from` and `to` are larger than all before.
  void add(Id from, Id to) {
    const std::int64_t shift = to.value() - from.value();
    if (stretches_.empty() || stretches_.back().shift != shift || from.value() != last_ + 1)
      stretches_.push_back({from.value(), from.value(), shift});
    stretches_.back().last = last_ = from.value();
  }

  /// 0 of a row that was not added.
  [[nodiscard]] Id operator[](Id from) const {
    const auto behind = std::upper_bound(stretches_.begin(), stretches_.end(), from.value(),
                                         [](std::int64_t id, const Stretch& s) { return id < s.first; });
    if (behind == stretches_.begin()) return Id();
    const Stretch& stretch = *(behind - 1);
    return from.value() > stretch.last ? Id() : Id::from(from.value() + stretch.shift);
  }

 private:
  struct Stretch {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t shift = 0;
  };
  std::vector<Stretch> stretches_;
  std::int64_t last_ = 0;
};

}  // namespace draftscope::traces
