// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/random.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace draftscope::engine {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Compares with the known answers that the authors of Philox publish with Random123 (kat_vectors, philox4x32
// 10).
TEST(Philox, MatchesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

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
