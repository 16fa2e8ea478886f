// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/sampling.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace draftscope::engine {
namespace {

Distribution warped(const std::vector<float>& logits, const SamplingOptions& options) {
  Distribution out;
  warp(logits, options, out);
  return out;
}

// The distribution by definition, computed by sorting everything.
Distribution warped_naively(const std::vector<float>& logits, const SamplingOptions& options) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] > logits[b]; });
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
  std::vector<double> p;
  for (const std::size_t i : order)
    p.push_back(std::exp(static_cast<double>(logits[i]) / options.temperature));
  while (p.back() < options.min_p * p.front()) p.pop_back();
  double sum = std::accumulate(p.begin(), p.end(), 0.0);
  double kept = 0.0;
  std::size_t count = 0;
  while (count < p.size() && (count == 0 || options.top_p == 1.0 || kept < options.top_p * sum))
    kept += p[count++];
  std::vector<std::pair<std::int32_t, double>> pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.emplace_back(static_cast<std::int32_t>(order[i]), p[i] / kept);
  std::sort(pairs.begin(), pairs.end());
  Distribution out;
  for (const auto& [token, probability] : pairs) {
    out.tokens.push_back(token);
    out.probabilities.push_back(probability);
  }
  return out;
}

TEST(Warp, EqualsTheDefinitionOnRandomLogits) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<float> logits(1 + random() % 700);
    for (float& logit : logits) logit = normal(random);
    const SamplingOptions options{
        .temperature = 0.2 + 0.01 * static_cast<double>(random() % 200),
        .top_k = static_cast<std::int32_t>(random() % 3 == 0 ? 0 : random() % 90),
        .top_p = random() % 3 == 0 ? 1.0 : 0.05 + 0.009 * static_cast<double>(random() % 100),
        .min_p = random() % 2 == 0 ? 0.0 : 0.001 * static_cast<double>(random() % 300)};
    const Distribution expected = warped_naively(logits, options);
    const Distribution found = warped(logits, options);
    ASSERT_EQ(found.tokens, expected.tokens);
    for (std::size_t i = 0; i < found.tokens.size(); ++i)
      ASSERT_NEAR(found.probabilities[i], expected.probabilities[i], 1e-12);
    ASSERT_NEAR(std::accumulate(found.probabilities.begin(), found.probabilities.end(), 0.0), 1.0, 1e-12);
  }
}

TEST(Warp, SettlesTiesForTheLowerToken) {
  EXPECT_EQ(warped({1.0F, 2.0F, 2.0F, 2.0F}, {.temperature = 1.0, .top_k = 2}).tokens,
            (std::vector<std::int32_t>{1, 2}));
}

TEST(SamplingOptions, OutOfRangeValuesAreRefusedByName) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(check({.temperature = -1.0}).error().message, testing::HasSubstr("temperature"));
  EXPECT_THAT(check({.temperature = infinity}).error().message, testing::HasSubstr("temperature"));
  EXPECT_THAT(check({.temperature = 1.0, .top_k = -2}).error().message, testing::HasSubstr("top-k"));
  EXPECT_THAT(check({.temperature = 1.0, .top_p = 0.0}).error().message, testing::HasSubstr("top-p"));
  EXPECT_THAT(check({.temperature = 1.0, .top_p = std::nan("")}).error().message,
              testing::HasSubstr("top-p"));
  EXPECT_TRUE(check({}).has_value());
}

TEST(RepetitionPenalty, MustBeAFinitePositiveNumber) {
  for (const double odd : {0.0, -1.5, 1e-9, 1e9, std::nan(""), HUGE_VAL}) {
    const auto checked = check(SamplingOptions{.repetition_penalty = odd});
    ASSERT_FALSE(checked) << odd;
    EXPECT_NE(checked.error().message.find("repetition-penalty: found"), std::string::npos);
  }
  EXPECT_TRUE(check(SamplingOptions{.repetition_penalty = 1.3}));
  for (const double odd : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(check(SamplingOptions{.min_p = odd})) << odd;
  for (const double odd : {-2.1, 2.1, std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(check(SamplingOptions{.frequency_penalty = odd})) << odd;
    EXPECT_FALSE(check(SamplingOptions{.presence_penalty = odd})) << odd;
  }
  EXPECT_TRUE(check(SamplingOptions{.min_p = 1.0, .logit_bias = {{7, -100.0}, {3, 100.0}}}));
  EXPECT_FALSE(check(SamplingOptions{.logit_bias = {{7, 101.0}}}));
  EXPECT_FALSE(check(SamplingOptions{.logit_bias = {{7, 1.0}, {7, 2.0}}}));
  EXPECT_FALSE(check(SamplingOptions{.logit_bias = {{-1, 1.0}}}));
}

}  // namespace
}  // namespace draftscope::engine
