// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <map>
#include <vector>

namespace draftscope::simulator {

/// Times of like things. Key needs an order.
template <typename Key>
class ObservationGroups {
 public:
  struct Group {
    double context_sum = 0.0;
    std::vector<float> times;  // ns; seven digits are more than a clock gives
  };

  void add(const Key& key, double context, double ns) {
    Group& group = groups_[key];
    group.context_sum += context;
    group.times.push_back(static_cast<float>(ns));
  }
  [[nodiscard]] std::map<Key, Group>& groups() { return groups_; }

 private:
  std::map<Key, Group> groups_;
};

/// Expects at least one; reorders.
[[nodiscard]] inline double median_of(std::vector<float>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace draftscope::simulator
