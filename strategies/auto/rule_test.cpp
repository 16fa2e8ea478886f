// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the rule in made-up worlds.
#include <gtest/gtest.h>

#include "strategies/auto/rule_test_worlds.h"

namespace draftscope::speculation {
namespace {

TEST(AutoRule, ComesCloseToTheBestDrafter) {
  for (const auto& [costs, shares] :
       {std::pair<std::vector<double>, std::vector<double>>{{0.5, 0.3}, {0.95, 0.7}},
        {{0.3, 0.5}, {0.5, 0.97}},
        {{0.2}, {0.8}}}) {
    const World world{.step_costs = costs, .drafts = right_with(shares), .next = random_text(1)};
    double best = 1.0;
    for (std::size_t i = 0; i < costs.size(); ++i)
      best = std::max(best, best_rate(costs[i], world.row_cost, shares[i]));
    AutoRule rule(options_for(world));
    EXPECT_GT(decode(rule, world, 4000).rate(), 0.95 * best);
  }
}

TEST(AutoRule, IsNeverMuchSlowerThanVanilla) {
  const std::vector<std::pair<const char*, World>> worlds{
      {"drafts that are never right",
       {.step_costs = {0.5, 0.3, 0.9}, .drafts = right_with({0.0, 0.0, 0.0}), .next = random_text(2)}},
      {"drafts that are dearer than the target",
       {.step_costs = {1.5, 2.0}, .drafts = right_with({0.9, 0.99}), .next = random_text(3)}},
      {"drafts that are wrong for 60 tokens behind 60 right ones",
       {.step_costs = {0.5, 0.3},
        .drafts =
            [](std::int32_t /*drafter*/, std::size_t n) {
              return JudgedToken{0.9, n / 60 % 2 == 0};
            },
        .next = random_text(4)}},
      {"drafts that are wrong behind ten right ones",
       {.step_costs = {0.5},
        .drafts =
            [](std::int32_t /*drafter*/, std::size_t n) {
              return JudgedToken{0.9, n % 11 != 10};
            },
        .next = random_text(5)}},
      {"a text that repeats itself and stops every 64 tokens",
       {.step_costs = {},
        .row_cost = 0.1,
        .drafts = nullptr,
        .next =
            [](std::span<const std::int32_t> text) {
              const std::size_t n = text.size();
              std::mt19937 random(static_cast<std::uint32_t>(n));
              return n / 64 % 2 == 0 ? static_cast<std::int32_t>(n % 4)
                                     : static_cast<std::int32_t>(random() % 20000);
            }}},
      {"short ends that occur and lead elsewhere",
       {.step_costs = {},
        .row_cost = 0.15,
        .drafts = nullptr,
        .next = [](std::span<const std::int32_t> text) {
          std::mt19937 random(static_cast<std::uint32_t>(text.size()) + 77);
          return static_cast<std::int32_t>(random() % 6);
        }}}};
  for (const auto& [name, world] : worlds)
    for (const double bits : {0.0, 8.5}) {
      AutoRule rule(options_for(world, bits));
      const Sums sums = decode(rule, world, 3000);
      // The bound consists of the share, the opening, and a trial that cost more than was expected of it.
      EXPECT_LT(sums.time, 1.02 * sums.tokens + 3.0 + 6.0) << name << ", bits " << bits;
    }
}

TEST(AutoRule, FindsWhatTheTextRepeatsWithoutATrial) {
  const World world{.step_costs = {}, .drafts = nullptr, .next = [](std::span<const std::int32_t> text) {
                      return static_cast<std::int32_t>(text.size() % 37);
                    }};
  AutoRule rule(options_for(world));
  EXPECT_GT(decode(rule, world, 1000).rate(), 5.0);
}

TEST(AutoRule, FindsWhatEarlierRequestsSaid) {
  const World world{.step_costs = {}, .drafts = nullptr, .next = [](std::span<const std::int32_t> text) {
                      return static_cast<std::int32_t>(text.size() * text.size());
                    }};
  AutoRule rule(options_for(world));
  EXPECT_LT(decode(rule, world, 200).rate(), 1.05);
  const Sums again = decode(rule, world, 200);
  EXPECT_GT(again.rate(), 4.0);
  EXPECT_TRUE(std::any_of(again.choices.begin(), again.choices.end(),
                          [](const AutoChoice& choice) { return choice.source == TextSource::suffix; }));
}

// The first rounds follow prior knowledge of bits, and later ones the model's behaviour.
TEST(AutoRule, BeginsWithWhatIsKnownOfBits) {
  const World world{.step_costs = {0.55, 0.3}, .drafts = right_with({0.98, 0.9}), .next = random_text(8)};
  AutoOptions options;
  options.drafters = {{.step_cost = 0.53, .bits = 8.5}, {.step_cost = 0.28, .bits = 4.5}};
  AutoRule rule(options);
  const double best = best_rate(0.3, world.row_cost, 0.9);
  EXPECT_GT(decode(rule, world, 330).rate(), 0.9 * best);
  World worse = world;
  worse.drafts = right_with({0.95, 0.2});
  AutoRule other(options);
  EXPECT_GT(decode(other, worse, 600).rate(), 0.9 * best_rate(0.55, world.row_cost, 0.95));
}

TEST(AutoRule, DecidesAsWellOnAMachineWhosePaceChangesOrThatIsInterrupted) {
  struct Case {
    double step_cost;
    std::uint32_t seed;
    std::size_t tokens;
    double (*pace)(std::int64_t round);
    double share;  ///< Share of the rate on a steady machine.
  };
  const Case cases[] = {
      {0.4, 7, 4000, [](std::int64_t round) { return round / 50 % 2 == 0 ? 1e6 : 2.5e6; }, 0.95},
      // Its first drafts run while the machine happens to be ten times as slow.
      {0.3, 10, 4000, [](std::int64_t round) { return round >= 2 && round < 8 ? 1e7 : 1e6; }, 0.9},
      {0.3, 11, 3000, [](std::int64_t round) { return round % 10 == 7 ? 6e6 : 1e6; }, 0.9}};
  for (const Case& one : cases) {
    World world{.step_costs = {one.step_cost}, .drafts = right_with({0.9}), .next = random_text(one.seed)};
    AutoRule steady(options_for(world));
    const double expected = decode(steady, world, one.tokens).rate();
    world.pace = one.pace;
    AutoRule shaken(options_for(world));
    EXPECT_GT(decode(shaken, world, one.tokens).rate(), one.share * expected) << one.seed;
  }
}

TEST(AutoRule, DraftsNothingBehindTheLastToken) {
  const World world{.step_costs = {0.1}, .drafts = right_with({0.99}), .next = random_text(9)};
  AutoRule rule(options_for(world));
  (void)decode(rule, world, 300);
  const std::vector<std::int32_t> text{1, 2, 3};
  rule.begin_request(text, 10);
  EXPECT_EQ(rule.choose(text, 0).reason, AutoChoice::Reason::no_room);
  EXPECT_LE(rule.choose(text, 2).length, 2);
}

}  // namespace
}  // namespace draftscope::speculation
