// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the search loop on scores that a formula gives.

#include <draftscope/engine/tuning/grid_settings.h>
#include <draftscope/engine/tuning/grid_source.h>
#include <draftscope/engine/tuning/skip_set_source.h>
#include <draftscope/engine/tuning/tuner.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>

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

/// Scored by decoding, or teacher-forced after a ranking of the sublayers.
template <bool Ranked>
std::unique_ptr<CandidateSource> skip_set_source() {
  auto made = SkipSetSource::create({.base = "draft-verify",
                                     .probes = draft_verify_probes(n_layers),
                                     .trials = 12,
                                     .prompts = prompts,
                                     .seed = 7,
                                     .scored_by = Ranked ? ScoredBy::teacher_forced : ScoredBy::decoded,
                                     .ranks_sublayers = Ranked},
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
  /// A deterministic score of a setting.
  static Measurement score_of(const std::string& setting, std::int32_t count) {
    return {.score = 0.5 + static_cast<double>(std::hash<std::string>{}(setting) % 997U) / 997.0,
            .acceptance_rate = 0.5,
            .tokens_per_round = 1.0 + count};
  }
  /// Runs with these scores.
  Result<bool> run(const std::string& name, Policy& policy, Measure measure, Score score,
                   std::int32_t finalists, std::int32_t repeats = 5) {
    const auto source = GetParam().second();
    return tune({.source = *source,
                 .measure = std::move(measure),
                 .score = std::move(score),
                 .prompts = prompts,
                 .repeats = repeats,
                 .finalists = finalists,
                 .output = folder_ / name},
                policy);
  }
  /// Runs until `measurements` measurements were made.
  Result<bool> run(const std::string& name, Policy& policy, std::int32_t measurements = 1 << 20) {
    const auto measured = [&](const std::string& setting, std::int32_t count) {
      if (measurements-- == 0) return std::optional<Measurement>();
      ++measured_;
      return std::optional(score_of(setting, count));
    };
    const auto scored = [&](const Proposed& proposed, double /*floor*/) {
      const auto one = measured(proposed.setting, prompts);
      if (!one) return std::optional<TeacherForcedScore>();
      return std::optional(TeacherForcedScore{*one, proposed.one_pass ? 1 : prompts, one->score / 2.0});
    };
    return run(name, policy, measured, scored, 3);
  }
  test::TemporaryFolder folder_;
  std::int32_t measured_ = 0;  ///< total over all runs
};

TEST_P(Tuner, GoesOnWhereItWasInterruptedWhereverThatWas) {
  Policy whole = empty_policy();
  ASSERT_TRUE(run("whole.json", whole).value());
  ASSERT_TRUE(whole.finished);
  ASSERT_EQ(whole.finalists.size(), 3U);
  // The tuner already knows the teacher-forced score of a repeated setting.
  const std::int32_t measured = measured_;
  const auto known = static_cast<std::int32_t>(whole.trials.size() + 3 * whole.repeats.size()) - measured;
  EXPECT_LE(known, GetParam().first == std::string("RankedSkipSet") ? 12 : 0);
  for (std::int32_t stop = 0; stop < measured; ++stop) {
    Policy part = empty_policy();
    ASSERT_FALSE(run("part.json", part, stop).value());
    auto saved = read_policy(folder_ / "part.json");
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_FALSE(saved->finished);
    EXPECT_GE(saved->trials.size(),
              std::min<std::size_t>(stop, whole.trials.size() - static_cast<std::size_t>(known)));
    EXPECT_LE(saved->trials.size(),
              std::min<std::size_t>(stop + static_cast<std::size_t>(known), whole.trials.size()));
    ASSERT_TRUE(run("part.json", *saved).value());
    EXPECT_EQ(policy_json(*saved), policy_json(whole)) << stop;
    EXPECT_TRUE(run("part.json", *saved, 0).value()) << "there is nothing left to do";
    EXPECT_EQ(policy_json(*saved), policy_json(whole)) << stop;
  }
}

TEST_P(Tuner, LetsTheHighestMedianOfTheFinalsWinAsBruteForceDoes) {
  std::mt19937 random(5);
  std::int32_t overturned = 0;
  for (const std::int32_t finalists : {1, 2, 3, 4, 3, 3, 3, 1000}) {
    Policy policy = empty_policy();
    std::vector<std::pair<std::string, double>> asked;
    const auto measured = [&](const std::string& setting, std::int32_t /*count*/) {
      asked.emplace_back(setting, std::uniform_real_distribution<double>(0.5, 2.0)(random));
      return Measurement{.score = asked.back().second, .tokens_per_round = 1.0};
    };
    const auto scored = [&](const Proposed& proposed, double /*floor*/) {
      const Measurement one = measured(proposed.setting, prompts);
      return TeacherForcedScore{one, proposed.one_pass ? 1 : prompts, 0.5};
    };
    ASSERT_TRUE(run("noisy.json", policy, measured, scored, finalists, 6).value());
    // Choose the best new settings among the trials on most prompts, then among those on fewer.
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
    // Every finalist is measured six times, and each once before any is measured again.
    ASSERT_GE(asked.size(), best.size() * 6);
    const auto finals = std::span(asked).last(best.size() * 6);
    if (GetParam().first == std::string("RankedSkipSet")) {
      EXPECT_LE(asked.size() - finals.size(), policy.trials.size());
    } else {
      EXPECT_EQ(asked.size() - finals.size(), policy.trials.size());
    }
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
    // Vanilla becomes a finalist where nothing beats it, and counts as 1.
    const bool pays = highest > 1.0;
    if (!pays) winner = "vanilla", highest = 1.0;
    EXPECT_EQ(policy.strategy, winner);
    EXPECT_DOUBLE_EQ(score_spread(policy.repeats)->median, highest);
    ASSERT_EQ(policy.finalists.size(), best.size() + (pays ? 0 : 1));
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

TEST_P(Tuner, SaysVanillaWhereNoFinalistIsFaster) {
  for (const double score : {0.5, 1.0, 1.0001}) {
    Policy policy = empty_policy();
    const auto measured = [&](const std::string&, std::int32_t) {
      return Measurement{score, 8.0 * score, 8.0, 0.5, 1.5};
    };
    // The scores promise a gain that the measurements do not show.
    const auto promised = [](const Proposed&, double) {
      return TeacherForcedScore{{.score = 3.0}, prompts, 1.0};
    };
    ASSERT_TRUE(run("slow.json", policy, measured, promised, 2).value());
    EXPECT_EQ(policy.strategy == "vanilla", score <= 1.0) << score;
    if (score > 1.0) continue;
    EXPECT_FALSE(policy.skip_set);
    ASSERT_EQ(policy.finalists.size(), 3U);
    EXPECT_EQ(policy.finalists.front(), (Finalist{"vanilla", policy.repeats}));
    ASSERT_EQ(policy.repeats.size(), 5U);
    EXPECT_EQ(policy.repeats.front(), (Measurement{1.0, 8.0, 8.0, 0.0, 1.0}));
    EXPECT_EQ(policy_json(read_policy(folder_ / "slow.json").value()), policy_json(policy));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sources, Tuner,
    ::testing::Values(std::pair<const char*, MakeSource>{"SkipSet", skip_set_source<false>},
                      std::pair<const char*, MakeSource>{"RankedSkipSet", skip_set_source<true>},
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

TEST(OpenParameters, AreThoseOfABaseThatItDoesNotSet) {
  speculation::ModelShape shape;
  shape.n_layers = 12;
  const auto free = open_parameters("dv", shape);
  ASSERT_TRUE(free) << free.error().message;
  EXPECT_THAT(*free, ::testing::IsSupersetOf({"exit", "gamma", "threshold"}));
  std::string base = "dv:verify=above-exit";
  std::set<std::string> left = *free;
  left.erase("verify");
  for (const char* given : {"exit=5", "gamma=2", "threshold=0.5"}) {
    base += std::string(",") + given;
    left.erase(std::string(given, std::string_view(given).find('=')));
    const auto open = open_parameters(base, shape);
    ASSERT_TRUE(open) << open.error().message;
    EXPECT_EQ(*open, left) << base;
  }
  EXPECT_FALSE(open_parameters("turbo", shape));
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
