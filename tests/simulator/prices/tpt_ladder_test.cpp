// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/simulator/prices/tpt_ladder.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

namespace draftscope::simulator {
namespace {

constexpr std::int32_t tpt_layers = 32;
constexpr std::int32_t max_rows = 9;

/// Prices in which only layers take time, all of them equal.
Prices layer_prices(double layer_ns) {
  Prices prices;
  prices.target_step.ns = tpt_layers * layer_ns;
  prices.drafts.resize(tpt_layers);
  for (std::int32_t exit = 1; exit < tpt_layers; ++exit) {
    DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
    draft.step.ns = exit * layer_ns;
    draft.verify.assign(max_rows + 1, prices.target_step);
  }
  return prices;
}

/// Random prices with a head, a choice, more expensive wide verifications, contexts and overheads.
Prices random_prices(std::mt19937& random, const PassParts& parts) {
  std::uniform_real_distribution<double> share(0.0, 1.0);
  Prices prices = layer_prices(900.0);
  const auto add_parts = [&](AffineTime& time) {
    time.ns = time.ns * (1.0 + 0.1 * share(random)) + parts.head_ns + parts.choice_ns;
    time.ns_per_context_row = 0.5 * share(random);
  };
  add_parts(prices.target_step);
  for (DraftPrices& draft : prices.drafts) {
    add_parts(draft.step);
    for (AffineTime& verify : draft.verify) {
      add_parts(verify);
      verify.ns *= 1.0 + 0.2 * share(random);
    }
  }
  prices.round_ns = 700.0 * share(random);
  prices.step_round_ns = 300.0 * share(random);
  return prices;
}

struct Recorded {
  RoundStatistics statistics;
  PassCount vanilla;
};

/// Requests whose rounds draft at random exits and lengths, some none, and accept at random; counted pass by
/// pass.
Recorded random_rounds(std::mt19937& random, int requests) {
  Recorded result;
  for (int request = 0; request < requests; ++request) {
    std::int64_t root = std::uniform_int_distribution<std::int64_t>(5, 400)(random);
    const std::int64_t first = root;
    for (int i = 0; i < 20; ++i) {
      RoundStatistics round;
      round.rounds = 1;
      const auto gamma = std::uniform_int_distribution<std::int32_t>(0, max_rows - 1)(random);
      if (gamma == 0) {
        round.target_steps = {.passes = 1, .context = root};
      } else {
        DraftStatistics draft;
        draft.exit = std::uniform_int_distribution<std::int32_t>(1, tpt_layers - 1)(random);
        draft.verify.resize(static_cast<std::size_t>(gamma) + 2);
        draft.verify[static_cast<std::size_t>(gamma) + 1] = {.passes = 1, .context = root};
        for (std::int32_t j = 0; j < gamma; ++j) {
          ++draft.steps.passes;
          draft.steps.context += root + j;
        }
        round.drafts.push_back(draft);
      }
      round.drafted = gamma;
      round.accepted = std::uniform_int_distribution<std::int64_t>(0, gamma)(random);
      round.tokens = round.accepted + 1;
      root += round.tokens;
      add(result.statistics, round);
    }
    const PassCount steps = vanilla_steps(root - first, first);
    result.vanilla.passes += steps.passes;
    result.vanilla.context += steps.context;
  }
  return result;
}

double layer_count_speedup(const RoundStatistics& statistics) {
  double loaded = static_cast<double>(statistics.rounds) * tpt_layers;
  for (const DraftStatistics& draft : statistics.drafts)
    loaded += static_cast<double>(draft.steps.passes) * draft.exit;
  return tpt_layers * static_cast<double>(statistics.tokens) / loaded;
}

constexpr PassParts some_parts{.head_ns = 2500.0, .choice_ns = 400.0};

TEST(Ladder, StartsAtLayerCountingAndEndsAtTheTimeTrueSpeedup) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const Prices prices = random_prices(random, some_parts);
    std::mt19937 rounds_random(static_cast<unsigned>(i));
    const Recorded one = random_rounds(rounds_random, 1);
    const Ladder ladder =
        *correction_ladder({one.statistics, one.vanilla, prices, some_parts, {.model = tpt_layers}});
    EXPECT_NEAR(ladder.front().speedup, layer_count_speedup(one.statistics), 1e-12);
    const double first_context = static_cast<double>(one.vanilla.context) / one.statistics.tokens -
                                 (static_cast<double>(one.statistics.tokens) - 1.0) / 2.0;
    const double vanilla_ns = vanilla_time_ns(one.statistics.tokens, std::llround(first_context), prices);
    EXPECT_EQ(ladder.back().speedup, vanilla_ns / time_ns(one.statistics, prices)) << "exactly";
    EXPECT_EQ(ladder.back().speedup, *time_true_speedup(one.statistics, vanilla_ns, prices));
  }
}

