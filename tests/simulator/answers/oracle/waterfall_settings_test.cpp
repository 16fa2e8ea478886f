// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "answers/oracle/text_rounds.h"
#include "random_text.h"

namespace draftscope::simulator {
namespace {

/// Decodes token by token like the engine.
RoundStatistics decode(const ShadowTable& table, FixedSetting setting, const Prices& prices, double& time) {
  RoundStatistics all;
  std::int32_t known = table.first;
  bool ended = known >= table.end() && !table.ended_at_eos;
  time = 0.0;
  while (!ended) {
    const std::int32_t root = known - 1;
    const std::int32_t drafted =
        table.ended_at_eos ? setting.length : std::min(setting.length, table.end() - known - 1);
    ++all.rounds;
    all.drafted += drafted;
    if (drafted == 0) time += prices.target_step.at(root) + prices.step_round_ns;
    if (drafted > 0) {
      const DraftPrices& price = prices.drafts[static_cast<std::size_t>(setting.exit)];
      for (std::int32_t k = 0; k < drafted; ++k) time += price.step.at(root + k);
      time += price.verify[static_cast<std::size_t>(drafted) + 1].at(root) + prices.round_ns;
    }
    std::int32_t accepted = 0;
    while (accepted < drafted && known < table.end() &&
           table.cell(known, setting.exit).token == table.text[static_cast<std::size_t>(known)]) {
      ++accepted;
      ++known;
      ++all.tokens;
    }
    all.accepted += accepted;
    // This is the target's token: the text's next one, or the end.
    if (known < table.end()) {
      ++known;
      ++all.tokens;
      ended = known == table.end() && !table.ended_at_eos;
    } else {
      ended = true;
    }
  }
  return all;
}

TEST(FixedSetting, EqualsDecodingTokenByToken) {
  std::mt19937 random(21);
  for (int trial = 0; trial < 100; ++trial) {
    const ShadowTable table = random_text(random, {.positions = static_cast<std::int32_t>(random() % 60),
                                                   .layers = 4,
                                                   .ended_at_eos = random() % 2 == 0});
    const Prices prices = random_prices(random, {.layers = 4, .longest = 6});
    const FixedSetting setting{1 + static_cast<std::int32_t>(random() % 3),
                               static_cast<std::int32_t>(random() % 7)};
    double time = 0.0;
    const RoundStatistics expected = decode(table, setting, prices, time);
    const RoundStatistics found = fixed_setting(table, setting);
    EXPECT_EQ(found.tokens, expected.tokens);
    EXPECT_EQ(found.tokens, table.end() - table.first);
    EXPECT_EQ(found.rounds, expected.rounds);
    EXPECT_EQ(found.drafted, expected.drafted);
    EXPECT_EQ(found.accepted, expected.accepted);
    EXPECT_NEAR(time_ns(found, prices), time, 1e-6);
  }
}

struct Texts {
  std::vector<ShadowTable> tables;
  std::vector<const ShadowTable*> pointers;
};

Texts random_texts(std::mt19937& random, std::size_t count) {
  Texts texts;
  for (std::size_t i = 0; i < count; ++i)
    texts.tables.push_back(random_text(random, {.positions = 50, .layers = 4}));
  for (const ShadowTable& table : texts.tables) texts.pointers.push_back(&table);
  return texts;
}

TEST(SettingMatrix, HoldsEachSettingOfEachRequest) {
  std::mt19937 random(22);
  const Texts texts = random_texts(random, 3);
  const auto matrix =
      setting_matrix(texts.pointers, std::vector<std::int32_t>{1, 3}, std::vector<std::int32_t>{2, 5});
  ASSERT_TRUE(matrix);
  ASSERT_EQ(matrix->settings.size(), 5U);
  EXPECT_EQ(matrix->settings.front().length, 0);
  for (std::size_t i = 0; i < texts.tables.size(); ++i)
    for (std::size_t s = 0; s < matrix->settings.size(); ++s)
      EXPECT_EQ(matrix->statistics[i][s], fixed_setting(texts.tables[i], matrix->settings[s]));
}

TEST(BestSettings, AreTheLeastTimesOfTheirRequests) {
  std::mt19937 random(23);
  for (int trial = 0; trial < 20; ++trial) {
    const Texts texts = random_texts(random, 7);
    const Prices prices = random_prices(random, {.layers = 4, .longest = 5});
    const std::vector<std::string> categories{"a", "b", "a", "c", "b", "a", "b"};
    const auto matrix = setting_matrix(texts.pointers, std::vector<std::int32_t>{1, 2, 3},
                                       std::vector<std::int32_t>{1, 2, 3, 4, 5});
    ASSERT_TRUE(matrix);
    const auto best = best_settings(*matrix, categories, prices);
    ASSERT_TRUE(best);
    const auto sum = [&](std::size_t setting, const std::string& category) {
      double total = 0.0;
      for (std::size_t i = 0; i < categories.size(); ++i)
        if (category.empty() || categories[i] == category)
          total += time_ns(matrix->statistics[i][setting], prices);
      return total;
    };
    for (std::size_t s = 0; s < matrix->settings.size(); ++s) {
      EXPECT_LE(sum(best->global, ""), sum(s, ""));
      for (const std::string category : {"a", "b", "c"})
        EXPECT_LE(sum(best->by_category.at(category), category), sum(s, category));
      for (std::size_t i = 0; i < categories.size(); ++i)
        EXPECT_LE(time_ns(matrix->statistics[i][best->by_request[i]], prices),
                  time_ns(matrix->statistics[i][s], prices));
    }
  }
}

TEST(BestSettings, NameWhatDoesNotFit) {
  std::mt19937 random(24);
  const Texts texts = random_texts(random, 2);
  const Prices prices = random_prices(random, {.layers = 4, .longest = 2});
  const auto matrix =
      setting_matrix(texts.pointers, std::vector<std::int32_t>{1}, std::vector<std::int32_t>{3});
  ASSERT_TRUE(matrix);
  const std::vector<std::string> names{"", ""};
  const auto unpriced = best_settings(*matrix, names, prices);
  ASSERT_FALSE(unpriced);
  EXPECT_EQ(unpriced.error().message, "verification of 4 rows at exit 1: found no price, expected one");
  Prices few = prices;
  few.drafts.resize(1);
  EXPECT_EQ(checked_time_ns(fixed_setting(texts.tables[0], {1, 2}), few).error().message,
            "exit 1: found no prices of drafts, expected some");
}

}  // namespace
}  // namespace draftscope::simulator
