// SPDX-License-Identifier: GPL-3.0-or-later
// Tests token trees, guesses and extra rows: whatever is drafted, the text is the target's.

#include <gtest/gtest.h>

#include <random>

#include "../strategies/followed.h"
#include "exact_law.h"

namespace draftscope::engine {
namespace {

/// Plans something else in every round: a mask with or without siblings, or a tree of guesses, some with
/// extra rows.
class AnyPlan final : public Strategy {
 public:
  AnyPlan(const speculation::ModelShape& shape, std::uint32_t seed) : shape_(shape), random_(seed) {}

  RoundPlan plan(const RoundView& round) override {
    EXPECT_EQ(static_cast<std::int32_t>(round.text.size()), round.root_position + 1);
    RoundPlan plan;
    if (pick(random_, 0, 2) == 0) {
      guess(round);
      plan.proposals = proposals_;
    } else {
      mask_ = speculation::SublayerMask(shape_.n_layers);
      for (std::int32_t layer = 0; layer < shape_.n_layers; ++layer)
        if (pick(random_, 0, 2) == 0) mask_.skip_attention(layer).skip_mlp(layer);
      plan.mask = &mask_;
      plan.draft_length = pick(random_, 0, 6);
      plan.threshold = pick(random_, 0, 1) == 0 ? -1.0 : 0.3;
      branches_ = {{0.6, pick(random_, 1, 2)}, {0.3, pick(random_, 1, 3)}, {0.0, pick(random_, 1, 4)}};
      if (pick(random_, 0, 3) != 0) plan.branches = branches_;
    }
    if (pick(random_, 0, 2) == 0) {
      ride();
      plan.extra_rows = extra_rows_;
    }
    return plan;
  }

  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    EXPECT_EQ(outcome.verified.size(), outcome.nodes.size() + 1);
    EXPECT_TRUE(outcome.extra_rows.empty() || outcome.extra_rows.size() == extra_rows_.size());
    siblings += static_cast<std::int32_t>(outcome.nodes.size() > outcome.steps.size());
    for (std::size_t depth = 0; depth < outcome.accepted_nodes.size(); ++depth)
      beside += static_cast<std::int32_t>(outcome.accepted_nodes[depth] != static_cast<std::int32_t>(depth));
    extra_rows_.clear();
  }

  std::int32_t siblings = 0;  ///< number of rounds with more nodes than steps
  std::int32_t beside = 0;    ///< number of accepted nodes that had to be moved

 private:
  void guess(const RoundView& round) {
    proposals_.clear();
    for (std::int32_t n = pick(random_, 1, 6); n > 0; --n)
      proposals_.push_back({pick(random_, 0, 3) == 0
                                ? round.text[static_cast<std::size_t>(pick(random_, 0, round.root_position))]
                                : pick(random_, 0, shape_.vocab - 1),
                            pick(random_, -1, static_cast<std::int32_t>(proposals_.size()) - 1)});
  }
  void ride() {
    extra_rows_.clear();
    seen_.assign(1, 0);
    extra_rows_.push_back({pick(random_, 0, shape_.vocab - 1), 1, {}});
    extra_rows_.push_back({pick(random_, 0, shape_.vocab - 1), 2, seen_});
  }

  const speculation::ModelShape& shape_;
  Random random_;
  speculation::SublayerMask mask_;
  std::vector<speculation::BranchWidth> branches_;
  std::vector<Proposal> proposals_;
  std::vector<ExtraRow> extra_rows_;
  std::vector<std::int32_t> seen_;
};

/// The text that a strategy decodes for a request, on a fresh toy backend.
std::vector<std::int32_t> text_of(const ToyBackend::Options& options, Strategy& strategy,
                                  const DecodeRequest& request, std::uint64_t seed) {
  ToyBackend backend(options);
  return expect_decoded(backend, strategy, request, seed).tokens;
}

// With shared noise the text is a function of the seed, whatever drafts. It is equal token by token, as
// greedy text is.
TEST(Trees, GreedyAndCoupledTextEqualsVanilla) {
  Random random(11);
  std::int32_t siblings = 0;
  std::int32_t greedy_beside = 0;
  std::int32_t coupled_beside = 0;
  for (int trial = 0; trial < 450; ++trial) {
    const ToyBackend::Options options{.vocab = pick(random, 2, 12),
                                      .n_layers = pick(random, 1, 6),
                                      .cache_rows = pick(random, 12, 90),
                                      .max_rows = pick(random, 2, 16),
                                      .seed = static_cast<std::uint32_t>(random()),
                                      .agreement = 0.6};
    const Tokens prompt = random_text(random, pick(random, 1, 10), options.vocab);
    const std::vector<std::int32_t> eos{pick(random, 0, 40)};
    DecodeRequest request{.prompt = prompt, .max_new_tokens = pick(random, 1, 60), .eos_tokens = eos};
    if (trial % 3 == 0) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
    const ToyBackend shaped(options);
    AnyPlan any(shaped.shape(), static_cast<std::uint32_t>(random()));
    const auto vanilla = expect_strategy("vanilla", shaped.shape());
    const std::uint64_t seed = random();
    ASSERT_EQ(text_of(options, any, request, seed), text_of(options, *vanilla, request, seed)) << trial;
    siblings += any.siblings;
    (request.sampling.coupled ? coupled_beside : greedy_beside) += any.beside;
  }
  EXPECT_GT(siblings, 500);
  EXPECT_GT(greedy_beside, 100);
  EXPECT_GT(coupled_beside, 20);
}

/// Plans a tree of sampled tokens whose widths depend on the confidence, or a tree of guesses.
class FixedTree final : public Strategy {
 public:
  FixedTree(const speculation::ModelShape& shape, std::vector<speculation::BranchWidth> branches,
            std::vector<Proposal> proposals)
      : mask_(speculation::SublayerMask::early_exit(shape.n_layers, 1)),
        branches_(std::move(branches)),
        proposals_(std::move(proposals)) {}
  RoundPlan plan(const RoundView& /*round*/) override {
    if (!proposals_.empty()) return {.proposals = proposals_};
    return {.mask = &mask_, .draft_length = 2, .threshold = 0.45, .branches = branches_};
  }