TEST(Ladder, KeepsWhatPricesMissApartFromOverhead) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> ratios(0.8, 1.25);
  for (int trial = 0; trial < 20; ++trial) {
    const Recorded one = random_rounds(random, 1);
    const Prices prices = random_prices(random, some_parts);
    const double own_ratio = ratios(random);
    const LadderInput modelled{one.statistics, one.vanilla, prices, some_parts, {.model = tpt_layers}};
    LadderInput measured = modelled;
    measured.own_ratio = own_ratio;
    const Ladder without = *correction_ladder(modelled);
    const Ladder ladder = *correction_ladder(measured);
    ASSERT_EQ(ladder.size(), without.size() + 1);
    for (std::size_t rung = 0; rung < without.size(); ++rung) {
      EXPECT_EQ(ladder[rung].speedup, without[rung].speedup) << rung_name(ladder[rung].rung);
      EXPECT_EQ(ladder[rung].change, without[rung].change) << rung_name(ladder[rung].rung);
    }
    EXPECT_EQ(without.back().rung, Rung::overhead);
    EXPECT_EQ(ladder.back().rung, Rung::recorded_run);
    EXPECT_DOUBLE_EQ(ladder.back().factor, 1.0 / own_ratio);
  }
}

TEST(Ladder, ItsRungsMultiplyAndAddUp) {
  std::mt19937 random(2);
  for (int i = 0; i < 50; ++i) {
    const Prices prices = random_prices(random, some_parts);
    const Recorded many = random_rounds(random, 4);
    const Ladder ladder =
        *correction_ladder({many.statistics, many.vanilla, prices, some_parts, {.model = tpt_layers}});
    double product = ladder.front().speedup;
    double sum = ladder.front().speedup;
    double shares = 0.0;
    for (std::size_t rung = 0; rung < ladder.size(); ++rung) {
      EXPECT_EQ(static_cast<std::size_t>(ladder[rung].rung), rung);
      product *= ladder[rung].factor;
      sum += ladder[rung].change;
      EXPECT_NEAR(product, ladder[rung].speedup, 1e-12);
      EXPECT_NEAR(sum, ladder[rung].speedup, 1e-12);
      shares += ladder[rung].share.value_or(0.0);
    }
    EXPECT_NEAR(shares, 1.0, 1e-9);
  }
}

TEST(Ladder, WithoutCorrectionsEveryRungIsLayerCounting) {
  std::mt19937 random(3);
  const Recorded many = random_rounds(random, 4);
  const Ladder ladder =
      *correction_ladder({many.statistics, many.vanilla, layer_prices(900.0), {}, {.model = tpt_layers}});
  for (const LadderRung& rung : ladder)
    EXPECT_NEAR(rung.speedup, layer_count_speedup(many.statistics), 1e-12) << rung_name(rung.rung);
}

// With one cost at a time, only its rung may change.
TEST(Ladder, BooksEachCostToItsRung) {
  std::mt19937 random(4);
  const Recorded many = random_rounds(random, 4);
  const auto moved = [&](const Prices& prices, const PassParts& parts) {
    const Ladder ladder =
        *correction_ladder({many.statistics, many.vanilla, prices, parts, {.model = tpt_layers}});
    std::vector<Rung> rungs;
    for (const LadderRung& rung : ladder)
      if (std::abs(rung.change) > 1e-9) rungs.push_back(rung.rung);
    return rungs;
  };
  const auto with_pass_cost = [](double ns) {
    Prices prices = layer_prices(900.0);
    prices.target_step.ns += ns;
    for (DraftPrices& draft : prices.drafts) {
      draft.step.ns += ns;
      for (AffineTime& verify : draft.verify) verify.ns += ns;
    }
    return prices;
  };
  EXPECT_EQ(moved(with_pass_cost(3000.0), {.head_ns = 3000.0}), std::vector{Rung::head});
  EXPECT_EQ(moved(with_pass_cost(3000.0), {.choice_ns = 3000.0}), std::vector{Rung::choice});
  EXPECT_EQ(moved(with_pass_cost(3000.0), {}), std::vector{Rung::layer_time}) << "parts unknown";

  Prices wide = layer_prices(900.0);
  for (DraftPrices& draft : wide.drafts)
    for (AffineTime& verify : draft.verify) verify.ns *= 1.1;
  EXPECT_EQ(moved(wide, {}), std::vector{Rung::width});

  Prices deep = layer_prices(900.0);
  deep.target_step.ns_per_context_row = 1.0;
  for (DraftPrices& draft : deep.drafts)
    for (AffineTime& verify : draft.verify) verify.ns_per_context_row = 1.0;
  EXPECT_EQ(moved(deep, {}), std::vector{Rung::context});

  Prices hosted = layer_prices(900.0);
  hosted.round_ns = 5000.0;
  EXPECT_EQ(moved(hosted, {}), std::vector{Rung::overhead});
}

