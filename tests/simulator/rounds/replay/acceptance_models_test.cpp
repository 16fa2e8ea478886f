// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "rounds/replay/acceptance_models.h"

namespace draftscope::simulator {
namespace {

/// Draws whether each position of a text would be accepted under the model.
std::vector<bool> draw(const AcceptanceModel& model, std::size_t positions, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform;
  std::size_t state = uniform(random) < model.start[0] ? 0 : 1;
  std::vector<bool> bits;
  for (std::size_t i = 0; i < positions; ++i) {
    bits.push_back(uniform(random) < model.acceptance[state]);
    if (uniform(random) >= model.stay[state]) state = 1 - state;
  }
  return bits;
}

/// The bits that rounds of fixed length show; also counts these rounds.
AcceptanceBits show(const std::vector<bool>& bits, std::int32_t length, std::int64_t& rounds) {
  AcceptanceBits shown;
  for (std::size_t at = 0; at < bits.size(); ++rounds) {
    std::int32_t k = 0;
    for (; k < length && at < bits.size() && bits[at]; ++k, ++at) shown.push_back(AcceptanceBit::accepted);
    if (at < bits.size()) shown.push_back(k < length ? AcceptanceBit::rejected : AcceptanceBit::unseen);
    ++at;
  }
  return shown;
}

/// Tokens of a round in a long text.
double expected_tokens_per_round(const AcceptanceModel& model, std::int32_t length) {
  const RoundStatistics statistics =
      expected_statistics(model, {.exit = 1, .length = length, .tokens = 1'000'000});
  return static_cast<double>(statistics.tokens) / static_cast<double>(statistics.rounds);
}

/// Tokens of a round by Leviathan et al. 2023, eq. 1, as a sum.
double leviathan(double alpha, std::int32_t length) {
  double tokens = 0.0;
  for (std::int32_t k = 0; k <= length; ++k) tokens += std::pow(alpha, k);
  return tokens;
}

TEST(AcceptanceModels, IidIsLeviathans) {
  constexpr double rounding = 2e-4;  // The number of rounds is a whole one.
  for (double alpha = 0.0; alpha <= 1.0; alpha += 0.125)
    for (std::int32_t length = 0; length < 20; ++length)
      EXPECT_NEAR(expected_tokens_per_round(iid_acceptance(alpha), length), leviathan(alpha, length),
                  rounding);
}

TEST(AcceptanceModels, IidOfAStatedRateGivesTheRateBack) {
  for (double alpha = 0.0; alpha <= 1.0; alpha += 0.0625)
    for (std::int32_t length = 1; length < 20; ++length) {
      const double rate = (leviathan(alpha, length) - 1.0) / length;
      const auto model = iid_acceptance_of_rate(rate, length);
      ASSERT_TRUE(model);
      EXPECT_NEAR(model->acceptance[0], alpha, 1e-9) << length;
    }
  EXPECT_FALSE(iid_acceptance_of_rate(1.01, 4));
  EXPECT_FALSE(iid_acceptance_of_rate(-0.1, 4));
  EXPECT_FALSE(iid_acceptance_of_rate(0.5, 0));
}

TEST(AcceptanceModels, AcceptanceGivenAllBitsIsCertainWhereSeenAndBayesElsewhere) {
  const AcceptanceModel model{.acceptance = {0.9, 0.2}, .stay = {0.8, 0.7}, .start = {0.6, 0.4}};
  const AcceptanceBits bits{AcceptanceBit::accepted, AcceptanceBit::unseen, AcceptanceBit::rejected,
                            AcceptanceBit::unseen};
  // This sums over every path of hidden states.
  std::vector<double> accepted(bits.size());
  double all = 0.0;
  for (unsigned path = 0; path < 16; ++path) {
    double probability = 1.0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const std::size_t state = (path >> i) & 1U;
      const std::size_t before = i == 0 ? 0 : (path >> (i - 1)) & 1U;
      probability *= i == 0            ? model.start[state]
                     : state == before ? model.stay[before]
                                       : 1.0 - model.stay[before];
      if (bits[i] == AcceptanceBit::accepted) probability *= model.acceptance[state];
      if (bits[i] == AcceptanceBit::rejected) probability *= 1.0 - model.acceptance[state];
    }
    all += probability;
    for (std::size_t i = 0; i < bits.size(); ++i)
      accepted[i] += probability * model.acceptance[(path >> i) & 1U];
  }
  const std::vector<double> found = acceptance_at(model, bits);
  ASSERT_EQ(found.size(), bits.size());
  EXPECT_NEAR(found[0], 1.0, 1e-12);
  EXPECT_NEAR(found[1], accepted[1] / all, 1e-12);
  EXPECT_NEAR(found[2], 0.0, 1e-12);
  EXPECT_NEAR(found[3], accepted[3] / all, 1e-12);
}

TEST(AcceptanceModels, IidRateIsTheShareOfAccepted) {
  const std::vector<AcceptanceBits> bits{
      {AcceptanceBit::accepted, AcceptanceBit::unseen, AcceptanceBit::rejected},
      {AcceptanceBit::accepted, AcceptanceBit::accepted}};
  const auto model = fit_iid_acceptance(bits);
  ASSERT_TRUE(model);
  EXPECT_DOUBLE_EQ(model->acceptance[0], 0.75);
  EXPECT_NEAR(model->log_likelihood, 3.0 * std::log(0.75) + std::log(0.25), 1e-12);
  EXPECT_FALSE(fit_iid_acceptance(std::vector<AcceptanceBits>{{AcceptanceBit::unseen}}));
  EXPECT_FALSE(fit_markov_acceptance({}));
}

TEST(AcceptanceModels, ExpectationMaximisationRecoversPlantedParameters) {
  const AcceptanceModel planted{.acceptance = {0.95, 0.35}, .stay = {0.97, 0.93}, .start = {0.7, 0.3}};
  std::mt19937 random(11);
  std::vector<AcceptanceBits> requests;
  std::int64_t rounds = 0;
  for (int i = 0; i < 60; ++i) requests.push_back(show(draw(planted, 2000, random), 5, rounds));
  const auto fitted = fit_markov_acceptance(requests);
  ASSERT_TRUE(fitted);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_NEAR(fitted->acceptance[s], planted.acceptance[s], 0.02) << s;
    EXPECT_NEAR(fitted->stay[s], planted.stay[s], 0.02) << s;
  }
  EXPECT_GT(fitted->log_likelihood, fit_iid_acceptance(requests)->log_likelihood + 100.0);
}

