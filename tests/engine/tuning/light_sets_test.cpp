// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the sets that a ranking of single sublayers gives, and the order in which the search proposes them.

#include "tuning/light_sets.h"
#include <draftscope/engine/tuning/skip_set_source.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace draftscope::engine {
namespace {

using speculation::SublayerMask;

std::vector<std::int32_t> skipped_sublayers(const SublayerMask& mask) {
  std::vector<std::int32_t> sublayers;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    if (!mask.runs_attention(layer)) sublayers.push_back(layer);
    if (!mask.runs_mlp(layer)) sublayers.push_back(mask.n_layers() + layer);
  }
  return sublayers;
}

std::vector<double> random_agreements(std::int32_t n_layers, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> agreements(2 * static_cast<std::size_t>(n_layers));
  for (double& agreement : agreements) agreement = static_cast<double>(random() % 50U) / 50.0;
  return agreements;
}

TEST(LightSets, SkipTheSublayersOfHighestAgreement) {
  for (const std::int32_t n_layers : {1, 2, 4, 12, 30, 80, 126})
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
      const std::vector<double> agreements = random_agreements(n_layers, seed);
      const std::vector<SublayerMask> sets = light_sets(agreements);
      ASSERT_FALSE(sets.empty());
      EXPECT_EQ(sets.front(), SublayerMask(n_layers));
      for (const SublayerMask& set : sets) {
        EXPECT_EQ(std::count(sets.begin(), sets.end(), set), 1);
        const std::vector<std::int32_t> skipped = skipped_sublayers(set);
        EXPECT_LE(static_cast<double>(skipped.size()), std::ceil(0.1 * 2 * n_layers));
        if (skipped.empty()) continue;
        const bool attentions =
            std::all_of(skipped.begin(), skipped.end(), [&](std::int32_t one) { return one < n_layers; });
        double worst = 1.0;
        for (const std::int32_t one : skipped)
          worst = std::min(worst, agreements[static_cast<std::size_t>(one)]);
        // No sublayer that it could have skipped instead is better.
        for (std::int32_t other = 0; other < (attentions ? n_layers : 2 * n_layers); ++other)
          if (std::find(skipped.begin(), skipped.end(), other) == skipped.end()) {
            EXPECT_LE(agreements[static_cast<std::size_t>(other)], worst);
          }
      }
    }
}

TEST(LightSets, HoldOneFiveAndTenPerCentOfBothKindsAndOfAttentionsAlone) {
  const auto sizes_of = [](std::int32_t n_layers) {
    std::vector<double> agreements = random_agreements(n_layers, 1);
    // Rank MLPs before attentions, so that no attention is among the first of both kinds.
    for (std::size_t i = agreements.size() / 2; i < agreements.size(); ++i) agreements[i] += 1.0;
    std::multiset<std::size_t> sizes;
    for (const SublayerMask& set : light_sets(agreements)) sizes.insert(skipped_sublayers(set).size());
    return sizes;
  };
  EXPECT_EQ(sizes_of(80), (std::multiset<std::size_t>{0, 2, 2, 8, 8, 16, 16}));
  EXPECT_EQ(sizes_of(30), (std::multiset<std::size_t>{0, 1, 1, 3, 3, 6, 6}));
  EXPECT_EQ(sizes_of(4), (std::multiset<std::size_t>{0, 1, 1}));
}

TEST(SingleSublayers, AreEachOnceInTheRankingsOrder) {
  const std::vector<SublayerMask> sets = single_sublayers(5);
  ASSERT_EQ(sets.size(), 10U);
  for (std::size_t i = 0; i < sets.size(); ++i)
    EXPECT_THAT(skipped_sublayers(sets[i]), ::testing::ElementsAre(static_cast<std::int32_t>(i)));
}

TEST(SkipSetSource, RanksFirstThenStartsLight) {
  constexpr std::int32_t n_layers = 20;
  const std::vector<double> agreements = random_agreements(n_layers, 3);
  const std::vector<SublayerMask> probes = draft_verify_probes(n_layers);
  auto source = SkipSetSource::create({.base = "draft-verify",
                                       .probes = probes,
                                       .trials = 14,
                                       .prompts = 2,
                                       .scored_by = ScoredBy::teacher_forced,
                                       .ranks_sublayers = true},
                                      n_layers);
  ASSERT_TRUE(source) << source.error().message;
  std::vector<SublayerMask> expected = single_sublayers(n_layers);
  for (const SublayerMask& set : light_sets(agreements)) expected.push_back(set);
  expected.insert(expected.end(), probes.begin(), probes.end());
  std::size_t trials = 0;
  while (const auto proposed = source->next()) {
    ASSERT_TRUE(proposed->candidate);
    const bool single = trials < agreements.size();
    if (trials < expected.size()) {
      EXPECT_EQ(proposed->candidate->mask, expected[trials]) << trials;
      EXPECT_EQ(proposed->candidate->origin, single ? CandidateOrigin::single : CandidateOrigin::probe);
    }
    EXPECT_EQ(proposed->one_pass, single);
    EXPECT_EQ(proposed->scored_by, ScoredBy::teacher_forced);
    Trial trial{proposed->setting, 2, {.score = 0.5}, proposed->candidate, proposed->scored_by, 0.5};
    if (single) trial.agreement = agreements[trials];
    ASSERT_TRUE(source->observe(trial));
    ++trials;
  }
  EXPECT_EQ(trials, agreements.size() + 14);
  EXPECT_GT(trials, expected.size());
}

TEST(SkipSetSource, RefusesARankingsTrialsInAnotherOrderOrScoredOtherwise) {
  const SkipSetSearch search{.base = "draft-verify",
                             .trials = 1,
                             .prompts = 1,
                             .scored_by = ScoredBy::teacher_forced,
                             .ranks_sublayers = true};
  const auto refuses = [&](auto change) {
    auto source = SkipSetSource::create(search, 4);
    const auto proposed = source->next();
    Trial trial{proposed->setting, 1, {.score = 0.5}, proposed->candidate, proposed->scored_by, 0.5};
    change(trial);
    return !source->observe(trial);
  };
  EXPECT_FALSE(refuses([](Trial&) {}));
  EXPECT_TRUE(refuses([](Trial& trial) { trial.agreement.reset(); }));
  EXPECT_TRUE(refuses([](Trial& trial) { trial.scored_by = ScoredBy::decoded; }));
  EXPECT_TRUE(refuses([](Trial& trial) {
    trial.candidate->mask = SublayerMask(4).skip_mlp(3);
    trial.setting = with_skip_set("draft-verify", trial.candidate->mask);
  }));
}

}  // namespace
}  // namespace draftscope::engine