TEST(Ladder, CountsLayersOfSkipSetsAsToldAndSeesThatTheyAreUnequal) {
  const Prices prices = layer_prices(900.0);
  RoundStatistics statistics{.tokens = 4, .rounds = 1, .drafted = 3, .accepted = 3};
  statistics.drafts.push_back({.exit = 2, .steps = {3, 0}, .verify = std::vector<PassCount>(5)});
  statistics.drafts[0].verify[4].passes = 1;
  LayerCounts layers{.model = tpt_layers, .drafts = std::vector<double>(tpt_layers, 16.5)};
  const Ladder ladder = *correction_ladder({statistics, vanilla_steps(4, 0), prices, {}, layers});
  EXPECT_DOUBLE_EQ(ladder[0].speedup, 4.0 * 32 / (3 * 16.5 + 32)) << "what the table of layers says";
  EXPECT_DOUBLE_EQ(ladder[1].speedup, 4.0 * 32 / (3 * 2.0 + 32)) << "what the clock says";
}

TEST(Ladder, RefusesWhatItCannotPrice) {
  std::mt19937 random(5);
  const Recorded one = random_rounds(random, 1);
  const Prices prices = random_prices(random, some_parts);
  const auto error = [&](const RoundStatistics& statistics, const PassCount& vanilla, const Prices& with,
                         const PassParts& parts, const LayerCounts& layers) {
    const auto ladder = correction_ladder({statistics, vanilla, with, parts, layers});
    return ladder ? std::string() : ladder.error().message;
  };
  const LayerCounts layers{.model = tpt_layers};
  EXPECT_EQ(error(one.statistics, one.vanilla, prices, some_parts, layers), "");
  EXPECT_EQ(error({}, {}, prices, {}, layers), "tokens of the rounds: found 0, expected at least 1");
  EXPECT_NE(error(one.statistics, {.passes = 1}, prices, {}, layers), "");
  EXPECT_NE(error(one.statistics, one.vanilla, {}, {}, layers), "");
  EXPECT_NE(error(one.statistics, one.vanilla, prices, {.head_ns = 1e9}, layers), "");
  EXPECT_NE(error(one.statistics, one.vanilla, prices, {.head_ns = -1.0}, layers), "");
  EXPECT_NE(error(one.statistics, one.vanilla, prices, {}, {}), "") << "no layers";
  EXPECT_NE(error(one.statistics, one.vanilla, prices, {}, {.model = tpt_layers, .drafts = {0.0}}), "");
  Prices narrow = prices;
  for (DraftPrices& draft : narrow.drafts) draft.verify.resize(2);
  EXPECT_NE(error(one.statistics, one.vanilla, narrow, {}, layers), "");
}

TEST(FixedPass, IsFoundAgainWhereLayersAreEqual) {
  Prices prices = layer_prices(900.0);
  prices.target_step.ns += 2900.0;
  for (DraftPrices& draft : prices.drafts) draft.step.ns += 2900.0;
  EXPECT_NEAR(*fixed_pass_ns(prices, {.model = tpt_layers}), 2900.0, 1e-6);
  EXPECT_NEAR(*fixed_pass_ns(layer_prices(900.0), {.model = tpt_layers}), 0.0, 1e-6);
  prices.drafts.clear();
  EXPECT_EQ(fixed_pass_ns(prices, {.model = tpt_layers}), std::nullopt) << "one point is no line";
}

TEST(TimeTrueSpeedup, RefusesWhatHasNoPrice) {
  const Prices prices = layer_prices(900.0);
  EXPECT_FALSE(time_true_speedup({}, 1.0, prices));
  RoundStatistics foreign;
  foreign.drafts.push_back({.exit = tpt_layers});
  EXPECT_EQ(time_true_speedup(foreign, 1.0, prices).error().message,
            "exit 32: found no price, expected 1 to 31");
  foreign.drafts[0] = {.exit = 3, .verify = std::vector<PassCount>(max_rows + 2)};
  foreign.drafts[0].verify.back().passes = 1;
  EXPECT_EQ(time_true_speedup(foreign, 1.0, prices).error().message,
            "verification of 10 rows at exit 3: found no price, expected one");
  foreign.drafts[0].exit = -1;
  EXPECT_FALSE(time_true_speedup(foreign, 1.0, prices));
}

}  // namespace
}  // namespace draftscope::simulator
