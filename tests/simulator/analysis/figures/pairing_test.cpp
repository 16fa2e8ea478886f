// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "random_recording.h"

namespace draftscope::simulator {

namespace {

static_assert(!std::is_invocable_v<decltype(pair_requests), Comparison<RunRows>, Baseline<RunRows>>,
              "baseline and comparison can't be swapped");

TEST(Pairing, MatchesPromptsByTextWhateverTheirIds) {
  RandomRecording first = random_recording(1);
  RandomRecording second = random_recording(1);
  for (traces::Prompt& prompt : second.recording.prompts)
    prompt.id = traces::PromptId::from(prompt.id.value() + 500);
  for (traces::Request& request : second.recording.requests)
    request.prompt_id = traces::PromptId::from(request.prompt_id.value() + 500);
  std::reverse(second.recording.prompts.begin(), second.recording.prompts.end());
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const Pairing pairing = pair_requests(Baseline(first_runs[1]), Comparison(second_runs[1]));
  EXPECT_EQ(pairing.prompts, 7U);
  EXPECT_EQ(pairing.pairs.size(), 14U);
  EXPECT_EQ(pairing.unpaired, 0U);
  for (const RequestPair& pair : pairing.pairs)
    EXPECT_EQ(pair.baseline->prompt_id.value() + 500, pair.comparison->prompt_id.value());
  const Speedup same = *speedup(pairing);
  EXPECT_EQ(same.value, 1.0);
  EXPECT_EQ(*same.p_value, 1.0);
}

TEST(Pairing, LeavesOutAndCountsWhatOnlyOneSideDecoded) {
  RandomRecording sample = random_recording(2);
  auto& requests = sample.recording.requests;
  requests.erase(std::find_if(requests.begin(), requests.end(), [](const auto& r) { return r.run_id == 2; }));
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Pairing pairing = pair_requests(Baseline(runs[0]), Comparison(runs[1]));
  EXPECT_EQ(pairing.pairs.size(), 13U);
  EXPECT_EQ(pairing.unpaired, 1U);
}

TEST(Pairing, OfDisjointPromptsIsEmptyAndHasNoSpeedup) {
  const RandomRecording first = random_recording(1);
  RandomRecording second = random_recording(1);
  for (traces::Prompt& prompt : second.recording.prompts) prompt.text += " otherwise";
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const Pairing pairing = pair_requests(Baseline(first_runs[0]), Comparison(second_runs[0]));
  EXPECT_TRUE(pairing.pairs.empty());
  EXPECT_EQ(pairing.unpaired, 28U);
  EXPECT_FALSE(speedup(pairing).has_value());
  EXPECT_FALSE(output_identity(pairing).has_value());
}

TEST(OutputIdentity, NamesTheFirstDifferingTokenOfEachRequest) {
  RandomRecording sample = random_recording(3);
  int changed = 0;
  for (traces::Request& request : sample.recording.requests) {
    if (request.run_id != 2 || request.prompt_id != 4) continue;
    if (changed++ == 0)
      request.tokens[2] = -7;
    else
      request.tokens.pop_back();
  }
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Pairing pairing = pair_requests(Baseline(runs[0]), Comparison(runs[1]));
  const OutputIdentity identity = *output_identity(pairing);
  EXPECT_EQ(identity.compared_prompts, 7U);
  EXPECT_EQ(identity.differing_prompts, 1U);
  ASSERT_EQ(identity.differences.size(), 2U);
  EXPECT_EQ(identity.differences[0].position, 2U);
  EXPECT_EQ(identity.differences[1].position,
            pairing.pairs[identity.differences[1].pair].comparison->tokens.size());
}

/// Every set of the data that comparisons of requests depend on.
std::vector<std::vector<traces::MissingData>> sets_of_missing_data() {
  using traces::MissingData;
  std::vector<std::vector<MissingData>> sets{{}};
  for (const MissingData missing :
       {MissingData::wall_times, MissingData::first_token_times, MissingData::token_ids})
    for (std::size_t i = sets.size(); i-- > 0;) {
      sets.push_back(sets[i]);
      sets.back().push_back(missing);
    }
  return sets;
}

/// A recording that lacks the data: the second repeat has substitutes, the first has values all the same.
traces::Recording lacking(const std::vector<traces::MissingData>& missing) {
  traces::Recording recording = random_recording(1).recording;
  if (missing.empty()) return recording;
  recording.meta["lacks"] = traces::missing_data_text(missing);
  for (traces::Request& request : recording.requests) {
    if (request.repeat == 0) continue;
    if (traces::is_missing(recording.meta, traces::MissingData::wall_times))
      request.end_ns = request.start_ns + 1;
    if (traces::is_missing(recording.meta, traces::MissingData::first_token_times))
      request.first_token_ns = 0;
    if (traces::is_missing(recording.meta, traces::MissingData::token_ids))
      std::ranges::fill(request.tokens, -1);
  }
  return recording;
}

TEST(Comparisons, HaveNothingThatRestsOnWhatEitherSideLacks) {
  using traces::MissingData;
  for (const auto& of_first : sets_of_missing_data())
    for (const auto& of_second : sets_of_missing_data()) {
      const traces::Recording first = lacking(of_first);
      const traces::Recording second = lacking(of_second);
      const auto is_known = [&](MissingData data) {
        return !traces::is_missing(first.meta, data) && !traces::is_missing(second.meta, data);
      };
      SCOPED_TRACE(traces::missing_data_text(of_first) + traces::missing_data_text(of_second));
      for (const char* const category : {"", "qa"}) {
        std::vector<RunRows> first_runs = rows_by_run(first);
        std::vector<RunRows> second_runs = rows_by_run(second);
        for (std::vector<RunRows>* const runs : {&first_runs, &second_runs})
          for (RunRows& run : *runs)
            if (*category != '\0') run = only_category(run, category);
        for (const RunComparison& found : compare_runs(Baseline(first_runs), Comparison(second_runs))) {
          EXPECT_GT(found.prompts, 0U);
          EXPECT_EQ(found.identity.has_value(), is_known(MissingData::token_ids));
          ASSERT_EQ(found.ratio.has_value(), is_known(MissingData::wall_times));
          if (!found.ratio) continue;
          EXPECT_EQ(found.ratio->decode_value.has_value(), is_known(MissingData::first_token_times));
          EXPECT_TRUE(found.ratio->decode_value || !found.ratio->decode_interval);
        }
      }
      EXPECT_EQ(winners(first).empty(), traces::is_missing(first.meta, MissingData::wall_times));
      for (const RunFigures& run : measure(first).runs) {
        if (run.all.run->is_baseline) continue;
        EXPECT_EQ(run.all.speedup.has_value(), !traces::is_missing(first.meta, MissingData::wall_times));
        EXPECT_EQ(run.all.identity.has_value(), !traces::is_missing(first.meta, MissingData::token_ids));
      }
    }
}

TEST(Speedup, NeedsSixPromptsForAnInterval) {
  for (const int prompts : {5, 6}) {
    RandomOptions options;
    options.prompts = prompts;
    const RandomRecording sample = random_recording(1, options);
    const std::vector<RunRows> runs = rows_by_run(sample.recording);
    const Speedup found = *speedup(pair_requests(Baseline(runs[0]), Comparison(runs[1])));
    EXPECT_EQ(found.interval.has_value(), prompts == 6);
    EXPECT_EQ(found.p_value.has_value(), prompts == 6);
    EXPECT_EQ(found.decode_interval.has_value(), prompts == 6);
  }
}

TEST(Speedup, OfARunThatIsTwiceAsFastEverywhereIsTwoWithoutSpread) {
  RandomRecording sample = random_recording(6);
  std::vector<std::int64_t> vanilla_ns;
  for (traces::Request& request : sample.recording.requests) {
    request.first_token_ns = request.start_ns + 10;
    request.end_ns = request.start_ns + (request.run_id == 1 ? 2 : 1) * 1000 * request.prompt_id.value() + 10;
    if (request.run_id == 1) request.first_token_ns += 10, request.end_ns += 10;
  }
  const std::vector<RunRows> runs = rows_by_run(sample.recording);
  const Speedup found = *speedup(pair_requests(Baseline(runs[0]), Comparison(runs[1])));
  EXPECT_NEAR(found.value, 2.0, 1e-12);
  EXPECT_NEAR(*found.decode_value, 2.0, 1e-12);
  EXPECT_NEAR(found.interval->low, 2.0, 1e-9);
  EXPECT_NEAR(found.interval->high, 2.0, 1e-9);
  EXPECT_NEAR(found.decode_interval->low, 2.0, 1e-9);
  EXPECT_NEAR(found.decode_interval->high, 2.0, 1e-9);
  EXPECT_EQ(found.repeat_minimum, found.repeat_maximum);
  EXPECT_NEAR(*found.p_value, 2.0 / 128, 1e-12);  // seven prompts, all on one side
}

const Figures* figures_of(const RunFigures& run, const std::string& category) {
  if (category.empty()) return &run.all;
  for (const Figures& figures : run.by_category)
    if (figures.category == category) return &figures;
  return nullptr;
}

TEST(Winners, AreTheLargestSpeedupsOfTheReport) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomRecording random = random_recording(seed, {.prompts = 8, .drafting_runs = 4});
    const RecordingFigures measured = measure(random.recording);
    const std::vector<Winner> found = winners(random.recording);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().category, "");
    for (const Winner& winner : found) {
      double best = 1.0;
      const traces::Run* fastest = measured.baseline;
      for (const RunFigures& run : measured.runs) {
        const Figures* figures = figures_of(run, winner.category);
        if (figures == nullptr || !figures->speedup || figures->speedup->value <= best) continue;
        best = figures->speedup->value;
        fastest = run.all.run;
      }
      EXPECT_EQ(winner.run, fastest) << "seed " << seed << ' ' << winner.category;
      EXPECT_NE(winner.runner_up, fastest);
      ASSERT_TRUE(winner.lead);
      EXPECT_GE(winner.lead->value, 1.0);
    }
  }
}

