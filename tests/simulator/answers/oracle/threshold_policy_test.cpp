// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "answers/oracle/oracle.h"
#include "answers/oracle/text_rounds.h"
#include "answers/oracle/threshold_policy.h"
#include "random_text.h"

namespace draftscope::simulator {
namespace {

TEST(ConfidenceThreshold, OfZeroIsTheFixedSetting) {
  std::mt19937 random(31);
  for (int trial = 0; trial < 40; ++trial) {
    const ShadowTable table = random_text(random, {.positions = 80, .ended_at_eos = trial % 2 == 0});
    const auto rounds = replay(table, ConfidenceThreshold{.exit = 2, .longest = 5, .threshold = 0.0});
    ASSERT_TRUE(rounds);
    const RoundStatistics fixed = fixed_setting(table, {2, 5});
    EXPECT_EQ(rounds->most, fixed);
    if (!table.ended_at_eos) {
      EXPECT_EQ(rounds->modelled, fixed);
    }
  }
}

TEST(ConfidenceThreshold, AboveEveryConfidenceDraftsOneTokenARound) {
  std::mt19937 random(32);
  const ShadowTable table = random_text(random, {.positions = 80});
  const auto rounds = replay(table, ConfidenceThreshold{.exit = 1, .longest = 5, .threshold = 1.5});
  ASSERT_TRUE(rounds);
  EXPECT_EQ(rounds->status(), AnswerStatus::exact);
  EXPECT_EQ(rounds->modelled, fixed_setting(table, {1, 1}));
}

/// The confidences after a rejected token are invented. They differ from the table's, and a replay may depend
/// on them only in its modelled part.
TEST(ConfidenceThreshold, BoundsWhatOtherConfidencesOffTheTextWouldGive) {
  std::mt19937 random(33);
  std::int64_t exact = 0;
  std::int64_t bounded = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ShadowTable table = random_text(random, {.positions = 100});
    const ConfidenceThreshold rule{.exit = 2, .longest = 6, .threshold = uniform(random, 0.2, 0.8)};
    const auto rounds = replay(table, rule);
    ASSERT_TRUE(rounds);
    RoundStatistics live;
    for (std::int32_t position = table.first; position < table.end();) {
      const std::int32_t allowed = std::min(rule.longest, table.end() - position - 1);
      bool on_text = true;
      std::int32_t accepted = 0;
      std::int32_t drafted = 0;
      while (drafted < allowed) {
        const ShadowCell& cell = table.cell(position + drafted, rule.exit);
        const float confidence = on_text ? cell.probability : static_cast<float>(uniform(random, 0.0, 1.0));
        on_text = on_text && cell.true_rank == 0;
        accepted += on_text ? 1 : 0;
        ++drafted;
        if (confidence < static_cast<float>(rule.threshold)) break;
      }
      ++live.rounds;
      live.drafted += drafted;
      live.accepted += accepted;
      position += accepted + 1;
    }
    EXPECT_EQ(rounds->modelled.rounds, live.rounds);
    EXPECT_EQ(rounds->modelled.accepted, live.accepted);
    EXPECT_LE(rounds->least.drafted, live.drafted);
    EXPECT_GE(rounds->most.drafted, live.drafted);
    EXPECT_LE(rounds->least.drafted, rounds->modelled.drafted);
    EXPECT_GE(rounds->most.drafted, rounds->modelled.drafted);
    EXPECT_EQ(rounds->starts.size(), static_cast<std::size_t>(live.rounds));
    EXPECT_EQ(rounds->modelled.tokens, table.end() - table.first);
    exact += live.rounds - rounds->bounded_rounds;
    bounded += rounds->bounded_rounds;
  }
  EXPECT_GT(exact, 0);
  EXPECT_GT(bounded, 0);
}

TEST(PrefixThreshold, GoesOnWhileTheProductOfAcceptancesIsEnough) {
  std::mt19937 random(34);
  for (int trial = 0; trial < 40; ++trial) {
    const ShadowTable table = random_text(random, {.positions = 80});
    PrefixThreshold rule{.model = {.exit = 2, .edges = {0.4, 0.7}, .acceptance = {0.2, 0.6, 0.9}},
                         .longest = 5,
                         .min_acceptance = {4, std::vector<double>(3, uniform(random, 0.1, 0.9))}};
    const auto rounds = replay(table, rule);
    ASSERT_TRUE(rounds);
    std::int64_t drafts = 0;
    for (std::int32_t position = table.first; position < table.end();) {
      const std::int32_t allowed = std::min(rule.longest, table.end() - position - 1);
      double prefix = 1.0;
      std::int32_t accepted = 0;
      bool on_text = true;
      for (std::int32_t drafted = 0; drafted < allowed;) {
        const ShadowCell& cell = table.cell(position + drafted, 2);
        ++drafts;
        ++drafted;
        on_text = on_text && cell.true_rank == 0;
        accepted += on_text ? 1 : 0;
        const auto confidence = static_cast<double>(cell.probability);
        prefix *= confidence < 0.4 ? 0.2 : confidence < 0.7 ? 0.6 : 0.9;
        if (prefix < rule.min_acceptance[0][0]) break;
      }
      position += accepted + 1;
    }
    EXPECT_EQ(rounds->modelled.drafted, drafts);
  }
}

TEST(ConfidenceModel, CountsMatchesInBinsOfEqualSize) {
  std::mt19937 random(36);
  const ShadowTable table = random_text(random, {.positions = 4000});
  const std::array<ConfidenceSample, 1> samples{ConfidenceSample{&table, {}}};
  const auto model = fit_confidence_model(samples, 2, 8);
  ASSERT_TRUE(model);
  ASSERT_EQ(model->edges.size(), 7U);
  std::vector<double> seen(8);
  std::vector<double> matched(8);
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    const ShadowCell& cell = table.cell(position, 2);
    const std::size_t bin = model->bin(static_cast<double>(cell.probability));
    seen[bin] += 1.0;
    matched[bin] += cell.true_rank == 0 ? 1.0 : 0.0;
  }
  for (std::size_t bin = 0; bin < 8; ++bin) {
    EXPECT_NEAR(seen[bin], 500.0, 2.0);
    EXPECT_NEAR(model->acceptance[bin], matched[bin] / seen[bin], 1.0 / 500.0);
    EXPECT_NEAR(model->start[bin], seen[bin] / 4000.0, 1e-9);
    EXPECT_NEAR(std::accumulate(model->next[bin].begin(), model->next[bin].end(), 0.0), 1.0, 1e-12);
  }
  EXPECT_GT(model->acceptance.back(), model->acceptance.front());
}

