// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/grid_source.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace draftscope::engine {
namespace {

TEST(Halving, LooksAtAllOnAFewPromptsThenAtTheBestThirdOnMore) {
  Halving halving(6, 9, 3);
  EXPECT_EQ(halving.prompts_in_all(), 6 * 1 + 2 * 3 + 1 * 9);
  const double scores[] = {0.5, 0.9, 0.1, 0.7, 0.2, 0.3};
  EXPECT_EQ(halving.best(), std::nullopt);
  for (std::size_t setting = 0; setting < 6; ++setting) {
    ASSERT_EQ(halving.next(), (Halving::Scoring{setting, 1}));
    halving.observe(scores[setting]);
  }
  EXPECT_EQ(halving.best(), 1U);
  ASSERT_EQ(halving.next(), (Halving::Scoring{1, 3}));  // the best setting so far comes first
  halving.observe(0.4);
  ASSERT_EQ(halving.next(), (Halving::Scoring{3, 3}));
  halving.observe(0.8);
  ASSERT_EQ(halving.next(), (Halving::Scoring{3, 9}));
  halving.observe(0.6);
  EXPECT_EQ(halving.next(), std::nullopt);
  EXPECT_EQ(halving.best(), 3U);
}

TEST(Halving, HasFewerRungsWhereThereAreFewPrompts) {
  EXPECT_EQ(Halving(10, 1, 5).prompts_in_all(), 10);
  EXPECT_EQ(Halving(10, 4, 5).prompts_in_all(), 10 * 1 + 4 * 4);
  EXPECT_EQ(Halving(10, 8, 1).prompts_in_all(), 80);
}

TEST(Halving, FindsTheBestSettingWhereScoresDoNotDependOnPrompts) {
  std::mt19937 random(1);
  for (std::int32_t round = 0; round < 200; ++round) {
    std::vector<double> scores(1 + random() % 40);
    for (double& score : scores) score = static_cast<double>(random() % 1000);
    Halving halving(scores.size(), static_cast<std::int32_t>(1 + random() % 20),
                    static_cast<std::int32_t>(1 + random() % 4));
    std::int64_t prompts = 0;
    const std::int64_t planned = halving.prompts_in_all();
    while (const auto look = halving.next()) {
      prompts += look->prompts;
      halving.observe(scores[look->setting]);
    }
    EXPECT_EQ(prompts, planned);
    const auto best = std::max_element(scores.begin(), scores.end());
    EXPECT_EQ(scores[halving.best().value()], *best);
  }
}

}  // namespace
}  // namespace draftscope::engine
