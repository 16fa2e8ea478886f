// SPDX-License-Identifier: GPL-3.0-or-later
// Checks the comparison of all runs with one against the report's comparison.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "data/details/run_comparison.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

class RunsThatLack : public OfSample {
 protected:
  void open_without(const char* data) {
    open({.seed = 1, .runs = 3, .requests_per_run = 9, .max_rounds = 50},
         fmt::format("INSERT OR REPLACE INTO meta VALUES ('lacks', '[\"{}\"]')", data));
    for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
      runs_.push_back({opened_, run});
      if (opened_->runs()[run].run->is_baseline) baseline_ = run;
    }
    compared_ = compare(runs_, baseline_);
    ASSERT_GT(compared_.shared_requests, 0U);
  }

  std::vector<ComparedRun> runs_;
  std::size_t baseline_ = 0;
  RunsComparison compared_;
};

TEST_F(RunsThatLack, WallTimesHaveNoRatioAndNoWinner) {
  open_without("wall times");
  for (const RunAgainstBaseline& run : compared_.runs) {
    EXPECT_FALSE(run.ratio);
    EXPECT_EQ(run.prompts, 0U);
    EXPECT_EQ(run.identity.has_value(), !run.is_baseline);
  }
  const AllRuns all = all_runs({opened_}, runs_[baseline_]);
  EXPECT_TRUE(all.winners.empty());
  ASSERT_EQ(all.runs.size(), 1U);
  EXPECT_TRUE(all.runs.front().is_baseline);
}

TEST_F(RunsThatLack, FirstTokenTimesHaveNoDecodeRatio) {
  open_without("first token times");
  for (const RunAgainstBaseline& run : compared_.runs) {
    if (run.is_baseline) continue;
    ASSERT_TRUE(run.ratio);
    EXPECT_FALSE(run.ratio->decode_value);
    EXPECT_FALSE(run.ratio->decode_interval);
  }
}

TEST_F(RunsThatLack, TokenIdsAreNotSaidToHaveOneText) {
  open_without("token ids");
  for (const RunAgainstBaseline& run : compared_.runs) {
    EXPECT_FALSE(run.identity);
    EXPECT_EQ(run.ratio.has_value(), !run.is_baseline);
  }
}

class AllRunsOf : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    open({.seed = GetParam(), .runs = 5, .requests_per_run = 9, .max_rounds = 20});
    for (std::size_t run = 0; run < opened_->runs().size(); ++run)
      if (opened_->runs()[run].run->is_baseline) baseline_ = {opened_, run};
  }

  ComparedRun baseline_;
};

TEST_P(AllRunsOf, HaveTheWinnersThatTheReportNames) {
  ASSERT_NE(baseline_.recording, nullptr);
  const AllRuns all = all_runs({opened_}, baseline_);
  const std::vector<simulator::Winner> winners = simulator::winners(opened_->recording());
  ASSERT_EQ(all.winners.size(), winners.size());
  for (std::size_t i = 0; i < winners.size(); ++i) {
    EXPECT_EQ(all.winners[i].category, winners[i].category);
    EXPECT_EQ(&all.runs[all.winners[i].run].run.row(), winners[i].run) << winners[i].category;
    EXPECT_EQ(all.winners[i].is_clear, is_clear(winners[i])) << winners[i].category;
  }
}

TEST_P(AllRunsOf, HaveTheGainsOfTheComparisonWhateverTheBaseline) {
  for (std::size_t base = 0; base < opened_->runs().size(); ++base) {
    const AllRuns all = all_runs({opened_}, {opened_, base});
    for (const RunStanding& standing : all.runs) {
      if (standing.is_baseline) {
        EXPECT_EQ(standing.run.run, base);
        continue;
      }
      const RunsComparison pair = compare({{opened_, base}, standing.run}, 0);
      ASSERT_TRUE(pair.runs[1].ratio);
      EXPECT_EQ(standing.ratio->value, pair.runs[1].ratio->value);
      EXPECT_EQ(standing.by_prompt.size(), pair.runs[1].prompts);
      EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(
                    standing.by_prompt, [](const PromptGain& gain) { return gain.ratio > 1.0; })),
                pair.runs[1].faster_prompts);
      for (const PromptGain& gain : standing.by_prompt)
        EXPECT_EQ(opened_->recording().requests[gain.request].run_id, standing.run.row().id);
      // The total lies between the ratios of the prompts.
      if (standing.by_prompt.empty()) continue;
      EXPECT_LE(standing.ratio->value, standing.by_prompt.front().ratio + 1e-9);
      EXPECT_GE(standing.ratio->value, standing.by_prompt.back().ratio - 1e-9);
    }
  }
}

TEST_P(AllRunsOf, AreDroppedWhenNobodyWaits) {
  int asked = 0;
  EXPECT_TRUE(all_runs({opened_}, baseline_, [&] { return ++asked < 2; }).runs.empty());
  EXPECT_EQ(asked, 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AllRunsOf, testing::Values(1U, 2U, 3U));

}  // namespace
}  // namespace draftscope::gui
