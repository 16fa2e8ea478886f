// SPDX-License-Identifier: GPL-3.0-or-later
// A round allocates nothing once rounds have reached their full width. This program counts every call of
// operator new.

#include <gtest/gtest.h>

#include <algorithm>

#include "allocation_count.h"
#include "decoded.h"
#include "small_model.h"

namespace draftscope::engine {
namespace {

const SamplingOptions warped{.temperature = 0.9, .top_k = 20, .top_p = 0.9};
const SamplingOptions coupled{.temperature = 0.9, .coupled = true};

/// Counts the allocations from one round's report to the next, by all threads and by the decoding thread.
class CountAllocations final : public DecodeListener {
 public:
  CountAllocations() {
    by_round.reserve(1000);
    by_round_here.reserve(1000);
  }
  void on_round(const RoundReport& report) override {
    const std::int64_t now = allocation_count();
    const std::int64_t now_here = allocation_count_here();
    drafted += report.round.drafted;
    // A round that drafts or accepts more than all earlier ones may allocate what that needs.
    if (report.round.verify_rows <= widest_ && report.round.accepted <= longest_) {
      by_round.push_back(now - last_);
      by_round_here.push_back(now_here - last_here_);
    }
    widest_ = std::max(widest_, report.round.verify_rows);
    longest_ = std::max(longest_, report.round.accepted);
    last_ = now;
    last_here_ = now_here;
  }
  std::vector<std::int64_t> by_round;
  std::vector<std::int64_t> by_round_here;
  std::int64_t drafted = 0;

 private:
  std::int64_t last_ = allocation_count();
  std::int64_t last_here_ = allocation_count_here();
  std::int32_t widest_ = 0;
  std::int32_t longest_ = 0;
};

struct Case {
  const char* name;
  const char* specification;
  SamplingOptions sampling = {};
};

class RoundAllocations : public testing::TestWithParam<Case> {};

/// Opens a second model for strategies that need one.
StrategyResources another_model(const Checkpoint& other) {
  return {.open_draft_model = [&other](const std::string&) -> Result<std::shared_ptr<Backend>> {
            return std::shared_ptr<Backend>(cpu_backend(other, 1, 400));
          },
          .checkpoint_hash = {}};
}

/// Allocations in the rounds of a second request. The first request shows a strategy and a backend how wide a
/// round can be.
CountAllocations counted_allocations(const Case& one) {
  const Checkpoint checkpoint = small_model({.vocab = 30, .redundancy = 0.6, .seed = 3});
  const Checkpoint other = small_model({.vocab = 30, .redundancy = 0.6, .seed = 4});
  const auto backend = cpu_backend(checkpoint, 1, 400);
  const std::vector<std::int32_t> prompt{3, 1, 4, 1, 5, 9, 2, 6};
  auto strategy = make_strategy(one.specification, checkpoint.shape, another_model(other));
  EXPECT_TRUE(strategy) << strategy.error().message;
  if (!strategy) return {};
  CountAllocations counts;
  for (int request = 0; request < 2; ++request) {
    counts = {};
    expect_decoded(*backend, *strategy->strategy,
                   {.prompt = prompt, .max_new_tokens = 300, .sampling = one.sampling}, counts);
  }
  EXPECT_EQ(counts.drafted > 0, !strategy->is_vanilla);
  return counts;
}

TEST_P(RoundAllocations, AreNoneInTheSteadyState) {
  const std::vector<std::int64_t> by_round = counted_allocations(GetParam()).by_round;
  ASSERT_GT(by_round.size(), 50U);
  // The first rounds may still grow the request's other buffers.
  for (std::size_t i = by_round.size() / 4; i < by_round.size(); ++i) EXPECT_EQ(by_round[i], 0) << i;
}

// Another thread computes the candidate beside any rounds. The decoding thread only copies the scores and
// starts the computation.
TEST(SearchAllocations, AreThoseThatBeginACandidateOfTheGaussianProcessAlone) {
  const std::vector<std::int64_t> by_round =
      counted_allocations(
          {"swift", "swift:gp-interval=10,gamma=2,threshold=0,max-score=1,max-tolerance=2000,window=8"})
          .by_round_here;
  ASSERT_GT(by_round.size(), 50U);
  std::size_t allocating = 0;
  for (std::size_t i = by_round.size() / 4; i < by_round.size(); ++i) {
    allocating += by_round[i] > 0 ? 1 : 0;
    EXPECT_LE(by_round[i], 20) << i;
  }
  EXPECT_GT(allocating, 0U);
  EXPECT_LE(allocating, by_round.size() / 10 + 1);
}

INSTANTIATE_TEST_SUITE_P(
    Of, RoundAllocations,
    testing::Values(
        Case{"vanilla", "vanilla"}, Case{"layerskip", "layerskip:exit=2"},
        Case{"above_exit", "layerskip:exit=2,verify=above-exit"}, Case{"fs", "fs:exit=1,longest=8"},
        Case{"dv", "dv:exit=2,gamma=9"}, Case{"draft_verify", "draft-verify:skip-attention=1+3,skip-mlp=2+3"},
        Case{"swift", "swift:gp-interval=0,gamma=3,max-score=1,max-tolerance=2000,window=8"},
        Case{"clasp", "clasp:skip=3,interval=500"}, Case{"searching_clasp", "clasp:interval=1"},
        Case{"del", "del:most=9"}, Case{"published_del", "del:mode=published,most=9"},
        Case{"two_model", "two-model:model=other,schedule=transient,gamma=3"},
        Case{"prompt_lookup", "prompt-lookup"}, Case{"longest_prompt_lookup", "prompt-lookup:match=longest"},
        Case{"suffix_decoding", "suffix-decoding:length=2"}, Case{"token_recycling", "token-recycling"},
        Case{"jacobi", "jacobi:block=7"}, Case{"published_jacobi", "jacobi:block=7,rule=published"},
        Case{"lookahead", "lookahead"},
        Case{"tree", "mix:mask=exit,exit=2,shape=tree,gamma=4,stop=threshold"},
        Case{"clasp_del_tree", "mix:mask=clasp,interval=3,length=fs,longest=6,stop=del,shape=tree"},
        Case{"sampled_layerskip", "layerskip:exit=2", warped},
        Case{"sampled_block", "layerskip:exit=2,acceptance=block", warped},
        Case{"sampled_del", "del:most=9", warped},
        Case{"sampled_tree", "mix:mask=exit,exit=2,shape=tree,gamma=4,stop=threshold", warped},
        Case{"sampled_jacobi", "jacobi:block=7", warped},
        Case{"coupled_tree", "mix:mask=exit,exit=2,shape=tree,gamma=4,stop=threshold", coupled}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace draftscope::engine
