// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/random.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace draftscope::engine {
namespace {

TEST(SeededChooser, GivesTheSameChoiceForTheSamePurposeInAnyOrder) {
  const std::vector<double> weights(1000, 1.0);
  SeededChooser forwards(7, 3);
  SeededChooser backwards(7, 3);
  std::vector<std::size_t> a(64);
  std::vector<std::size_t> b(64);
  for (int i = 0; i < 64; ++i)
    a[static_cast<std::size_t>(i)] = forwards.choose({DrawPurpose::draft, i}, weights);
  for (int i = 63; i >= 0; --i)
    b[static_cast<std::size_t>(i)] = backwards.choose({DrawPurpose::draft, i}, weights);
  EXPECT_EQ(a, b);
}

TEST(SeededChooser, DrawsIndependentlyBySeedStreamPositionAndPurpose) {
  const std::vector<double> weights(1U << 20U, 1.0);
  std::set<std::size_t> seen;
  for (std::uint64_t seed : {1U, 2U})
    for (std::uint64_t stream : {0U, 1U})
      for (std::int32_t position : {0, 1})
        for (DrawPurpose purpose : {DrawPurpose::target, DrawPurpose::draft, DrawPurpose::accept})
          seen.insert(SeededChooser(seed, stream).choose({purpose, position}, weights));
  EXPECT_EQ(seen.size(), 24U);
}

TEST(SeededChooser, FollowsTheWeightsAndNeverPicksAWeightOfZero) {
  const std::vector<double> weights{0.0, 3.0, 0.0, 1.0, 0.0};
  std::array<int, 5> counts{};
  constexpr int draws = 40000;
  for (int i = 0; i < draws; ++i) ++counts[SeededChooser(5, 0).choose({DrawPurpose::target, i}, weights)];
  EXPECT_EQ(counts[0] + counts[2] + counts[4], 0);
  const double sigma = std::sqrt(draws * 0.75 * 0.25);
  EXPECT_NEAR(counts[1], 0.75 * draws, 5.0 * sigma);
}

}  // namespace
}  // namespace draftscope::engine
