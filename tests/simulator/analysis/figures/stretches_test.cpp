// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/stretches.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

constexpr std::int32_t whole_text = std::numeric_limits<std::int32_t>::max();

std::vector<std::int64_t> counts(const StretchFigures& figures) {
  return {figures.rounds, figures.tokens, figures.drafted, figures.accepted, figures.wall_ns};
}

/// Sums by run and prompt; the prompt is null for all.
auto totals(const std::vector<StretchFigures>& stretches) {
  std::map<std::pair<const traces::Run*, const traces::Prompt*>, std::vector<std::int64_t>> sums;
  for (const StretchFigures& figures : stretches) {
    std::vector<std::int64_t>& sum = sums.try_emplace({figures.run, figures.prompt}, 5).first->second;
    const std::vector<std::int64_t> more = counts(figures);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
  }
  return sums;
}

TEST(Stretches, OfAnyLengthAddUpToTheWholeText) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomRecording sample = random_recording(seed);
    const auto whole = stretches_of(sample.recording, whole_text);
    for (const StretchFigures& figures : whole) EXPECT_EQ(figures.first_token, 0);
    EXPECT_EQ(whole.size(), sample.recording.runs.size() * (sample.recording.prompts.size() + 1));
    const auto expected = totals(whole);
    for (const std::int32_t tokens : {1, 3, 8, 64}) {
      const auto stretches = stretches_of(sample.recording, tokens);
      EXPECT_EQ(totals(stretches), expected) << tokens;
      for (const StretchFigures& figures : stretches) {
        EXPECT_EQ(figures.first_token % tokens, 0);
        EXPECT_GT(figures.rounds, 0);
      }
    }
    // The stretches of single prompts add up to the stretches of all prompts.
    std::map<const traces::Run*, std::int64_t> tokens_of;
    for (const StretchFigures& figures : whole)
      tokens_of[figures.run] += figures.prompt == nullptr ? -figures.tokens : figures.tokens;
    for (const auto& [run, difference] : tokens_of) EXPECT_EQ(difference, 0);
  }
}

// A vanilla round emits one token, the first of them the text's second.
TEST(Stretches, HoldTheTokensOfTheirPlacesInTheOutput) {
  const RandomRecording sample = random_recording(3, {.repeats = 1});
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const RunRows& vanilla = *baseline_of(runs);
  std::size_t met = 0;
  for (const StretchFigures& figures : stretches_of(sample.recording, 8)) {
    if (figures.run != vanilla.run || figures.prompt == nullptr) continue;
    const auto rows = std::find_if(vanilla.requests.begin(), vanilla.requests.end(),
                                   [&](const RequestRows& one) { return one.prompt == figures.prompt; });
    ASSERT_NE(rows, vanilla.requests.end());
    const auto tokens = static_cast<std::int64_t>(rows->rounds.size()) + 1;
    const std::int64_t first = std::max(figures.first_token, 1);
    EXPECT_EQ(figures.tokens, std::min<std::int64_t>(figures.first_token + 8, tokens) - first);
    EXPECT_EQ(figures.tokens, figures.rounds);
    ++met;
  }
  EXPECT_GT(met, 7U);
}

TEST(Stretches, HaveTheSpeedupOverVanillaInTheSamePlace) {
  const RandomRecording sample = random_recording(5);
  const auto stretches = stretches_of(sample.recording, 16);
  const traces::Run* vanilla = baseline_of(rows_by_run(sample.recording))->run;
  std::size_t met = 0;
  for (const StretchFigures& figures : stretches) {
    if (figures.run == vanilla) {
      EXPECT_FALSE(figures.speedup);
      continue;
    }
    const auto beside = std::find_if(stretches.begin(), stretches.end(), [&](const StretchFigures& one) {
      return std::tie(one.run, one.prompt, one.first_token) ==
             std::tie(vanilla, figures.prompt, figures.first_token);
    });
    ASSERT_EQ(figures.speedup.has_value(), beside != stretches.end());
    if (!figures.speedup) continue;
    EXPECT_NEAR(*figures.speedup, *figures.tokens_per_second() / *beside->tokens_per_second(), 1e-12);
    ++met;
  }
  EXPECT_GT(met, 10U);
}

}  // namespace
}  // namespace draftscope::simulator
