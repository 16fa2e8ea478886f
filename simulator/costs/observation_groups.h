// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <map>
#include <vector>

namespace draftscope::simulator {

struct TimedPass {
  float ns = 0.0F;  ///< seven digits are more than a clock gives
  float context = 0.0F;
};

struct TypicalTime {
  double ns = 0.0;
  double context = 0.0;
};

/// Times of like things, by a key that has an order.
template <typename Key>
using ObservationGroups = std::map<Key, std::vector<TimedPass>>;

/// The means over the shortest interval of times that holds half of them: what is typical where much is late
/// and nothing is early, as on a machine that others use too; the middle of symmetric noise. Expects at least
/// one; reorders.
[[nodiscard]] inline TypicalTime typical_of(std::vector<TimedPass>& times) {
  std::sort(times.begin(), times.end(), [](const TimedPass& a, const TimedPass& b) { return a.ns < b.ns; });
  const std::size_t half = times.size() / 2 + 1;
  const auto width = [&](std::size_t first) { return times[first + half - 1].ns - times[first].ns; };
  std::size_t best = 0;
  for (std::size_t first = 1; first + half <= times.size(); ++first)
    if (width(first) < width(best)) best = first;
  TypicalTime sum;
  for (std::size_t i = best; i < best + half; ++i) {
    sum.ns += static_cast<double>(times[i].ns);
    sum.context += static_cast<double>(times[i].context);
  }
  const auto count = static_cast<double>(half);
  return {sum.ns / count, sum.context / count};
}

}  // namespace draftscope::simulator
