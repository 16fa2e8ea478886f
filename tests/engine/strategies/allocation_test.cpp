// SPDX-License-Identifier: GPL-3.0-or-later
// A round allocates nothing once rounds have been as wide as they will be: every operator new of this program
// is counted.

#include <gtest/gtest.h>

#include <algorithm>

#include "allocation_count.h"
#include "decoded.h"
#include "small_model.h"

namespace draftscope::engine {
namespace {

/// Of each round, from the report before it to its own.
class CountAllocations final : public DecodeListener {
 public:
  CountAllocations() { by_round.reserve(1000); }
  void on_round(const RoundReport& report) override {
    const std::int64_t now = allocation_count();
    drafted += report.round.drafted;
    // One that drafts or accepts more than all before finds how much memory that takes.
    if (report.round.verify_rows <= widest_ && report.round.accepted <= longest_)
      by_round.push_back(now - last_);
    widest_ = std::max(widest_, report.round.verify_rows);
    longest_ = std::max(longest_, report.round.accepted);
    last_ = now;
  }
  std::vector<std::int64_t> by_round;
  std::int64_t drafted = 0;

 private:
  std::int64_t last_ = allocation_count();
  std::int32_t widest_ = 0;
  std::int32_t longest_ = 0;
};

struct Case {
  const char* name;
  const char* specification;
};

class RoundAllocations : public testing::TestWithParam<Case> {};

TEST_P(RoundAllocations, AreNoneInTheSteadyState) {
  const Checkpoint checkpoint = small_model({.vocab = 30, .redundancy = 0.6, .seed = 3});
  const auto backend = cpu_backend(checkpoint, 1, 400);
  const std::vector<std::int32_t> prompt{3, 1, 4, 1, 5, 9, 2, 6};
  auto strategy = make_strategy(GetParam().specification, checkpoint.shape);
  ASSERT_TRUE(strategy) << strategy.error().message;
  // Its first request shows a strategy and a backend how wide a round can be.
  for (const bool steady : {false, true}) {
    SeededChooser chooser(1, 1);
    CountAllocations counts;
    const auto done =
        decode(*backend, *strategy->strategy, {.prompt = prompt, .max_new_tokens = 300}, chooser, counts);
    ASSERT_TRUE(done) << done.error().message;
    if (!steady) continue;
    ASSERT_GT(counts.by_round.size(), 50U);
    EXPECT_GT(counts.drafted, 60);
    // The first few find the size of the request's other buffers.
    for (std::size_t i = counts.by_round.size() / 4; i < counts.by_round.size(); ++i)
      EXPECT_EQ(counts.by_round[i], 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, RoundAllocations,
    testing::Values(Case{"layerskip", "layerskip:exit=2"},
                    Case{"above_exit", "layerskip:exit=2,verify=above-exit"},
                    Case{"fs", "fs:exit=1,longest=8"}, Case{"dv", "dv:exit=2,gamma=9"},
                    Case{"clasp", "clasp:skip=3,interval=500"}, Case{"del", "del:most=9"},
                    Case{"published_del", "del:mode=published,most=9"},
                    Case{"tree", "mix:mask=exit,exit=2,shape=tree,gamma=4,stop=threshold"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace draftscope::engine
