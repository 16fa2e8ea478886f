// SPDX-License-Identifier: GPL-3.0-or-later
// Chains that are accepted as blocks follow the target's law, and keep at least as many tokens as acceptance
// token by token.

#include <draftscope/simulator/prices/closed_forms.h>
#include <gtest/gtest.h>

#include <random>

#include "decode/acceptance.h"
#include "exact_law.h"

namespace draftscope::engine {
namespace {

using Tokens = std::vector<std::int32_t>;

/// Draft and target with a random distribution after every text.
class RandomModels {
 public:
  RandomModels(std::uint32_t seed, std::int32_t vocab, bool has_zeros)
      : seed_(seed), vocab_(vocab), has_zeros_(has_zeros) {}

  [[nodiscard]] Distribution target(const Tokens& text) const { return of(text, 1); }
  [[nodiscard]] Distribution draft(const Tokens& text) const { return of(text, 2); }

 private:
  [[nodiscard]] Distribution of(const Tokens& text, std::uint32_t model) const {
    std::uint32_t hash = seed_ * 31U + model;
    for (const std::int32_t token : text) hash = hash * 1000003U + static_cast<std::uint32_t>(token) + 7U;
    std::mt19937 random(hash);
    Distribution made;
    double sum = 0.0;
    for (std::int32_t token = 0; token < vocab_; ++token) {
      const double weight = static_cast<double>(1 + random() % 1000);
      if (has_zeros_ && token > 0 && random() % 3 == 0) continue;
      made.tokens.push_back(token);
      made.probabilities.push_back(weight);
      sum += weight;
    }
    for (double& probability : made.probabilities) probability /= sum;
    return made;
  }