TEST(Winners, NeedABaselineAndAnotherRun) {
  EXPECT_TRUE(winners(random_recording(1, {.drafting_runs = 0}).recording).empty());
  RandomRecording random = random_recording(1);
  for (traces::Run& run : random.recording.runs) run.is_baseline = false;
  EXPECT_TRUE(winners(random.recording).empty());
}

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(MetaDifferences, FlagWhatChangesTheExperimentAndLeaveOutTheClocks) {
  const traces::Meta first{{"threads", "2"}, {"clock_start_ns", "1"}, {"prompts_file", "a"}, {"model", "m"}};
  const traces::Meta second{
      {"threads", "4"}, {"clock_start_ns", "9"}, {"prompts_file", "b"}, {"model", "m"}, {"seed", "1"}};
  const auto found = meta_differences(Baseline(first), Comparison(second));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, "prompts_file");
  EXPECT_FALSE(found[0].changes_experiment);
  EXPECT_EQ(found[1].key, "seed");
  EXPECT_EQ(found[1].baseline, "");
  EXPECT_EQ(found[2].key, "threads");
  EXPECT_EQ(found[2].comparison, "4");
  EXPECT_TRUE(found[2].changes_experiment);
}

TEST(Holm, MultipliesTheSmallestMostAndNeverFallsAlongTheOrder) {
  const std::vector<double> p_values{0.04, 0.01, 0.03, 0.9};
  EXPECT_THAT(holm_adjusted(p_values),
              ElementsAre(DoubleEq(0.09), DoubleEq(0.04), DoubleEq(0.09), DoubleEq(0.9)));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(CompareRuns, FindsARunThatWasSlowedDownAndNoDifferenceElsewhere) {
  RandomOptions options;
  options.prompts = 12;
  const RandomRecording first = random_recording(1, options);
  RandomRecording second = first;
  for (traces::Request& request : second.recording.requests)
    if (request.run_id == 2) request.end_ns += (request.end_ns - request.start_ns) / 4;
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const auto found = compare_runs(Baseline(first_runs), Comparison(second_runs));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].ratio->value, 1.0);
  EXPECT_EQ(*found[0].adjusted_p_value, 1.0);
  EXPECT_NEAR(found[1].ratio->value, 0.8, 1e-3);
  EXPECT_LT(*found[1].adjusted_p_value, 0.05);
  EXPECT_NEAR(*found[1].adjusted_p_value, 3 * 2.0 / 4096, 1e-12);
  EXPECT_EQ(found[2].identity->differing_prompts, 0U);
}

TEST(CompareRuns, ComparesTheOnlyRunsOfBothWhateverTheyAreCalled) {
  RandomOptions options;
  options.drafting_runs = 0;
  const RandomRecording first = random_recording(1, options);
  RandomRecording second = first;
  second.recording.runs[0].specification = "another";
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  EXPECT_EQ(compare_runs(Baseline(first_runs), Comparison(second_runs)).size(), 1U);
}

}  // namespace

}  // namespace draftscope::simulator
