// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/counter_random.h>
#include <draftscope/base/statistics.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace draftscope {
namespace {

/// Values from -8 to 8 in steps of 1/8, so that some are equal.
std::vector<double> random_values(std::uint64_t stream, std::size_t count) {
  CounterRandom random(5, stream);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<double>(random.index(129)) / 8.0 - 8.0;
  return values;
}

TEST(Statistics, FollowTheirDefinitionsOnSortedValues) {
  for (std::size_t count = 1; count <= 40; ++count) {
    const std::vector<double> values = random_values(count, count);
    std::vector<double> sorted = values;
    std::ranges::sort(sorted);
    const double lower = sorted[(count - 1) / 2];
    const double upper = sorted[count / 2];
    EXPECT_EQ(lower_median(std::vector(values)), lower);
    EXPECT_EQ(upper_median(std::vector(values)), upper);
    EXPECT_EQ(mean_median(std::vector(values)), (lower + upper) / 2.0);
    for (const double share : {0.0, 0.025, 0.25, 0.5, 0.9, 0.99, 1.0}) {
      const double place = share * static_cast<double>(count - 1);
      const auto below = static_cast<std::size_t>(place);
      const double above = sorted[std::min(below + 1, count - 1)];
      EXPECT_EQ(quantile_below(std::vector(values), share), sorted[below]);
      EXPECT_EQ(nearest_quantile(std::vector(values), share),
                sorted[static_cast<std::size_t>(std::lround(place))]);
      EXPECT_EQ(interpolated_quantile(std::vector(values), share),
                sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]));
    }
  }
}

TEST(Statistics, RisingQuantilesMayBeginWhereTheLastOneWas) {
  const std::vector<double> values = random_values(0, 200);
  std::vector<double> reordered = values;
  std::size_t first = 0;
  for (const double share : {0.025, 0.1, 0.9, 0.975}) {
    EXPECT_EQ(interpolated_quantile(std::span(reordered), share, first),
              interpolated_quantile(std::vector(values), share));
    first = rank_below(share, values.size());
  }
}

TEST(Statistics, TakeAnOrderOfTheCallers) {
  struct Named {
    int score;
    char name;
  };
  std::vector<Named> values{{3, 'c'}, {1, 'a'}, {4, 'd'}, {2, 'b'}};
  EXPECT_EQ(lower_median(values, [](const Named& a, const Named& b) { return a.score < b.score; }).name, 'b');
}

}  // namespace
}  // namespace draftscope
