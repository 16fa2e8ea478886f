// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/oracle.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "answers/oracle/text_rounds.h"
#include "random_text.h"

namespace draftscope::simulator {
namespace {

/// Independent computation of a round, row by row: its time and the start of the next one.
std::pair<double, std::int32_t> play_round(const ShadowTable& table, const Prices& prices,
                                           std::int32_t position, std::int32_t exit, std::int32_t drafted) {
  const std::int32_t root = position - 1;
  if (drafted == 0) return {prices.target_step.at(root) + prices.step_round_ns, position + 1};
  const DraftPrices& price = prices.drafts[static_cast<std::size_t>(exit)];
  double time = prices.round_ns;
  for (std::int32_t k = 0; k < drafted; ++k) time += price.step.at(root + k);
  time += price.verify[static_cast<std::size_t>(drafted) + 1].at(root);
  std::int32_t next = position;
  while (next < position + drafted && next < table.end() &&
         table.cell(next, exit).token == table.text[static_cast<std::size_t>(next)])
    ++next;
  return {time, next + 1};
}

std::int32_t over(const ShadowTable& table) {
  return table.end() + (table.ended_at_eos ? 1 : 0);
}

/// Minimum time over every plan.
double brute_force(const ShadowTable& table, const Prices& prices, std::int32_t position,
                   std::int32_t longest) {
  if (position >= over(table)) return 0.0;
  const auto after = [&](const std::pair<double, std::int32_t>& round) {
    return round.first + brute_force(table, prices, round.second, longest);
  };
  double best = after(play_round(table, prices, position, 0, 0));
  const std::int32_t allowed = table.ended_at_eos ? longest : std::min(longest, table.end() - position - 1);
  for (std::int32_t exit = 1; exit < table.n_layers; ++exit)
    for (std::int32_t drafted = 1; drafted <= allowed; ++drafted)
      best = std::min(best, after(play_round(table, prices, position, exit, drafted)));
  return best;
}

TEST(Oracle, EqualsTheBestOfAllPlans) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 120; ++trial) {
    const auto layers = 2 + static_cast<std::int32_t>(random() % 2);
    const auto longest = 1 + static_cast<std::int32_t>(random() % 3);
    const ShadowTable table = random_text(random, {.positions = static_cast<std::int32_t>(random() % 8),
                                                   .layers = layers,
                                                   .ended_at_eos = random() % 2 == 0});
    const Prices prices =
        random_prices(random, {.layers = layers, .longest = longest, .is_rough = random() % 2 == 0});
    const auto time = oracle_time_ns(table, prices);
    ASSERT_TRUE(time) << time.error().message;
    EXPECT_NEAR(*time, brute_force(table, prices, table.first, longest), 1e-9) << "trial " << trial;
  }
}

TEST(Oracle, IsNeverSlowerThanACausalPolicy) {
  std::mt19937 random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const ShadowTable table =
        random_text(random, {.positions = 150, .layers = 5, .ended_at_eos = trial % 2 == 0});
    const Prices prices = random_prices(random, {.layers = 5, .longest = 7, .is_rough = trial % 4 == 0});
    const auto least = oracle_time_ns(table, prices);
    ASSERT_TRUE(least);
    EXPECT_LE(*least, vanilla_time_ns(table, prices) + 1e-6);
    for (std::int32_t exit = 1; exit < 5; ++exit) {
      for (std::int32_t length = 0; length <= 7; ++length) {
        EXPECT_LE(*least, time_ns(fixed_setting(table, {exit, length}), prices) + 1e-6);
      }
    }
    for (int policy = 0; policy < 10; ++policy) {
      double time = 0.0;
      for (std::int32_t position = table.first; position < over(table);) {
        const std::int32_t wanted = static_cast<std::int32_t>(random() % 8);
        const std::int32_t drafted =
            table.ended_at_eos ? wanted : std::min(wanted, table.end() - position - 1);
        const auto round =
            play_round(table, prices, position, 1 + static_cast<std::int32_t>(random() % 4), drafted);
        time += round.first;
        position = round.second;
      }
      EXPECT_LE(*least, time + 1e-6);
    }
  }
}

