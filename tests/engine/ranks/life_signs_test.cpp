// SPDX-License-Identifier: GPL-3.0-or-later
// Which rank hangs, on a clock that the tests turn.

#include "ranks/life_signs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace draftscope::engine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t limit = 6 * second;

/// A rank that looks once a second.
class Judge {
 public:
  Judge(std::int32_t rank, std::int32_t size) : signs_(rank, size, limit, now_) {}

  /// The first line within the seconds; `beat` is what a peer says each second, if anything.
  std::string line_within(std::int64_t seconds,
                          const std::function<std::optional<Beat>(std::size_t, std::int64_t)>& beat,
                          bool awaits_work) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      now_ += second;
      for (std::size_t peer = 0; peer < signs_.peers().size(); ++peer)
        if (const auto said = beat(peer, now_)) signs_.hear(peer, *said, now_);
      if (auto line = signs_.hanging(now_, awaits_work)) return *line;
    }
    return "";
  }
  void sleep(std::int64_t seconds) { now_ += seconds * second; }
  LifeSigns& signs() { return signs_; }

 private:
  std::int64_t now_ = 1000 * second;
  LifeSigns signs_;
};

std::optional<Beat> works(std::size_t /*peer*/, std::int64_t now_ns) {
  return Beat{.work_ns = now_ns / 2};
}
std::optional<Beat> rests(std::size_t /*peer*/, std::int64_t /*now_ns*/) {
  return Beat{.work_ns = second};
}
std::optional<Beat> is_silent(std::size_t /*peer*/, std::int64_t /*now_ns*/) {
  return std::nullopt;
}

TEST(LifeSigns, RankZeroHearsAllOthersAndTheyHearRankZero) {
  EXPECT_THAT(heard_ranks(0, 4), ElementsAre(1, 2, 3));
  for (const std::int32_t rank : {1, 2, 3}) EXPECT_THAT(heard_ranks(rank, 4), ElementsAre(0));
}

TEST(LifeSigns, ARankThatSaysNothingHangsWhetherItIsAwaitedOrNot) {
  for (const bool awaited : {false, true}) {
    Judge judge(0, 3);
    const auto second_is_silent = [](std::size_t peer, std::int64_t now_ns) {
      return peer == 1 ? std::nullopt : works(peer, now_ns);
    };
    EXPECT_THAT(judge.line_within(6, second_is_silent, awaited), IsEmpty());
    EXPECT_EQ(judge.line_within(1, second_is_silent, awaited),
              "rank 2: found no sign of life for 7 s, expected one at least every 6 s");
  }
}

TEST(LifeSigns, ARankMayComputeOrRestForHours) {
  constexpr std::int64_t hours = 3 * 3600;
  for (const std::int32_t rank : {0, 1}) {
    EXPECT_THAT(Judge(rank, 2).line_within(hours, works, true), IsEmpty());
    EXPECT_THAT(Judge(rank, 2).line_within(hours, rests, false), IsEmpty());
  }
}

TEST(LifeSigns, ARankThatIsAwaitedAndTakesNoProcessorTimeHangs) {
  for (const std::int32_t rank : {0, 1}) {
    Judge judge(rank, 2);
    EXPECT_THAT(judge.line_within(100, rests, false), IsEmpty());
    EXPECT_THAT(judge.line_within(6, rests, true), IsEmpty());
    EXPECT_THAT(judge.line_within(1, rests, true),
                HasSubstr("found no work done for 7 s, expected its part"));
  }
}

TEST(LifeSigns, AWholeJobMayBeStoppedAndGoOn) {
  Judge judge(1, 2);
  EXPECT_THAT(judge.line_within(5, works, true), IsEmpty());
  judge.sleep(10'000);
  EXPECT_THAT(judge.line_within(6, is_silent, true), IsEmpty());
  EXPECT_THAT(judge.line_within(3, is_silent, true), HasSubstr("rank 0: found no sign of life"));
}

TEST(LifeSigns, OfManyThatHearRankZeroOneSaysSoFirst) {
  std::vector<std::int64_t> said;
  for (const std::int32_t rank : {1, 2, 3, 7}) {
    Judge judge(rank, 8);
    std::int64_t seconds = 0;
    while (judge.line_within(1, is_silent, false).empty()) ++seconds;
    said.push_back(seconds);
  }
  EXPECT_LT(said[0], said[2]);
  EXPECT_TRUE(std::ranges::is_sorted(said));
  EXPECT_LT(said.back(), 10) << "a dead rank ends the others within 10 s";
}

TEST(LifeSigns, ARankThatHasSaidItsLastIsNotMissed) {
  Judge judge(0, 3);
  EXPECT_FALSE(judge.signs().all_ended());
  judge.signs().hear(0, {.is_last = 1}, 1000 * second);
  const auto only_second = [](std::size_t peer, std::int64_t now_ns) {
    return peer == 1 ? works(peer, now_ns) : std::nullopt;
  };
  EXPECT_THAT(judge.line_within(100, only_second, true), IsEmpty());
  EXPECT_FALSE(judge.signs().all_ended());
  judge.signs().hear(1, {.is_last = 1}, 1100 * second);
  EXPECT_TRUE(judge.signs().all_ended());
}

}  // namespace
}  // namespace draftscope::engine::test
