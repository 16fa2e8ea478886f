// SPDX-License-Identifier: GPL-3.0-or-later
// Tests strategies that guess: greedy text is vanilla's, and sampled text has the target's law.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exact_law.h"
#include "followed.h"

namespace draftscope::engine {
namespace {

std::string any_prompt_lookup(Random& random) {
  const char* matches[] = {"leftmost", "latest", "longest"};
  const std::int32_t ngram = pick(random, 1, 5);
  return fmt::format("prompt-lookup:ngram={},smallest-ngram={},length={},match={},reading={}", ngram,
                     pick(random, 1, ngram), pick(random, 1, 20), matches[pick(random, 0, 2)],
                     pick(random, 0, 1) == 0 ? "published" : "transformers");
}

std::string any_jacobi(Random& random) {
  return fmt::format("jacobi:block={},rule={}", pick(random, 1, 20),
                     pick(random, 0, 1) == 0 ? "prefix" : "published");
}

std::string any_lookahead(Random& random) {
  return fmt::format("lookahead:window={},ngram={},guesses={},pool-from-prompt={}", pick(random, 1, 8),
                     pick(random, 3, 6), pick(random, 1, 9), pick(random, 0, 1) == 0 ? "yes" : "no");
}

std::string any_suffix_decoding(Random& random) {
  return fmt::format("suffix-decoding:alpha={},length={},min-probability={},depth={},shape={},across={}",
                     pick(random, 1, 4), pick(random, 1, 20), static_cast<double>(pick(random, 0, 5)) / 10.0,
                     pick(random, 1, 12), pick(random, 0, 1) == 0 ? "chain" : "tree",
                     pick(random, 0, 1) == 0 ? "requests" : "no");
}

std::string any_token_recycling(Random& random) {
  return fmt::format("token-recycling:successors={},nodes={},depth={}", pick(random, 1, 9),
                     pick(random, 1, 50), pick(random, 1, 6));
}

TEST(Guessing, GreedyTextEqualsVanilla) {
  Random random(39);
  constexpr std::size_t strategies = 5;
  std::size_t accepted[strategies] = {};
  std::size_t rejected[strategies] = {};
  for (int trial = 0; trial < 600; ++trial) {
    const ToyBackend::Options options{.vocab = pick(random, 2, 9),
                                      .n_layers = pick(random, 1, 4),
                                      .cache_rows = pick(random, 12, 150),
                                      .max_rows = pick(random, 2, 64),
                                      .seed = static_cast<std::uint32_t>(random())};
    const Tokens prompt = random_text(random, pick(random, 1, 12), options.vocab);
    const Tokens eos = random_text(random, pick(random, 0, 2), 40);
    Tokens known;
    for (const std::int32_t token : eos)
      if (token < options.vocab) known.push_back(token);
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = pick(random, 1, 100), .eos_tokens = known};
    const Tokens vanilla = follow(options, "vanilla", request, [](const SeenRound&) {});
    const std::string specifications[] = {any_prompt_lookup(random), any_jacobi(random),
                                          any_lookahead(random), any_suffix_decoding(random),
                                          any_token_recycling(random)};
    for (std::size_t i = 0; i < strategies; ++i) {
      const Tokens text = follow(options, specifications[i], request, [&](const SeenRound& round) {
        accepted[i] += round.outcome.accepted_nodes.size();
        rejected[i] += round.outcome.nodes.size() - round.outcome.accepted_nodes.size();
      });
      ASSERT_EQ(text, vanilla) << "trial " << trial << ' ' << specifications[i];
    }
  }
  for (std::size_t i = 0; i < strategies; ++i) {
    EXPECT_GT(accepted[i], 1000U) << i;
    EXPECT_GT(rejected[i], 1000U) << i;
  }
}

TEST(Guessing, SampledTextHasExactlyTheTargetsLaw) {
  const SamplingOptions samplings[] = {
      {.temperature = 1.0}, {.temperature = 0.6, .top_k = 2}, {.temperature = 1.7, .top_p = 0.8}};
  for (const std::uint32_t seed : {1U, 2U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 2, .seed = seed};
    for (const SamplingOptions& sampling : samplings)
      for (const Tokens& eos : {Tokens(), Tokens{2}}) {
        const Law target = law_of(options, "vanilla", sampling, eos);
        ASSERT_GT(target.size(), 3U);
        for (const char* specification :
             {"prompt-lookup:length=2", "prompt-lookup:length=3,reading=transformers",
              "prompt-lookup:length=2,match=latest,reading=transformers",
              "prompt-lookup:length=2,match=longest", "jacobi:block=1", "jacobi:block=3",
              "jacobi:block=2,rule=published", "jacobi:block=3,rule=published",
              "lookahead:window=2,ngram=3,guesses=2", "lookahead:window=2,ngram=3,pool-from-prompt=yes",
              "suffix-decoding:length=3", "suffix-decoding:alpha=2,length=3,shape=tree",
              "token-recycling:successors=2,nodes=3,depth=2"})
          EXPECT_LT(total_variation(law_of(options, specification, sampling, eos), target), 1e-9)
              << specification;
      }
  }
}

/// Numbers of draft tokens that successive requests accepted.
std::vector<std::int32_t> accepted_by_request(const std::string& specification,
                                              const std::vector<Tokens>& prompts) {
  class CountAccepted final : public DecodeListener {
   public:
    void on_round(const RoundReport& report) override { accepted += report.round.accepted; }
    std::int32_t accepted = 0;
  };
  ToyBackend backend({.vocab = 200, .n_layers = 2, .cache_rows = 100, .max_rows = 64});
  const auto made = make_strategy(specification, backend.shape());
  EXPECT_TRUE(made) << made.error().message;
  std::vector<std::int32_t> accepted;
  for (const Tokens& prompt : prompts) {
    SeededChooser chooser(1, 1);
    CountAccepted listener;
    const auto result =
        decode(backend, *made->strategy, {.prompt = prompt, .max_new_tokens = 40}, chooser, listener);
    EXPECT_TRUE(result) << result.error().message;
    accepted.push_back(listener.accepted);
  }
  return accepted;
}

// A text with a large vocabulary seldom repeats itself, but the same request repeats an earlier one.
TEST(Guessing, LearnsFromEarlierRequestsIfToldTo) {
  const Tokens prompt{5, 6, 7, 8};
  for (const std::string name : {"suffix-decoding", "token-recycling"}) {
    const auto kept = accepted_by_request(name, {prompt, prompt});
    EXPECT_LT(kept[0], 10) << name;
    EXPECT_GT(kept[1], kept[0] + 3) << name;
    const auto anew = accepted_by_request(name + ":across=no", {prompt, prompt});
    EXPECT_EQ(anew[1], anew[0]) << name;
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
      SeededChooser chooser(1, 1);
      DecodeListener nobody;
      const Tokens prompt{1, 2};
      const auto result =
          decode(backend, strategy,
                 {.prompt = prompt, .max_new_tokens = 20, .sampling = {.repetition_penalty = penalty}},
                 chooser, nobody);
      ASSERT_TRUE(result) << result.error().message;
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
            return std::make_unique<CountGuesses>(std::move(make_strategy(specification, shape)->strategy),
                                                  guesses);
          },
          sampling, {}, length);
      EXPECT_LT(total_variation(law, target), 1e-9) << specification;
      EXPECT_GT(guesses, 20U) << specification;
    }
  }
}

}  // namespace
}  // namespace draftscope::engine
