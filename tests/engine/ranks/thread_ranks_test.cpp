// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <mutex>
#include <random>
#include <string>

#include "on_every_rank.h"
#include "ranks/agreement.h"

namespace draftscope::engine::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Values of very different sizes, so that the order of a sum shows in its bits.
std::vector<std::vector<float>> random_parts(std::size_t parts, std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> all(parts, std::vector<float>(n));
  for (std::vector<float>& part : all)
    for (float& value : part) value = std::ldexp(normal(random), static_cast<int>(random() % 20));
  return all;
}

/// Every rank's sum of `parts`, of which each has as many as the others.
std::vector<std::vector<float>> sums(std::int32_t size, const std::vector<std::vector<float>>& parts) {
  std::vector<std::vector<float>> found(static_cast<std::size_t>(size));
  on_every_rank(size, [&](Collective& ranks) {
    const std::size_t own = parts.size() / static_cast<std::size_t>(size);
    const std::size_t n = parts.front().size();
    std::vector<float> values;
    for (std::size_t i = 0; i < own; ++i) {
      const auto& part = parts[static_cast<std::size_t>(ranks.rank()) * own + i];
      values.insert(values.end(), part.begin(), part.end());
    }
    add_neighbours(values.data(), static_cast<std::int64_t>(own), static_cast<std::int64_t>(n),
                   static_cast<std::int64_t>(n));
    const auto done = ranks.all_reduce({values.data(), n});
    EXPECT_TRUE(done) << done.error().message;
    values.resize(n);
    found[static_cast<std::size_t>(ranks.rank())] = values;
  });
  return found;
}

TEST(ThreadRanks, ASumOfEightPartsHasTheSameBitsOnAnyNumberOfRanksThatDividesThem) {
  const auto parts = random_parts(8, 300, 1);
  const std::vector<float> alone = sums(1, parts).front();
  for (const std::int32_t size : {2, 4, 8}) EXPECT_THAT(sums(size, parts), Each(alone)) << size;
  std::vector<float> in_turn(alone.size());
  for (const auto& part : parts)
    for (std::size_t i = 0; i < part.size(); ++i) in_turn[i] += part[i];
  EXPECT_NE(in_turn, alone) << "the order shows in no bit: the test can't fail";
}

TEST(ThreadRanks, OddNumbersOfRanksAgreeOnTheSum) {
  for (const std::int32_t size : {3, 5, 7}) {
    const auto found = sums(size, random_parts(static_cast<std::size_t>(size), 50, 2));
    EXPECT_THAT(found, Each(found.front()));
  }
}

TEST(ThreadRanks, BroadcastBringsRankZerosBytesAndGatherEveryRanks) {
  std::mutex mutex;
  std::vector<std::string> seen;
  std::array<std::byte, 3> gathered{};
  on_every_rank(3, [&](Collective& ranks) {
    std::string text = ranks.rank() == 0 ? "lead" : "----";
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(ranks.broadcast(std::as_writable_bytes(std::span(text))));
      const std::array own{static_cast<std::byte>(i + ranks.rank())};
      EXPECT_TRUE(ranks.gather(own, ranks.rank() == 0 ? std::span(gathered) : std::span<std::byte>()));
    }
    const std::lock_guard lock(mutex);
    seen.push_back(text);
  });
  EXPECT_THAT(seen, Each(std::string("lead")));
  EXPECT_THAT(gathered, ElementsAre(std::byte{99}, std::byte{100}, std::byte{101}));
}

TEST(ThreadRanks, ARankThatEndsEndsTheOthersCalls) {
  on_every_rank(4, [&](Collective& ranks) {
    std::vector<float> values(10, 1.0F);
    EXPECT_TRUE(ranks.all_reduce(values));
    if (ranks.rank() == 2) return;
    const auto done = ranks.all_reduce(values);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message, HasSubstr("rank 2: found it ended"));
    EXPECT_FALSE(ranks.broadcast({}));
  });
}

TEST(ThreadRanks, CallsThatDoNotMatchFailOnEveryRank) {
  on_every_rank(2, [&](Collective& ranks) {
    std::vector<float> values(ranks.rank() == 0 ? 4 : 5);
    const auto done = ranks.all_reduce(values);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().message,
              "rank 1: found all-reduce of 20 bytes, expected all-reduce of 16 as rank 0");
  });
}

TEST(ThreadRanks, ARankThatGivesUpEndsTheOthersCallsAndKeepsItsReason) {
  on_every_rank(3, [&](Collective& ranks) {
    std::vector<float> values(4, 1.0F);
    if (ranks.rank() == 1) ranks.give_up(Error{"the device is lost"});
    const auto done = ranks.all_reduce(values);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message,
                HasSubstr(ranks.rank() == 1 ? "the device is lost" : "rank 1: found it ended"));
    ranks.conclude();
    EXPECT_EQ(ranks.has_concluded(), ranks.rank() != 1);
  });
}

TEST(Agreement, IsNotAskedForAgainOnceTheRanksHaveConcluded) {
  on_every_rank(3, [&](Collective& ranks) {
    const Result<void> own = ranks.rank() == 2 ? Result<void>(fail("no device")) : Result<void>{};
    EXPECT_FALSE(agree(ranks, own));
    if (ranks.rank() == 0) return;  // the others would wait for it
    EXPECT_TRUE(agree(ranks, {}));
    EXPECT_EQ(agree(ranks, tl::unexpected(Error{"own"})).error().message, "own");
  });
}

TEST(Agreement, EveryRankLearnsOfTheFirstFailure) {
  on_every_rank(4, [&](Collective& ranks) {
    EXPECT_TRUE(agree(ranks, {}));
    const Result<void> own =
        ranks.rank() < 2 ? Result<void>{} : Result<void>(fail("no memory {}", ranks.rank()));
    const auto agreed = agree(ranks, own);
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().message, "rank 2: no memory 2");
  });
}

TEST(Agreement, ARankThatHoldsSomethingElseIsNamed) {
  on_every_rank(3, [&](Collective& ranks) {
    EXPECT_TRUE(expect_same(ranks, "model", "a"));
    const auto same = expect_same(ranks, "model", ranks.rank() == 1 ? "b" : "a");
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().message, "rank 1: found model b, expected a as rank 0");
  });
}

}  // namespace
}  // namespace draftscope::engine::test