 private:
  speculation::SublayerMask mask_;
  std::vector<speculation::BranchWidth> branches_;
  std::vector<Proposal> proposals_;
};

TEST(Trees, SampledTextHasExactlyTheTargetsLaw) {
  const SamplingOptions samplings[] = {
      {.temperature = 1.0}, {.temperature = 0.6, .top_k = 2}, {.temperature = 1.7, .top_p = 0.8}};
  const std::vector<std::int32_t> eos{2};
  struct Case {
    const char* name;
    std::vector<speculation::BranchWidth> branches;
    std::vector<Proposal> proposals;
  };
  const Case cases[] = {{"siblings", {{0.0, 2}}, {}},
                        {"all tokens", {{0.0, 3}}, {}},
                        {"width by confidence", {{0.5, 1}, {0.4, 2}, {0.0, 3}}, {}},
                        {"one guess", {}, {{1, -1}}},
                        {"a chain of guesses", {}, {{1, -1}, {0, 0}, {1, 1}}},
                        {"a tree of guesses", {}, {{1, -1}, {0, -1}, {0, 0}, {1, 0}, {2, 1}}},
                        {"a guess twice", {}, {{1, -1}, {1, -1}, {0, 1}}}};
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const ToyBackend::Options options{.vocab = 3, .n_layers = 3, .seed = seed, .agreement = 0.3};
    for (const SamplingOptions& sampling : samplings) {
      const Law target = law_of(options, "vanilla", sampling, eos);
      for (const Case& one : cases) {
        const Law law = law_of(
            options,
            [&](const speculation::ModelShape& shape) {
              return std::make_unique<FixedTree>(shape, one.branches, one.proposals);
            },
            sampling, eos);
        EXPECT_LT(total_variation(law, target), 1e-9) << one.name;
      }
    }
  }
}

TEST(CoupledSampling, ChoosesEachTokenWithItsProbability) {
  const Distribution distribution{{3, 5, 8, 9}, {0.4, 0.3, 0.2, 0.1}};
  std::map<std::int32_t, int> counts;
  constexpr int draws = 40000;
  for (int i = 0; i < draws; ++i)
    ++counts[coupled_token(distribution, {7, static_cast<std::uint64_t>(i)}, 3)];
  double chi_square = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double expected = draws * distribution.probabilities[i];
    const double difference = counts[distribution.tokens[i]] - expected;
    chi_square += difference * difference / expected;
  }
  EXPECT_LT(chi_square, 16.27);  // 99.9 % quantile for three degrees of freedom
}

TEST(CoupledSampling, NeedsNumbersThatDependOnTheirPurposeAlone) {
  ToyBackend backend({});
  const auto vanilla = make_strategy("vanilla", backend.shape());
  EveryChance chooser;
  DecodeListener nobody;
  const std::vector<std::int32_t> prompt{0};
  const auto result =
      decode(backend, *vanilla->strategy,
             {.prompt = prompt, .sampling = {.temperature = 1.0, .coupled = true}}, chooser, nobody);
  ASSERT_FALSE(result);
  EXPECT_EQ(
      result.error().message,
      "sampling: found a chooser without counter-based random numbers, expected one for coupled choices");
}

}  // namespace
}  // namespace draftscope::engine
