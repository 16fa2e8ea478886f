// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/counter_random.h>

#include <gtest/gtest.h>

#include <set>

namespace draftscope {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The compiler checks the known answers that the authors of Philox publish with Random123 (kat_vectors,
// philox4x32 10).
static_assert(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

// These are the first outputs of SplitMix64 from state 1234567, as in Rosetta Code and the reference code.
static_assert(splitmix(1234567 + splitmix_step) == 6457827717110365317U);
static_assert(splitmix(1234567 + 2 * splitmix_step) == 3203168211198807973U);

TEST(CounterRandom, IsAFunctionOfSeedAndStream) {
  CounterRandom once(7, 3);
  CounterRandom again(7, 3);
  std::set<std::uint64_t> starts;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(once.next(), again.next());
  for (std::uint64_t stream = 0; stream < 1000; ++stream) starts.insert(CounterRandom(7, stream).next());
  EXPECT_EQ(starts.size(), 1000U);
}

TEST(CounterRandom, StaysInItsRange) {
  CounterRandom random(1, 0);
  std::array<int, 5> counts{};
  for (int i = 0; i < 10'000; ++i) {
    const double uniform = random.uniform();
    EXPECT_TRUE(uniform > 0.0 && uniform < 1.0) << uniform;
    ++counts.at(random.index(counts.size()));
  }
  for (const int count : counts) EXPECT_NEAR(count, 2000, 250);
  EXPECT_EQ(unit_interval(0, 0), 0.0);
  EXPECT_LT(unit_interval(0xFFFFFFFFU, 0xFFFFFFFFU), 1.0);
}

}  // namespace
}  // namespace draftscope
