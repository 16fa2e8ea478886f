// SPDX-License-Identifier: GPL-3.0-or-later
// Tests strategies that guess: what they learn, what they hear of a round, and the law of sampled text.

#include <gtest/gtest.h>

#include "../backend/counted_drafts.h"
#include "exact_law.h"
#include "followed.h"

namespace draftscope::engine {
namespace {

/// Numbers of draft tokens that two equal requests accepted, one after the other.
std::pair<std::int64_t, std::int64_t> accepted_twice(const std::string& specification, const Tokens& prompt) {
  ToyBackend backend({.vocab = 200, .n_layers = 2, .cache_rows = 100, .max_rows = 64});
  const auto strategy = expect_strategy(specification, backend.shape());
  test::CountedDrafts first;
  test::CountedDrafts second;
  for (test::CountedDrafts* const counts : {&first, &second})
    expect_decoded(backend, *strategy, {.prompt = prompt, .max_new_tokens = 40}, *counts);
  return {first.accepted, second.accepted};
}

// A text with a large vocabulary seldom repeats itself, but the same request repeats an earlier one.
TEST(Guessing, LearnsFromEarlierRequestsIfToldTo) {
  const Tokens prompt{5, 6, 7, 8};
  for (const std::string name : {"suffix-decoding", "token-recycling"}) {
    const auto [first, repeated] = accepted_twice(name, prompt);
    EXPECT_LT(first, 10) << name;
    EXPECT_GT(repeated, first + 3) << name;
    const auto [anew, again] = accepted_twice(name + ":across=no", prompt);
    EXPECT_EQ(again, anew) << name;
  }
}

/// Requests the best tokens of every row and checks them.
class WantsTop final : public Strategy {
 public:
  explicit WantsTop(std::vector<Proposal> proposals, std::int32_t top)
      : proposals_(std::move(proposals)), top_(top) {}
  RoundPlan plan(const RoundView& /*round*/) override { return {.proposals = proposals_, .top = top_}; }
  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    const std::size_t k = static_cast<std::size_t>(top_);
    ASSERT_EQ(outcome.top.size(), (1 + outcome.nodes.size()) * k);
    for (std::size_t row = 0; row < outcome.verified.size(); ++row) {
      EXPECT_EQ(outcome.verified[row].token, outcome.top[row * k].token);
      for (std::size_t i = 1; i < k; ++i) {
        EXPECT_LE(outcome.top[row * k + i].logit, outcome.top[row * k + i - 1].logit);
        EXPECT_NE(outcome.top[row * k + i].token, outcome.top[row * k + i - 1].token);
      }
      ++rows;
    }
  }
  int rows = 0;

 private:
  std::vector<Proposal> proposals_;
  std::int32_t top_;
};

TEST(Guessing, HearsOfAsManyBestTokensAsItAskedFor) {
  for (const double penalty : {1.0, 1.4})
    for (const std::int32_t top : {1, 3, 6}) {
      ToyBackend backend({.vocab = 6, .max_rows = 3});
      WantsTop strategy({{0, -1}, {1, -1}, {2, 0}, {3, 2}}, top);
      const Tokens prompt{1, 2};
      expect_decoded(backend, strategy,
                     {.prompt = prompt, .max_new_tokens = 20, .sampling = {.repetition_penalty = penalty}});
      EXPECT_GT(strategy.rows, 10);
    }
  ToyBackend backend({.vocab = 6});
  WantsTop strategy({{0, -1}}, 7);
  SeededChooser chooser(1, 1);
  DecodeListener nobody;
  const auto refused =
      decode(backend, strategy, {.prompt = Tokens{1}, .max_new_tokens = 20}, chooser, nobody);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "round plan: found 7 best tokens a row, expected 0 to 6");
}

/// Counts the guesses that a strategy's rounds verified.
class CountGuesses final : public Strategy {
 public:
  CountGuesses(std::unique_ptr<Strategy> strategy, std::size_t& guesses)
      : strategy_(std::move(strategy)), guesses_(guesses) {}
  void begin_request(const RequestView& request) override { strategy_->begin_request(request); }
  RoundPlan plan(const RoundView& round) override { return strategy_->plan(round); }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    guesses_ += outcome.nodes.size();
    strategy_->observe(outcome, log);
  }

 private:
  std::unique_ptr<Strategy> strategy_;
  std::size_t& guesses_;
};

// Lookahead's own n-grams come into use once the window is full and has completed some. A settled block of
// the published Jacobi rule comes after a few rounds. Three tokens are too few to see their law.
TEST(Guessing, SampledTextHasTheTargetsLawBeyondTheFirstRounds) {
  for (const std::uint32_t seed : {3U, 4U, 5U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 2, .seed = seed};
    const SamplingOptions sampling{.temperature = 1.0, .top_k = 2};
    constexpr std::size_t length = 7;
    const Law target = law_of(options, "vanilla", sampling, {}, length);
    ASSERT_EQ(target.size(), 128U);
    for (const char* specification :
         {"lookahead:window=3,ngram=3,guesses=3", "lookahead:window=2,ngram=4,guesses=2",
          "jacobi:block=3,rule=published", "token-recycling:successors=2,nodes=2,depth=2"}) {
      std::size_t guesses = 0;
      const Law law = law_of(
          options,
          [&](const speculation::ModelShape& shape) {
            return std::make_unique<CountGuesses>(expect_strategy(specification, shape), guesses);
          },
          sampling, {}, length);
      EXPECT_LT(total_variation(law, target), 1e-9) << specification;
      EXPECT_GT(guesses, 20U) << specification;
    }
  }
}

}  // namespace
}  // namespace draftscope::engine