TEST(AcceptanceModels, PredictOtherLengthsBetterThanIid) {
  const AcceptanceModel planted{.acceptance = {0.98, 0.3}, .stay = {0.98, 0.94}, .start = {0.75, 0.25}};
  std::mt19937 random(5);
  std::vector<std::vector<bool>> texts;
  std::vector<AcceptanceBits> requests;
  std::int64_t rounds = 0;
  for (int i = 0; i < 40; ++i) {
    texts.push_back(draw(planted, 3000, random));
    requests.push_back(show(texts.back(), 3, rounds));
  }
  const auto markov = fit_markov_acceptance(requests);
  const auto flat = fit_iid_acceptance(requests);
  ASSERT_TRUE(markov && flat);
  for (const std::int32_t length : {1, 6, 12}) {
    std::int64_t walked = 0;
    for (const auto& text : texts) (void)show(text, length, walked);
    const double real = 40.0 * 3000.0 / static_cast<double>(walked);
    const double by_markov = expected_tokens_per_round(*markov, length);
    EXPECT_NEAR(by_markov / real, 1.0, 0.02) << length;
    EXPECT_LT(std::abs(by_markov - real), std::abs(expected_tokens_per_round(*flat, length) - real))
        << length;
  }
}

TEST(AcceptanceModels, StatisticsAddUp) {
  const RoundStatistics statistics = expected_statistics(
      iid_acceptance(0.8), {.exit = 3, .length = 4, .tokens = 33616, .first_context = 100});
  EXPECT_EQ(statistics.rounds, 10000);
  EXPECT_EQ(statistics.drafted, 40000);
  EXPECT_EQ(statistics.accepted, 23616);
  ASSERT_EQ(statistics.drafts.size(), 1U);
  EXPECT_EQ(statistics.drafts[0].verify[5].passes, 10000);
  EXPECT_NEAR(static_cast<double>(statistics.drafts[0].verify[5].context) / 10000.0, 100.0 + 33616.0 / 2,
              3.0);
  const RoundStatistics vanilla =
      expected_statistics(iid_acceptance(0.8), {.tokens = 50, .first_context = 10});
  EXPECT_EQ(vanilla.target_steps.passes, 50);
  EXPECT_EQ(vanilla.target_steps.context, 50 * 10 + 49 * 50 / 2);
}

TEST(ExpectedStatistics, TellTextsApartThatAreEasyOrHardThroughout) {
  // Half of the texts accept everything, half nothing: the states never change within one.
  std::vector<AcceptanceBits> requests;
  for (int text = 0; text < 20; ++text) {
    AcceptanceBits& bits = requests.emplace_back();
    for (int round = 0; round < 12; ++round) {
      if (text % 2 == 0) bits.insert(bits.end(), 4, AcceptanceBit::accepted);
      bits.push_back(text % 2 == 0 ? AcceptanceBit::unseen : AcceptanceBit::rejected);
    }
  }
  const auto model = fit_markov_acceptance(requests);
  ASSERT_TRUE(model);
  const RoundStatistics statistics = expected_statistics(*model, {.exit = 3, .length = 4, .tokens = 1000});
  EXPECT_NEAR(static_cast<double>(statistics.rounds), 0.5 * (1000.0 / 5.0) + 0.5 * 1000.0, 12.0);
}

TEST(ExpectedStatistics, NeverGiveARoundMoreThanItsDraftAndTheBonusToken) {
  for (const double alpha : {0.0, 0.5, 0.99, 1.0})
    for (std::int32_t length = 0; length < 9; ++length)
      for (std::int64_t tokens = 1; tokens < 60; ++tokens) {
        const RoundStatistics statistics =
            expected_statistics(iid_acceptance(alpha), {.exit = 3, .length = length, .tokens = tokens});
        EXPECT_LE(statistics.tokens, statistics.rounds * (length + 1))
            << alpha << ' ' << length << ' ' << tokens;
        EXPECT_LE(statistics.rounds, tokens);
      }
}

}  // namespace
}  // namespace draftscope::simulator
