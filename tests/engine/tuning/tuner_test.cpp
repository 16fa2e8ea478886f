// SPDX-License-Identifier: GPL-3.0-or-later
// The search loop on scores that a formula gives.

#include <draftscope/engine/tuning/grid_settings.h>
#include <draftscope/engine/tuning/grid_source.h>
#include <draftscope/engine/tuning/skip_set_source.h>
#include <draftscope/engine/tuning/tuner.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <span>

#include "temporary_folder.h"

namespace draftscope::engine {
namespace {

constexpr std::int32_t n_layers = 6;
constexpr std::int32_t prompts = 9;

Policy empty_policy() {
  speculation::ModelShape shape;
  shape.n_layers = n_layers;
  return {.model = model_facts(shape, "hash")};
}

std::unique_ptr<CandidateSource> skip_set_source() {
  auto made = SkipSetSource::create({.base = "draft-verify",
                                     .probes = draft_verify_probes(n_layers),
                                     .trials = 12,
                                     .prompts = prompts,
                                     .seed = 7},
                                    n_layers);
  EXPECT_TRUE(made) << made.error().message;
  return std::make_unique<SkipSetSource>(*std::move(made));
}

std::unique_ptr<CandidateSource> grid_source() {
  std::vector<std::string> settings;
  for (std::int32_t exit = 1; exit < n_layers; ++exit)
    for (std::int32_t gamma = 1; gamma < 4; ++gamma)
      settings.push_back(fmt::format("layerskip:exit={},gamma={}", exit, gamma));
  return std::make_unique<GridSource>(std::move(settings), prompts, 3);
}

using MakeSource = std::function<std::unique_ptr<CandidateSource>()>;

class Tuner : public ::testing::TestWithParam<std::pair<const char*, MakeSource>> {
 protected:
  /// Any deterministic score.
  static Measurement score_of(const std::string& setting, std::int32_t count) {
    return {.score = 0.5 + static_cast<double>(std::hash<std::string>{}(setting) % 997U) / 997.0,
            .acceptance_rate = 0.5,
            .tokens_per_round = 1.0 + count};
  }
  /// Runs until `measurements` were made.
  Result<bool> run(const std::string& name, Policy& policy, std::int32_t measurements = 1 << 20,
                   std::int32_t finalists = 3) {
    const auto source = GetParam().second();
    return tune({.source = *source,
                 .measure = [&](const std::string& setting,
                                std::int32_t count) -> Result<std::optional<Measurement>> {
                   if (measurements-- == 0) return std::nullopt;
                   return score_of(setting, count);
                 },
                 .prompts = prompts,
                 .finalists = finalists,
                 .output = folder_ / name},
                policy);
  }
  test::TemporaryFolder folder_;
};

TEST_P(Tuner, GoesOnWhereItWasInterruptedWhereverThatWas) {
  Policy whole = empty_policy();
  ASSERT_TRUE(run("whole.json", whole).value());
  ASSERT_TRUE(whole.finished);
  ASSERT_EQ(whole.finalists.size(), 3U);
  const auto measured = static_cast<std::int32_t>(whole.trials.size() + 3 * whole.repeats.size());
  for (std::int32_t stop = 0; stop < measured; ++stop) {
    Policy part = empty_policy();
    ASSERT_FALSE(run("part.json", part, stop).value());
    auto saved = read_policy(folder_ / "part.json");
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_FALSE(saved->finished);
    EXPECT_EQ(saved->trials.size(), std::min<std::size_t>(stop, whole.trials.size()));
    ASSERT_TRUE(run("part.json", *saved).value());
    EXPECT_EQ(policy_json(*saved), policy_json(whole)) << stop;
  }
}

TEST_P(Tuner, ChoosesTheBestOfItsLongestTrials) {
  Policy policy = empty_policy();
  ASSERT_TRUE(run("policy.json", policy).value());
  double best = 0.0;
  for (const Trial& trial : policy.trials) best = std::max(best, trial.measured.score);
  EXPECT_EQ(score_of(policy.strategy, prompts).score, best);
  EXPECT_EQ(policy.repeats.size(), 5U);
}

TEST_P(Tuner, LetsTheHighestMedianOfTheFinalsWinAsBruteForceDoes) {
  std::mt19937 random(5);
  std::int32_t overturned = 0;
  for (const std::int32_t finalists : {1, 2, 3, 4, 3, 3, 3, 1000}) {
    Policy policy = empty_policy();
    const auto source = GetParam().second();
    std::vector<std::pair<std::string, double>> asked;
    ASSERT_TRUE(tune({.source = *source,
                      .measure = [&](const std::string& setting,
                                     std::int32_t /*count*/) -> Result<std::optional<Measurement>> {
                        asked.emplace_back(setting, std::uniform_real_distribution<double>(0.5, 2.0)(random));
                        return Measurement{.score = asked.back().second, .tokens_per_round = 1.0};
                      },
                      .prompts = prompts,
                      .repeats = 6,
                      .finalists = finalists,
                      .output = folder_ / "noisy.json"},
                     policy)
                    .value());
    // Among the trials on most prompts first, then among shorter ones, the best that is not there yet.
    std::vector<std::string> best;
    for (const std::int32_t looked_at : {9, 3, 1}) {
      std::vector<std::pair<double, std::string>> trials;
      for (const Trial& trial : policy.trials)
        if (trial.prompts == looked_at) trials.emplace_back(-trial.measured.score, trial.setting);
      std::sort(trials.begin(), trials.end());
      for (const auto& [score, setting] : trials)
        if (best.size() < static_cast<std::size_t>(finalists) &&
            std::find(best.begin(), best.end(), setting) == best.end())
          best.push_back(setting);
    }
    // Six times each, every one once before any is measured once more.
    const auto finals = std::span(asked).subspan(policy.trials.size());
    ASSERT_EQ(finals.size(), best.size() * 6);
    std::map<std::string, std::vector<double>> scores;
    for (std::size_t i = 0; i < finals.size(); ++i) {
      EXPECT_EQ(scores[finals[i].first].size(), i / best.size());
      scores[finals[i].first].push_back(finals[i].second);
    }
    std::string winner;
    double highest = 0.0;
    for (const std::string& setting : best) {
      std::vector<double> sorted = scores[setting];
      ASSERT_EQ(sorted.size(), 6U);
      std::sort(sorted.begin(), sorted.end());
      const double median = (sorted[2] + sorted[3]) / 2.0;
      if (median > highest) highest = median, winner = setting;
    }
    EXPECT_EQ(policy.strategy, winner);
    EXPECT_DOUBLE_EQ(score_spread(policy.repeats)->median, highest);
    ASSERT_EQ(policy.finalists.size(), best.size());
    EXPECT_EQ(policy.finalists.front(), (Finalist{winner, policy.repeats}));
    EXPECT_TRUE(std::is_sorted(policy.finalists.begin(), policy.finalists.end(), [](auto& a, auto& b) {
      return score_spread(a.repeats)->median > score_spread(b.repeats)->median;
    }));
    for (const Trial& trial : policy.trials)
      if (trial.setting == winner) {
        EXPECT_EQ(policy.skip_set.has_value(), trial.candidate.has_value());
        if (trial.candidate) {
          EXPECT_EQ(policy.skip_set, trial.candidate->mask);
        }
      }
    const auto read = read_policy(folder_ / "noisy.json");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->finalists, policy.finalists);
    overturned += winner != best.front() ? 1 : 0;
  }
  EXPECT_GT(overturned, 0);
}

TEST_P(Tuner, HasNothingToDoWhenItIsFinished) {
  Policy policy = empty_policy();
  ASSERT_TRUE(run("policy.json", policy).value());
  const std::string before = policy_json(policy);
  EXPECT_TRUE(run("policy.json", policy, 0).value());
  EXPECT_EQ(policy_json(policy), before);
}

TEST_P(Tuner, RefusesTrialsOfAnotherSearch) {
  Policy policy = empty_policy();
  policy.trials.push_back({.setting = "vanilla", .prompts = 1});
  const auto result = run("policy.json", policy);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("'vanilla'"));
}

