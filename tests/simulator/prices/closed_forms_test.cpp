// SPDX-License-Identifier: GPL-3.0-or-later
// Golden values are published, or computed outside this program; the other tests are identities.

#include <draftscope/simulator/prices/closed_forms.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace draftscope::simulator {
namespace {

constexpr double golden = 1e-6;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

/// Checks a property for a few hundred uniform α and c with every γ up to 12.
template <typename Property>
void for_many(const Property& property) {
  std::mt19937 random(20230519);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  for (int i = 0; i < 300; ++i)
    for (std::int32_t gamma = 0; gamma <= 12; ++gamma) property(share(random), gamma, share(random));
}

TEST(ClosedForms, GiveLeviathansTokensAndSpeedups) {
  struct Golden {
    double alpha;
    std::int32_t gamma;
    double c;
    double tokens;
    double speedup;
  };
  for (const Golden& row : {Golden{.8, 4, .05, 3.361600, 2.801333}, Golden{.6, 5, .1, 2.383360, 1.588907},
                            Golden{.9, 7, .2, 5.695328, 2.373053}, Golden{.7, 3, .25, 2.533000, 1.447429},
                            Golden{.5, 1, .5, 1.5, 1.0}}) {
    EXPECT_NEAR(*expected_tokens(row.alpha, row.gamma), row.tokens, golden);
    EXPECT_NEAR(*leviathan_speedup(row.alpha, row.gamma, row.c), row.speedup, golden);
  }
}

TEST(ClosedForms, SumTheProbabilitiesThatEachTokenIsReached) {
  for_many([](double alpha, std::int32_t gamma, double) {
    double sum = 0.0;
    for (std::int32_t k = 0; k <= gamma; ++k) sum += std::pow(alpha, k);
    EXPECT_NEAR(*expected_tokens(alpha, gamma), sum, 1e-12 * sum);
  });
}

TEST(ClosedForms, KeepTheirDigitsWhereAcceptanceIsAlmostCertain) {
  // 1 + α + α² + α³ with α = 1 − ε is 4 − 6·ε to first order.
  EXPECT_NEAR(*expected_tokens(1.0 - 1e-12, 3), 4.0 - 6e-12, 1e-15);
  EXPECT_EQ(*expected_tokens(1.0, 3), 4.0);
}

TEST(ClosedForms, AreRightAtTheEdges) {
  for_many([](double alpha, std::int32_t gamma, double c) {
    EXPECT_EQ(*expected_tokens(0.0, gamma), 1.0);
    EXPECT_EQ(*expected_tokens(1.0, gamma), gamma + 1.0);
    EXPECT_EQ(*leviathan_speedup(alpha, 0, c), 1.0) << "without a draft nothing changes";
    EXPECT_EQ(*leviathan_speedup(alpha, gamma, 0.0), *expected_tokens(alpha, gamma));
    EXPECT_LE(*leviathan_speedup(alpha, gamma, 1.0), 1.0 + 1e-12) << "a draft as dear as the target";
  });
}

TEST(ClosedForms, TplTimesLayersIsLeviathanWithCostByLayers) {
  for_many([](double alpha, std::int32_t gamma, double share) {
    const std::int32_t n_layers = 16 + 8 * gamma;
    const double draft_layers = std::round(share * 2.0 * n_layers) / 2.0;
    const double tpl = *tokens_per_loaded_layer(alpha, gamma, draft_layers, n_layers);
    const double speedup = *leviathan_speedup(alpha, gamma, draft_layers / n_layers);
    EXPECT_NEAR(tpl * n_layers, speedup, 1e-12 * speedup);
  });
}

TEST(ClosedForms, LeviathanIsAccountingToo) {
  for_many([](double alpha, std::int32_t gamma, double c) {
    EXPECT_DOUBLE_EQ(*round_speedup(*expected_tokens(alpha, gamma),
                                    {.steps_per_round = static_cast<double>(gamma), .c = c}),
                     *leviathan_speedup(alpha, gamma, c));
  });
}

TEST(ClosedForms, AcceptanceRateIsFoundAgainFromItsTokens) {
  for_many([](double alpha, std::int32_t gamma, double) {
    if (gamma == 0) return;
    EXPECT_NEAR(*iid_acceptance_rate(*expected_tokens(alpha, gamma), gamma), alpha, 1e-9);
  });
  for (const std::int32_t gamma : {1, 2, 12}) {
    EXPECT_EQ(*iid_acceptance_rate(1.0, gamma), 0.0);
    EXPECT_EQ(*iid_acceptance_rate(gamma + 1.0, gamma), 1.0);
  }
}

TEST(ClosedForms, RefuseWhatIsOutsideTheirDomain) {
  for (const double alpha : {-0.1, 1.1, nan, infinite}) {
    EXPECT_EQ(expected_tokens(alpha, 2).error().message,
              fmt::format("acceptance rate: found {}, expected 0 to 1", alpha));
    EXPECT_FALSE(leviathan_speedup(alpha, 2, 0.1));
    EXPECT_FALSE(tokens_per_loaded_layer(alpha, 2, 3, 16));
  }
  for (const double cost : {-0.1, nan, infinite}) {
    EXPECT_FALSE(leviathan_speedup(0.5, 2, cost));
    EXPECT_FALSE(round_speedup(2.0, {.steps_per_round = 1.0, .c = cost}));
    EXPECT_FALSE(round_speedup(2.0, {.steps_per_round = cost}));
    EXPECT_FALSE(round_speedup(2.0, {.v = cost}));
    EXPECT_FALSE(round_speedup(2.0, {.o = cost}));
    EXPECT_FALSE(round_speedup(cost, {}));
  }
  EXPECT_FALSE(round_speedup(2.0, {.v = 0.0})) << "a round that costs nothing";
  EXPECT_FALSE(expected_tokens(0.5, -1));
  EXPECT_FALSE(expected_tokens(0.5, std::numeric_limits<std::int32_t>::max()));
  for (const double tokens : {0.9, 4.1, nan}) EXPECT_FALSE(iid_acceptance_rate(tokens, 3));
  EXPECT_FALSE(iid_acceptance_rate(1.0, 0)) << "nothing was drafted";
  EXPECT_FALSE(tokens_per_loaded_layer(0.5, 2, 17, 16));
  EXPECT_FALSE(tokens_per_loaded_layer(0.5, 2, -1, 16));
  EXPECT_FALSE(tokens_per_loaded_layer(0.5, 2, 0, 0));
}

}  // namespace
}  // namespace draftscope::simulator