TEST(ConfidenceModel, LearnsWhereRoundsStart) {
  std::mt19937 random(37);
  const ShadowTable table = random_text(random, {.positions = 2000});
  std::vector<std::int32_t> starts;
  for (std::int32_t position = table.first; position < table.end(); ++position)
    if (table.cell(position, 2).probability > 0.6F) starts.push_back(position);
  const std::array<ConfidenceSample, 1> samples{ConfidenceSample{&table, starts}};
  const auto model = fit_confidence_model(samples, 2, 4);
  ASSERT_TRUE(model);
  double high = 0.0;
  for (std::size_t bin = model->bin(0.6); bin < model->start.size(); ++bin) high += model->start[bin];
  EXPECT_GT(high, 0.99);
}

TEST(ConfidenceModel, NeedsPositions) {
  std::mt19937 random(38);
  const ShadowTable empty = random_text(random, {.positions = 0});
  const ShadowTable table = random_text(random, {});
  const std::array<ConfidenceSample, 1> nothing{ConfidenceSample{&empty, {}}};
  const std::array<ConfidenceSample, 1> something{ConfidenceSample{&table, {}}};
  EXPECT_FALSE(fit_confidence_model(nothing, 1));
  EXPECT_TRUE(fit_confidence_model(something, 3, 1));
}

}  // namespace
}  // namespace draftscope::simulator
