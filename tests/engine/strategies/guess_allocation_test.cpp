// SPDX-License-Identifier: GPL-3.0-or-later
// Guessing allocates nothing once a text is under way. This program counts every call of operator new.

#include <gtest/gtest.h>

#include "allocation_count.h"
#include "followed.h"

namespace draftscope::engine {
namespace {

/// Counts the allocations of a strategy in rounds from `from` on.
class Counting final : public Strategy {
 public:
  Counting(Strategy& strategy, std::int32_t from) : strategy_(strategy), from_(from) {}
  void begin_request(const RequestView& request) override { strategy_.begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    counts_ = round.index >= from_;
    const std::int64_t before = allocation_count();
    const RoundPlan plan = strategy_.plan(round);
    if (counts_) allocated += allocation_count() - before;
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    const std::int64_t before = allocation_count();
    strategy_.observe(outcome, log);
    if (counts_) allocated += allocation_count() - before;
    rounds += counts_ ? 1 : 0;
  }

  std::int64_t allocated = 0;
  std::int64_t rounds = 0;

 private:
  Strategy& strategy_;
  std::int32_t from_;
  bool counts_ = false;
};

TEST(Guessing, AllocatesNothingOnceUnderWay) {
  const ToyBackend::Options options{.vocab = 5, .n_layers = 2, .cache_rows = 600, .max_rows = 64};
  Random random(40);
  const Tokens prompt = random_text(random, 100, options.vocab);
  for (const char* specification :
       {"prompt-lookup", "prompt-lookup:match=latest,reading=transformers", "prompt-lookup:match=longest",
        "suffix-decoding", "suffix-decoding:shape=tree,alpha=3", "token-recycling", "jacobi:block=7",
        "jacobi:block=7,rule=published", "lookahead", "lookahead:pool-from-prompt=yes"}) {
    ToyBackend backend(options);
    const auto strategy = expect_strategy(specification, backend.shape());
    Counting counting(*strategy, 30);
    expect_decoded(backend, counting, {.prompt = prompt, .max_new_tokens = 400});
    EXPECT_GT(counting.rounds, 50) << specification;
    EXPECT_EQ(counting.allocated, 0) << specification;
  }
}

}  // namespace
}  // namespace draftscope::engine