TEST_P(Tuner, FailsBeforeTheFirstTrialWhereItCannotWrite) {
  Policy policy = empty_policy();
  EXPECT_FALSE(run("absent/policy.json", policy));
  EXPECT_TRUE(policy.trials.empty());
}

INSTANTIATE_TEST_SUITE_P(Sources, Tuner,
                         ::testing::Values(std::pair<const char*, MakeSource>{"SkipSet", skip_set_source},
                                           std::pair<const char*, MakeSource>{"Grid", grid_source}),
                         [](const auto& test) { return std::string(test.param.first); });

TEST(GridSettings, VaryWhatABaseHasAndLeavesOpen) {
  speculation::ModelShape shape;
  shape.n_layers = 12;
  const Grid grid{{"layerskip:exit=5", "dv", "layerskip:exit=5,gamma=2"}, {3, 7}, {2, 4}, {0.5}};
  const auto settings = grid_settings(grid, shape);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(*settings,
              ::testing::ElementsAre("layerskip:exit=5,gamma=2", "layerskip:exit=5,gamma=4",
                                     "dv:exit=3,gamma=2,threshold=0.5", "dv:exit=3,gamma=4,threshold=0.5",
                                     "dv:exit=7,gamma=2,threshold=0.5", "dv:exit=7,gamma=4,threshold=0.5"));
  EXPECT_FALSE(grid_settings({{"layerskip"}, {12}, {2}, {}}, shape));
  EXPECT_FALSE(grid_settings({{"turbo"}, {1}, {2}, {}}, shape));
}

TEST(GridSettings, AreDrawnWithoutReplacementInTheirOrder) {
  std::vector<std::string> all;
  for (char letter = 'a'; letter <= 'z'; ++letter) all.emplace_back(1, letter);
  const auto sample = sample_settings(all, 9, 3);
  EXPECT_EQ(sample.size(), 9U);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end()));
  EXPECT_EQ(std::adjacent_find(sample.begin(), sample.end()), sample.end());
  EXPECT_EQ(sample, sample_settings(all, 9, 3));
  EXPECT_NE(sample, sample_settings(all, 9, 4));
  EXPECT_EQ(sample_settings(all, 26, 1), all);
}

}  // namespace
}  // namespace draftscope::engine
