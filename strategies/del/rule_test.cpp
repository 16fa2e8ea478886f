// SPDX-License-Identifier: GPL-3.0-or-later
// DEL's statistics and its choice of exit and length.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "strategies/del/rule.h"

namespace draftscope::speculation {
namespace {

ExitStatistics rate(double alpha) {
  return {.matches = alpha, .mismatches = 1.0 - alpha};
}

TEST(DelChoice, IsTheFirstOfTheBest) {
  // Without statistics the rule keeps its initial choice.
  std::vector<ExitStatistics> exits(5);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).exit, 1);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).gamma, 1);
  // Exits that are always wrong are all as good as a plain step, 1/L: the first with statistics wins, without
  // a draft.
  exits[2] = exits[4] = rate(0.0);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).exit, 3);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).gamma, 0);
  EXPECT_DOUBLE_EQ(best_exit(exits, {6, 0.0}, 18).tpl, 1.0 / 6.0);
  // (1 + 1/2) / (6 + 3) is 1/6 as well; ties go to the shorter draft.
  exits[2] = rate(0.5);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 1).gamma, 0);
  // Exits that are always correct: the longest draft and the shallowest such exit win.
  exits[3] = exits[4] = rate(1.0);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).exit, 4);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).gamma, 18);
  EXPECT_DOUBLE_EQ(best_exit(exits, {6, 0.0}, 18).tpl, 19.0 / (6 + 18 * 4));
  // A head with a cost makes a shallow exit expensive, and useless where it costs more than it saves.
  exits.assign(5, {});
  exits[0] = rate(0.3);
  EXPECT_EQ(best_exit(exits, {6, 0.0}, 18).gamma, 1);
  EXPECT_EQ(best_exit(exits, {6, 5.0}, 18).gamma, 0);
}

// DEL-ℰ of §5.3: exit and length by TPL, no draft exit. The other ablations have a stop rule, or a length of
// another part.
TEST(DelOptions, HonourTheLengthWhereOnlyTplChoosesIt) {
  for (const auto& [specification, honours] : {std::pair{"mix:mask=del,length=del,stop=none", true},
                                               {"mix:mask=exit,length=del,stop=none", true},
                                               {"del", false},
                                               {"mix:mask=exit,length=del,stop=del", false},
                                               {"mix:mask=del,length=del,stop=threshold", false},
                                               {"mix:mask=del,stop=none,gamma=4", false}}) {
    const auto parsed = parse_strategy(specification, 12);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(del_options(*parsed).honours_length, honours) << specification;
  }
}

// §4.2 and §4.4: layers alone cost, d may be d_max, and the prompt counts before the first round.
TEST(DelRule, IsByDefaultThePapers) {
  DelRule rule({4, 3.0}, {.max = 9});
  EXPECT_TRUE(rule.learns_before_first_round());
  rule.learn(8, [](std::int32_t, std::int32_t) { return ShadowToken{true, 0.5}; });
  EXPECT_EQ(rule.choice().exit, 1);
  EXPECT_EQ(rule.choice().gamma, 9);
  EXPECT_DOUBLE_EQ(rule.choice().tpl, 10.0 / (4 + 9 * 1));
}

TEST(DelRule, ChoosesAmongTheExitsThatItMay) {
  DelRule rule({6, 0.0}, {.max = 9, .exits = {2, 4}});
  EXPECT_EQ(rule.exit(), 2);
  std::vector<std::int32_t> asked;
  rule.learn(1, [&](std::int32_t exit, std::int32_t) {
    asked.push_back(exit);
    return ShadowToken{exit == 4, 0.5};
  });
  EXPECT_EQ(asked, (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(rule.exit(), 4);
  EXPECT_TRUE(std::isnan(rule.statistics()[0].acceptance()));
}

TEST(HeadInLayers, IsTheHeadsWeightsOverALayers) {
  const ModelShape shape{
      .n_layers = 2, .d_model = 8, .n_heads = 2, .n_kv_heads = 1, .head_dim = 4, .d_ff = 16, .vocab = 100};
  EXPECT_DOUBLE_EQ(head_in_layers(shape), 8.0 * 100 / (8.0 * 8 * 2 + 8.0 * 4 * 2 + 3 * 8 * 16));
}

}  // namespace
}  // namespace draftscope::speculation