TEST(Oracle, GainsFromMoreChoicesAndCheaperDrafts) {
  std::mt19937 random(6);
  const auto time = [](const Result<double>& found) { return found.value(); };
  for (int trial = 0; trial < 60; ++trial) {
    const ShadowTable table = random_text(random, {.positions = 100, .layers = 6});
    const Prices prices = random_prices(random, {.layers = 6, .longest = 8});
    double last = std::numeric_limits<double>::infinity();
    for (std::int32_t longest = 0; longest <= 8; ++longest) {
      const double now = time(oracle_time_ns(table, prices, {.longest = longest}));
      EXPECT_LE(now, last + 1e-6);
      EXPECT_NEAR(now, time(oracle_time_ns(table, prices, {.max_rows = longest + 1})), 1e-9);
      last = now;
    }
    std::vector<std::int32_t> exits;
    last = std::numeric_limits<double>::infinity();
    for (std::int32_t exit = 1; exit < 6; ++exit) {
      exits.push_back(exit);
      const double now = time(oracle_time_ns(table, prices, {.exits = exits}));
      EXPECT_LE(now, last + 1e-6);
      last = now;
    }
    Prices cheaper = prices;
    for (DraftPrices& draft : cheaper.drafts) draft.step.ns *= uniform(random, 0.0, 1.0);
    const double all = time(oracle_time_ns(table, prices));
    EXPECT_LE(time(oracle_time_ns(table, cheaper)), all + 1e-6);
    EXPECT_LE(time(oracle_time_ns(table, free_drafts(prices))), time(oracle_time_ns(table, cheaper)) + 1e-6);
    EXPECT_LE(time(oracle_time_ns(table, prices, {.perfect_drafts = true})), all + 1e-6);
  }
}

TEST(Oracle, OfPerfectDraftsNeedsOneRoundWhereTheyAreFree) {
  std::mt19937 random(8);
  const ShadowTable table = random_text(random, {.positions = 9, .layers = 3});
  Prices prices = free_drafts(random_prices(random, {.layers = 3, .longest = 12}));
  for (DraftPrices& draft : prices.drafts)
    for (AffineTime& verify : draft.verify) verify = prices.target_step;
  const auto time = oracle_time_ns(table, prices, {.perfect_drafts = true});
  ASSERT_TRUE(time);
  EXPECT_NEAR(*time, prices.round_ns + prices.target_step.at(table.first - 1), 1e-9);
}

TEST(Oracle, NamesWhatDoesNotFit) {
  std::mt19937 random(11);
  ShadowTable table = random_text(random, {});
  const Prices prices = random_prices(random, {});
  const auto message = [&](const OracleOptions& options) {
    const auto time = oracle_time_ns(table, prices, options);
    return time ? std::string() : time.error().message;
  };
  EXPECT_EQ(message({.exits = {4}}), "oracle: exit layer 4, expected 1 to 3");
  EXPECT_EQ(message({.exits = {0}}), "oracle: exit layer 0, expected 1 to 3");
  EXPECT_EQ(message({.lengths = {5}}), "oracle: speculation length 5, expected 1 to 4, which have prices");
  EXPECT_EQ(message({.lengths = {0}}), "oracle: speculation length 0, expected 1 to 4, which have prices");
  EXPECT_EQ(message({.max_rows = -1}), "oracle: most rows of a verification is -1, expected 0 or more");
  table.cells.pop_back();
  EXPECT_NE(message({}).find("found 39 cells, expected 40"), std::string::npos);
  table.first = 0;
  EXPECT_FALSE(oracle_time_ns(table, prices));
}

TEST(Oracle, WithoutAnyPricedDraftIsVanilla) {
  std::mt19937 random(12);
  const ShadowTable table = random_text(random, {});
  Prices prices = random_prices(random, {});
  prices.drafts.clear();
  const auto time = oracle_time_ns(table, prices);
  ASSERT_TRUE(time);
  EXPECT_NEAR(*time, vanilla_time_ns(table, prices), 1e-9);
}

}  // namespace
}  // namespace draftscope::simulator
