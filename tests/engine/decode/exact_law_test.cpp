// SPDX-License-Identifier: GPL-3.0-or-later
// With a temperature the law of the output equals the target's: not by sampling, but by walking every chance
// that decode() can meet and adding up the probabilities.

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "toy_backend.h"

namespace draftscope::engine {
namespace {

constexpr std::size_t law_length = 3;
using Law = std::map<std::vector<std::int32_t>, double>;

/// Replays a path of choices and takes the first untried branch after it.
class EveryChance final : public Chooser {
 public:
  std::size_t choose(Draw /*draw*/, std::span<const double> weights) override {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    if (depth_ == path_.size())
      path_.push_back({next_possible(weights, 0), {weights.begin(), weights.end()}});
    Branch& branch = path_[depth_++];
    probability_ *= branch.weights[branch.index] / sum;
    return branch.index;
  }

  double probability() const { return probability_; }

  /// Moves to the next path; false when all were walked.
  bool advance() {
    path_.resize(depth_);
    while (!path_.empty()) {
      Branch& last = path_.back();
      last.index = next_possible(last.weights, last.index + 1);
      if (last.index < last.weights.size()) break;
      path_.pop_back();
    }
    depth_ = 0;
    probability_ = 1.0;
    return !path_.empty();
  }

 private:
  struct Branch {
    std::size_t index;
    std::vector<double> weights;
  };
  static std::size_t next_possible(std::span<const double> weights, std::size_t from) {
    while (from < weights.size() && weights[from] <= 0.0) ++from;
    return from;
  }
  std::vector<Branch> path_;
  std::size_t depth_ = 0;
  double probability_ = 1.0;
};

/// Ends a request once enough tokens are known, so that drafts are never cut short by the token budget.
class StopWhenKnown final : public DecodeListener {
 public:
  std::atomic<bool> known{false};
  void on_first_token(std::int32_t /*token*/) override { ++tokens_; }
  void on_round(const RoundReport& report) override {
    tokens_ += report.emitted.size();
    if (tokens_ >= law_length) known = true;
  }

 private:
  std::size_t tokens_ = 0;
};

Law law_of(const ToyBackend::Options& options, const std::string& specification,
           const SamplingOptions& sampling, std::span<const std::int32_t> eos) {
  Law law;
  EveryChance chooser;
  const std::vector<std::int32_t> prompt{0, 1, 1};
  double total = 0.0;
  do {
    ToyBackend backend(options);
    auto strategy = make_strategy(specification, backend.shape());
    StopWhenKnown listener;
    const DecodeRequest request{.prompt = prompt,
                                .max_new_tokens = 20,
                                .sampling = sampling,
                                .eos_tokens = eos,
                                .cancelled = &listener.known};
    auto result = decode(backend, *strategy->strategy, request, chooser, listener);
    EXPECT_TRUE(result) << result.error().message;
    std::vector<std::int32_t> start = result->tokens;
    start.resize(std::min(start.size(), law_length));
    law[start] += chooser.probability();
    total += chooser.probability();
  } while (chooser.advance());
  EXPECT_NEAR(total, 1.0, 1e-9);
  return law;
}

double total_variation(const Law& a, const Law& b) {
  double sum = 0.0;
  for (const auto& [text, probability] : a) {
    const auto other = b.find(text);
    sum += std::abs(probability - (other == b.end() ? 0.0 : other->second));
  }
  for (const auto& [text, probability] : b)
    if (!a.contains(text)) sum += probability;
  return sum / 2.0;
}

TEST(SampledDecoding, HasExactlyTheTargetsLawOverTheFirstThreeTokens) {
  const SamplingOptions samplings[] = {{.temperature = 1.0},
                                       {.temperature = 0.6, .top_k = 2},
                                       {.temperature = 1.7, .top_p = 0.8},
                                       {.temperature = 0.8, .top_k = 3, .top_p = 0.9}};
  const std::vector<std::int32_t> no_eos;
  const std::vector<std::int32_t> eos{2};
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 3, .seed = seed, .agreement = 0.3};
    for (const SamplingOptions& sampling : samplings) {
      for (const auto& ends : {no_eos, eos}) {
        const Law target = law_of(options, "vanilla", sampling, ends);
        ASSERT_GT(target.size(), 1U);
        for (const char* specification :
             {"layerskip:exit=1,gamma=1", "layerskip:exit=2,gamma=2", "layerskip:exit=1,gamma=3",
              "layerskip:exit=1,gamma=2,verify=above-exit"})
          EXPECT_LT(total_variation(law_of(options, specification, sampling, ends), target), 1e-9)
              << specification;
      }
    }
  }
}

// The measure must be able to fail: a different seed is a different model, and its law is far away.
TEST(SampledDecoding, TheLawTellsModelsApart) {
  const std::vector<std::int32_t> no_eos;
  const Law one = law_of({.vocab = 3, .n_layers = 3, .seed = 1}, "vanilla", {.temperature = 1.0}, no_eos);
  const Law two = law_of({.vocab = 3, .n_layers = 3, .seed = 2}, "vanilla", {.temperature = 1.0}, no_eos);
  EXPECT_GT(total_variation(one, two), 0.05);
}

}  // namespace
}  // namespace draftscope::engine
