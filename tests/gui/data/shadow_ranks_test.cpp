// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the ranks that layers gave to a text's tokens with the rows of the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/details/shadow_ranks.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

class ShadowRanksOfSample : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { open({.seed = GetParam(), .runs = 2, .requests_per_run = 4, .max_rounds = 30}); }

  ShadowRanks read(std::size_t request) {
    auto reader = traces::Reader::open(path_);
    EXPECT_TRUE(reader);
    auto ranks = read_shadow_ranks(*reader, *opened_, request, [] { return true; });
    EXPECT_TRUE(ranks) << ranks.error().message;
    return *std::move(ranks);
  }
};

TEST_P(ShadowRanksOfSample, AreThoseOfTheRows) {
  std::size_t found = 0;
  for (std::size_t request = 0; request < opened_->recording().requests.size(); ++request) {
    const traces::Request& row = opened_->recording().requests[request];
    const ShadowRanks ranks = read(request);
    EXPECT_EQ(ranks.empty(), !opened_->runs()[0].run->is_baseline ||
                                 row.run_id != opened_->runs()[0].run->id || row.tokens.empty());
    const auto prompt = static_cast<std::int32_t>(opened_->prompt_of(row)->tokens.size());
    for (const traces::ShadowToken& shadow : sample_.shadow_tokens) {
      if (shadow.request_id != row.id) continue;
      const auto token = static_cast<std::size_t>(shadow.position - prompt);
      if (token >= row.tokens.size())
        continue;  // the row is about the target's tokens after the end of the text
      const auto layer = std::find(ranks.layers.begin(), ranks.layers.end(), shadow.layer);
      ASSERT_NE(layer, ranks.layers.end());
      EXPECT_EQ(ranks.of_token(token)[static_cast<std::size_t>(layer - ranks.layers.begin())],
                shadow.true_rank);
      ++found;
    }
  }
  EXPECT_GT(found, 0U);
}

TEST_P(ShadowRanksOfSample, GroupConsecutiveLayersOfOneRank) {
  const ShadowRanks ranks = read(0);
  for (std::size_t token = 0; token < opened_->recording().requests[0].tokens.size(); ++token) {
    const std::vector<RankedLayers> groups = ranked_layers(ranks, token);
    std::size_t covered = 0;
    for (std::size_t group = 0; group < groups.size(); ++group) {
      for (std::size_t i = 0; i < ranks.layers.size(); ++i) {
        if (ranks.layers[i] < groups[group].first || ranks.layers[i] > groups[group].last) continue;
        EXPECT_EQ(ranks.of_token(token)[i], groups[group].rank);
        ++covered;
      }
      if (group > 0) {
        EXPECT_NE(groups[group].rank, groups[group - 1].rank);
      }
    }
    EXPECT_EQ(covered, ranks.layers.size());
  }
}

TEST_P(ShadowRanksOfSample, OfTokensThatAreNotThereAreNone) {
  const ShadowRanks ranks = read(0);
  EXPECT_TRUE(ranks.of_token(opened_->recording().requests[0].tokens.size()).empty());
  EXPECT_TRUE(ranked_layers(ShadowRanks{}, 0).empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShadowRanksOfSample, testing::Range(1U, 5U));

TEST(ShadowRanks, LeaveOutLayersWithoutARank) {
  const ShadowRanks ranks{.layers = {2, 4, 6, 8}, .ranks = {3, ShadowRanks::missing, 3, 0}};
  const std::vector<RankedLayers> groups = ranked_layers(ranks, 0);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].last, 2);
  EXPECT_EQ(groups[1].first, 6);
  EXPECT_EQ(groups[2].rank, 0);
}

}  // namespace
}  // namespace draftscope::gui