  std::uint32_t seed_;
  std::int32_t vocab_;
  bool has_zeros_;
};

struct Judged {
  std::map<Tokens, double> law;  ///< law of the first length + 1 tokens
  double accepted = 0.0;         ///< mean number of accepted tokens
};

/// Adds the law of `text` followed by tokens of the target.
template <typename Models>
void add_continuations(const Models& models, const Tokens& text, std::size_t length, double probability,
                       std::map<Tokens, double>& law) {
  if (text.size() == length) {
    law[text] += probability;
    return;
  }
  const Distribution next = models.target(text);
  for (std::size_t i = 0; i < next.tokens.size(); ++i) {
    Tokens longer = text;
    longer.push_back(next.tokens[i]);
    add_continuations(models, longer, length, probability * next.probabilities[i], law);
  }
}

/// Walks every draft of `length` tokens, or fewer where it ends after `last`, and every random choice of the
/// judge.
template <typename Models>
Judged judge_all(const Models& models, std::int32_t length, bool as_block, std::int32_t last = -1) {
  Judged all;
  SampledJudge judge;
  Verdict verdict;
  const std::function<void(const Tokens&, double)> walk = [&](const Tokens& drafted, double drawn) {
    const bool ends = !drafted.empty() && drafted.back() == last;
    if (static_cast<std::int32_t>(drafted.size()) < length && !ends) {
      const Distribution next = models.draft(drafted);
      for (std::size_t i = 0; i < next.tokens.size(); ++i) {
        Tokens longer = drafted;
        longer.push_back(next.tokens[i]);
        walk(longer, drawn * next.probabilities[i]);
      }
      return;
    }
    std::vector<DraftNode> nodes;
    std::vector<Distribution> by_depth;
    for (std::size_t i = 0; i < drafted.size(); ++i) {
      const auto depth = static_cast<std::int32_t>(i);
      nodes.push_back({drafted[i], depth - 1, depth + 1});
      by_depth.push_back(models.draft(Tokens(drafted.begin(), drafted.begin() + depth)));
    }
    Distribution row_distribution;
    const TargetAt target_at = [&](std::int32_t row) -> const Distribution& {
      row_distribution = models.target(Tokens(drafted.begin(), drafted.begin() + row));
      return row_distribution;
    };
    EveryChance chooser;
    do {
      if (as_block)
        judge.judge_block({nodes, by_depth}, target_at, 10, chooser, verdict);
      else
        judge.judge({nodes, by_depth}, target_at, 10, chooser, verdict);
      const double probability = drawn * chooser.probability();
      Tokens text(drafted.begin(), drafted.begin() + static_cast<std::ptrdiff_t>(verdict.path.size()));
      text.push_back(verdict.bonus_token);
      add_continuations(models, text, static_cast<std::size_t>(length) + 1, probability, all.law);
      all.accepted += probability * static_cast<double>(verdict.path.size());
    } while (chooser.advance());
  };
  walk({}, 1.0);
  return all;
}

/// Averages a law over all drafts of `length` tokens.
template <typename Models>
double expected_by(const Models& models, std::int32_t length, double (*law)(std::span<const double> ratios)) {
  double mean = 0.0;
  const std::function<void(const Tokens&, double, const std::vector<double>&)> walk =
      [&](const Tokens& drafted, double drawn, const std::vector<double>& ratios) {
        if (static_cast<std::int32_t>(drafted.size()) == length) {
          mean += drawn * law(ratios);
          return;
        }
        const Distribution next = models.draft(drafted);
        for (std::size_t i = 0; i < next.tokens.size(); ++i) {
          Tokens longer = drafted;
          longer.push_back(next.tokens[i]);
          std::vector<double> more = ratios;
          more.push_back(models.target(drafted).probability(next.tokens[i]) / next.probabilities[i]);
          walk(longer, drawn * next.probabilities[i], more);
        }
      };
  walk({}, 1.0, {});
  return mean;
}

// It keeps no fewer tokens than acceptance token by token, and as many as the closed forms say.
TEST(BlockAcceptance, HasTheTargetsLawAndKeepsNoFewerTokens) {
  double gained = 0.0;
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const RandomModels models(seed, 2 + static_cast<std::int32_t>(seed % 2), seed % 3 == 0);
    const auto length = static_cast<std::int32_t>(1 + seed % 4);
    const std::int32_t last = seed % 5 == 0 ? 1 : -1;
    std::map<Tokens, double> target;
    add_continuations(models, {}, static_cast<std::size_t>(length) + 1, 1.0, target);
    const Judged by_token = judge_all(models, length, false, last);
    const Judged by_block = judge_all(models, length, true, last);
    EXPECT_LT(total_variation(by_token.law, target), 1e-9) << seed;
    EXPECT_LT(total_variation(by_block.law, target), 1e-9) << seed;
    EXPECT_GE(by_block.accepted, by_token.accepted - 1e-9) << seed;
    if (length == 1) {
      EXPECT_NEAR(by_block.accepted, by_token.accepted, 1e-9) << seed;
    }
    if (last < 0) {
      EXPECT_NEAR(expected_by(models, length, simulator::accepted_by_block), by_block.accepted, 1e-9) << seed;
      EXPECT_NEAR(expected_by(models, length, simulator::accepted_by_token), by_token.accepted, 1e-9) << seed;
    }
    gained += by_block.accepted - by_token.accepted;
  }
  EXPECT_GT(gained, 0.5);
}

/// Models with two tokens whose distributions ignore the text: the example of the paper (section 2).
struct Forgetful {
  [[nodiscard]] static Distribution target(const Tokens& /*text*/) {
    return {{0, 1}, {1.0 / 3.0, 2.0 / 3.0}};
  }
  [[nodiscard]] static Distribution draft(const Tokens& /*text*/) { return {{0, 1}, {2.0 / 3.0, 1.0 / 3.0}}; }
};

TEST(BlockAcceptance, KeepsAsManyTokensAsThePaperSays) {
  EXPECT_NEAR(judge_all(Forgetful(), 2, false).accepted, 10.0 / 9.0, 1e-12);
  EXPECT_NEAR(judge_all(Forgetful(), 2, true).accepted, 11.0 / 9.0, 1e-12);
}

TEST(BlockAcceptance, EndsAfterTheTokensThatLeadToARowWithoutADistribution) {
  const std::vector<DraftNode> nodes{{0, -1, 1}, {0, 0, 2}, {0, 1, 3}};
  const std::vector<Distribution> by_depth(3, {{0, 1}, {0.5, 0.5}});
  const Distribution right{{0}, {1.0}};
  const Distribution wrong{{1}, {1.0}};
  const Distribution nothing;
  SampledJudge judge;
  Verdict verdict;
  const auto judged = [&](std::vector<Distribution> rows) {
    SeededChooser chooser(1, 1);
    const TargetAt target_at = [&](std::int32_t row) -> const Distribution& {
      return rows[static_cast<std::size_t>(row)];
    };
    judge.judge_block({nodes, by_depth}, target_at, 5, chooser, verdict);
    return std::pair(verdict.path.size(), verdict.undefined_row);
  };
  EXPECT_EQ(judged({right, right, nothing, right}), std::pair(std::size_t{2}, 2));
  EXPECT_EQ(judged({nothing, right, right, right}), std::pair(std::size_t{0}, 0));
  EXPECT_EQ(judged({right, right, right, nothing}), std::pair(std::size_t{3}, 3));
  EXPECT_EQ(judged({right, wrong, nothing, right}), std::pair(std::size_t{1}, -1)) << "nobody's concern";
  EXPECT_EQ(verdict.bonus_token, 1);
  EXPECT_EQ(verdict.tested, (std::vector<std::uint8_t>{1, 1, 0}));
}

/// Shares of the texts that the seeds 1, 2, … give.
Law sampled_law(const std::string& specification, std::uint64_t requests) {
  Law law;
  ToyBackend backend({.vocab = 2, .n_layers = 3, .seed = 5, .agreement = 0.3});
  const Tokens prompt{0, 1, 1};
  const auto strategy = expect_strategy(specification, backend.shape());
  for (std::uint64_t seed = 1; seed <= requests; ++seed) {
    const auto text = expect_decoded(
        backend, *strategy, {.prompt = prompt, .max_new_tokens = 7, .sampling = {.temperature = 1.0}}, seed);
    law[text.tokens] += 1.0 / static_cast<double>(requests);
  }
  return law;
}

// How many tokens of a block stay depends on random numbers of later tokens, which the next round must not
// reuse. With 128 texts and 40,000 requests the mean distance from the law is 0.022.
TEST(DrawnTexts, FollowTheTargetsLaw) {
  const Law target = law_of({.vocab = 2, .n_layers = 3, .seed = 5, .agreement = 0.3}, "vanilla",
                            {.temperature = 1.0}, {}, 7);
  for (const char* specification : {"layerskip:exit=1,gamma=4,acceptance=block", "layerskip:exit=2,gamma=3",
                                    "layerskip:exit=1,gamma=2,verify=above-exit"})
    EXPECT_LT(total_variation(sampled_law(specification, 40000), target), 0.03) << specification;
}

}  // namespace
}  // namespace draftscope::engine
