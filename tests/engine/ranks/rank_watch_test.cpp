// SPDX-License-Identifier: GPL-3.0-or-later
// Watches of several ranks in one process, whose beats go through a box that the tests can shut.

#include "ranks/rank_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <thread>
#include <vector>

namespace draftscope::engine::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

/// Beats that are under way from rank to rank.
class Post {
 public:
  void put(std::int32_t from, std::int32_t to, const Beat& beat) {
    const std::lock_guard lock(mutex_);
    if (!lost_[from]) boxes_[{from, to}].push_back(beat);
  }
  std::optional<Beat> take(std::int32_t from, std::int32_t to) {
    const std::lock_guard lock(mutex_);
    std::deque<Beat>& box = boxes_[{from, to}];
    if (box.empty()) return std::nullopt;
    const Beat beat = box.front();
    box.pop_front();
    return beat;
  }
  /// Nothing of a rank arrives any more.
  void lose(std::int32_t rank) {
    const std::lock_guard lock(mutex_);
    lost_[rank] = true;
  }
  std::atomic<bool> is_cut = false;
  [[nodiscard]] std::size_t left() {
    const std::lock_guard lock(mutex_);
    std::size_t beats = 0;
    for (const auto& [ends, box] : boxes_) beats += box.size();
    return beats;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::deque<Beat>> boxes_;
  std::map<std::int32_t, bool> lost_;
};

class PostCarrier final : public BeatCarrier {
 public:
  PostCarrier(Post& post, std::int32_t rank, std::int32_t size)
      : post_(post), rank_(rank), peers_(heard_ranks(rank, size)) {}
  Result<bool> send(std::size_t peer, const Beat& beat) override {
    // Every other message is refused once, as by a line that is busy.
    is_busy_ = !is_busy_;
    if (is_busy_) return false;
    post_.put(rank_, peers_[peer], beat);
    return true;
  }
  Result<std::optional<Beat>> receive(std::size_t peer) override {
    if (post_.is_cut) return fail("the line is cut");
    return post_.take(peers_[peer], rank_);
  }

 private:
  Post& post_;
  std::int32_t rank_;
  std::vector<std::int32_t> peers_;
  bool is_busy_ = false;
};

/// Watches of several ranks and the lines that each was told.
class Watches {
 public:
  Watches(std::int32_t size, std::int64_t limit_ns) : lines_(static_cast<std::size_t>(size)) {
    for (std::int32_t rank = 0; rank < size; ++rank)
      watches_.push_back(std::make_unique<RankWatch>(rank, size, limit_ns,
                                                     std::make_unique<PostCarrier>(post, rank, size),
                                                     [this, rank](const std::string& line) {
                                                       const std::lock_guard lock(mutex_);
                                                       lines_[static_cast<std::size_t>(rank)] = line;
                                                     }));
  }
  RankWatch& of(std::size_t rank) { return *watches_[rank]; }
  void stop(std::size_t rank) { watches_[rank].reset(); }
  std::string wait_for_line(std::size_t rank) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!lines_[rank].empty()) return lines_[rank];
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  Post post;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::vector<std::unique_ptr<RankWatch>> watches_;
};

// Long enough that no machine, however busy, keeps a thread from running for so long.
constexpr std::int64_t long_limit_ns = 600'000'000'000;
constexpr std::int64_t short_limit_ns = 60'000'000;

TEST(RankWatch, RanksThatFinishLeaveNothingUnderWay) {
  for (const std::int32_t size : {1, 2, 5}) {
    Watches watches(size, long_limit_ns);
    std::vector<std::thread> ranks;
    for (std::int32_t rank = 0; rank < size; ++rank)
      ranks.emplace_back([&, rank] {
        RankWatch& own = watches.of(static_cast<std::size_t>(rank));
        for (int i = 0; i < 1000; ++i) own.expect_work(i % 2 == 0);
        own.finish();
      });
    for (std::thread& rank : ranks) rank.join();
    EXPECT_EQ(watches.post.left(), 0) << size;
    EXPECT_THAT(watches.lines(), Each(IsEmpty()));
  }
}

TEST(RankWatch, ARankThatFinishesWaitsForRankZero) {
  Watches watches(2, long_limit_ns);
  std::atomic<bool> has_finished = false;
  std::thread other([&] {
    watches.of(1).finish();
    EXPECT_TRUE(has_finished);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  has_finished = true;
  watches.of(0).finish();
  other.join();
}

TEST(RankWatch, ARankThatIsStoppedIsNamedByThoseThatHearIt) {
  for (const std::size_t stopped : {std::size_t{0}, std::size_t{1}}) {
    Watches watches(2, short_limit_ns);
    watches.stop(stopped);
    EXPECT_THAT(watches.wait_for_line(1 - stopped),
                HasSubstr("rank " + std::to_string(stopped) + ": found no sign of life"));
  }
}

TEST(RankWatch, MessagesThatCanNotBeSentAreAnEndToo) {
  Watches watches(2, short_limit_ns);
  watches.post.is_cut = true;
  EXPECT_EQ(watches.wait_for_line(0), "the line is cut");
  EXPECT_EQ(watches.wait_for_line(1), "the line is cut");
}

TEST(RankWatch, ARankWhoseWordsAreLostIsNamedWhileOthersFinish) {
  Watches watches(2, short_limit_ns);
  watches.post.lose(1);
  watches.of(0).finish();
  EXPECT_THAT(watches.lines().front(), HasSubstr("rank 1: found no sign of life"));
}

}  // namespace
}  // namespace draftscope::engine::test
