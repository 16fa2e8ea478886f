// SPDX-License-Identifier: GPL-3.0-or-later
// Compares every figure with a naive recomputation from the rows, on random recordings.

#include <draftscope/simulator/analysis/measured_recording.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

using traces::Recording;
using traces::Request;
using traces::Round;

class RandomFigures : public ::testing::TestWithParam<unsigned> {
 protected:
  RandomFigures()
      : sample_(random_recording(GetParam())), figures_(measure(sample_.recording, sample_.phase_spans)) {}

  [[nodiscard]] std::vector<Request> requests_of(traces::RunId run_id) const {
    std::vector<Request> requests;
    for (const Request& request : sample_.recording.requests)
      if (request.run_id == run_id) requests.push_back(request);
    return requests;
  }
  [[nodiscard]] std::vector<Round> rounds_of(traces::RunId run_id) const {
    std::vector<Round> rounds;
    for (const Request& request : requests_of(run_id))
      for (const Round& round : sample_.recording.rounds)
        if (round.request_id == request.id) rounds.push_back(round);
    return rounds;
  }
  /// Tokens of a round up to its text's end, counted one by one; an end token counts.
  [[nodiscard]] std::int32_t kept_tokens(const Round& round) const {
    const auto request = std::ranges::find(sample_.recording.requests, round.request_id, &Request::id);
    std::int32_t kept = 0;
    while (kept <= round.accepted && kept < round.emitted) ++kept;
    if (request->stop == traces::RequestStop::eos && kept <= round.accepted) ++kept;
    return kept;
  }
  /// Time from first tokens to ends, outside of rounds.
  [[nodiscard]] double between_ns(traces::RunId run_id) const {
    double ns = 0;
    for (const Request& request : requests_of(run_id))
      if (request.first_token_ns > 0) ns += static_cast<double>(request.end_ns - request.first_token_ns);
    for (const Round& round : rounds_of(run_id)) ns -= static_cast<double>(round.end_ns - round.start_ns);
    return ns;
  }

  RandomRecording sample_;
  RecordingFigures figures_;
};

TEST_P(RandomFigures, ThroughputIsTotalTokensOverTotalTime) {
  for (const RunFigures& run : figures_.runs) {
    double tokens = 0;
    double wall_ns = 0;
    double later_tokens = 0;
    double decode_ns = 0;
    double first_ns = 0;
    const std::vector<Request> requests = requests_of(run.all.run->id);
    for (const Request& request : requests) {
      tokens += static_cast<double>(request.tokens.size());
      later_tokens += static_cast<double>(request.tokens.size()) - 1;
      wall_ns += static_cast<double>(request.end_ns - request.start_ns);
      decode_ns += static_cast<double>(request.end_ns - request.first_token_ns);
      first_ns += static_cast<double>(request.first_token_ns - request.start_ns);
    }
    EXPECT_EQ(run.all.throughput.requests, static_cast<std::int64_t>(requests.size()));
    EXPECT_NEAR(*run.all.throughput.tokens_per_second, tokens / (wall_ns * 1e-9), 1e-3);
    EXPECT_NEAR(*run.all.throughput.decode_tokens_per_second, later_tokens / (decode_ns * 1e-9), 1e-3);
    EXPECT_NEAR(run.all.throughput.time_to_first_token->mean_ns,
                first_ns / static_cast<double>(requests.size()), 1e-6);
  }
}

TEST_P(RandomFigures, FirstTokenTimesAreSummarisedOverRequests) {
  for (const RunFigures& run : figures_.runs) {
    std::vector<double> times_ns;
    for (const Request& request : requests_of(run.all.run->id))
      if (request.end_ns > 0 && request.first_token_ns > 0)
        times_ns.push_back(static_cast<double>(request.first_token_ns - request.start_ns));
    if (times_ns.empty()) continue;
    ASSERT_TRUE(run.all.throughput.time_to_first_token);
    const TimeSummary& summary = *run.all.throughput.time_to_first_token;
    std::ranges::sort(times_ns);
    const std::size_t n = times_ns.size();
    EXPECT_EQ(summary.minimum_ns, times_ns.front());
    EXPECT_EQ(summary.maximum_ns, times_ns.back());
    EXPECT_EQ(summary.median_ns, (times_ns[(n - 1) / 2] + times_ns[n / 2]) / 2.0);
  }
}

TEST_P(RandomFigures, AcceptanceIsCountedOverRounds) {
  for (const RunFigures& run : figures_.runs) {
    const Acceptance& found = run.all.acceptance;
    double drafted = 0;
    double accepted = 0;
    double emitted = 0;
    double in_text = 0;
    std::array<std::int64_t, 3> at_position[8] = {};
    const std::vector<Round> rounds = rounds_of(run.all.run->id);
    double tested = 0;
    for (const Round& round : rounds) {
      const std::int32_t kept = kept_tokens(round);
      drafted += round.drafted;
      accepted += std::min(round.accepted, kept);
      emitted += round.emitted;
      in_text += kept;
      for (const traces::DraftToken& token : sample_.recording.draft_tokens) {
        if (token.round_id != round.id) continue;
        const bool is_kept = token.index < kept;
        if (token.tested && is_kept) ++tested;
        ++at_position[token.index][0];
        if (token.tested && is_kept) ++at_position[token.index][1];
        if (token.accepted && is_kept) ++at_position[token.index][2];
      }
    }
    const auto count = static_cast<double>(rounds.size());
    EXPECT_EQ(found.rounds, static_cast<std::int64_t>(rounds.size()));
    EXPECT_NEAR(*found.mean_accepted_length, in_text / count, 1e-12);
    EXPECT_NEAR(*found.emitted_per_round, emitted / count, 1e-12);
    EXPECT_NEAR(*found.steps_per_round, drafted / count, 1e-12);
    EXPECT_EQ(found.acceptance_rate.has_value(), drafted > 0);
    EXPECT_EQ(found.step_acceptance, found.acceptance_rate);  // The sample has only chains.
    if (drafted > 0) {
      EXPECT_NEAR(*found.acceptance_rate, accepted / drafted, 1e-12);
      EXPECT_NEAR(*found.tested_rate, accepted / tested, 1e-12);
    } else {
      EXPECT_EQ(*found.mean_accepted_length, 1.0);
    }
    for (std::size_t k = 0; k < found.by_position.size(); ++k) {
      EXPECT_EQ(found.by_position[k].drafted, at_position[k][0]);
      EXPECT_EQ(found.by_position[k].reached, at_position[k][1]);
      EXPECT_EQ(found.by_position[k].accepted, at_position[k][2]);
    }
    EXPECT_EQ(std::accumulate(found.draft_lengths.begin(), found.draft_lengths.end(), std::int64_t{0}),
              found.rounds);
    EXPECT_EQ(std::accumulate(found.draft_stops.begin(), found.draft_stops.end(), std::int64_t{0}),
              found.rounds);
    for (std::size_t length = 0; length < found.draft_lengths.size(); ++length)
      EXPECT_EQ(found.draft_lengths[length],
                std::count_if(rounds.begin(), rounds.end(), [&](const Round& round) {
                  return round.drafted == static_cast<std::int32_t>(length);
                }));
  }
}

TEST_P(RandomFigures, LoadedLayersFollowDelsDefinition) {
  for (const RunFigures& run : figures_.runs) {
    double etpl_sum = 0;
    double all_tokens = 0;
    double all_layers = 0;
    const std::vector<Request> requests = requests_of(run.all.run->id);
    for (const Request& request : requests) {
      double tokens = 0;
      double layers = 0;
      for (const Round& round : sample_.recording.rounds) {
        if (round.request_id != request.id) continue;
        tokens += kept_tokens(round);
        layers += round.drafted * round.exit_layer + 12;
      }
      etpl_sum += tokens / layers;
      all_tokens += tokens;
      all_layers += layers;
    }
    EXPECT_NEAR(*run.all.layers.etpl, etpl_sum / static_cast<double>(requests.size()), 1e-12);
    EXPECT_NEAR(*run.all.layers.etpl_pooled, all_tokens / all_layers, 1e-12);
    EXPECT_NEAR(*run.all.layers.layer_count_speedup, 12 * all_tokens / all_layers, 1e-12);
    if (run.all.run->is_baseline) {
      EXPECT_NEAR(*run.all.layers.etpl, 1.0 / 12, 1e-12);
    }
  }
}

TEST_P(RandomFigures, CostsAreInUnitsOfTheBaselinesStepAndGiveTheSpeedupOfTheAccountedTime) {
  double step_ns = between_ns(1);
  const std::vector<Round> vanilla = rounds_of(1);
  for (const Round& round : vanilla) step_ns += static_cast<double>(round.end_ns - round.start_ns);
  step_ns /= static_cast<double>(vanilla.size());
  for (const RunFigures& run : figures_.runs) {
    const DraftCost& cost = run.all.cost;
    double draft_ns = 0;
    double verify_ns = 0;
    double other_ns = between_ns(run.all.run->id);
    double drafted = 0;
    double in_text = 0;
    const std::vector<Round> rounds = rounds_of(run.all.run->id);
    const auto count = static_cast<double>(rounds.size());
    for (const Round& round : rounds) {
      draft_ns += static_cast<double>(round.draft_ns);
      verify_ns += static_cast<double>(round.verify_ns);
      other_ns += static_cast<double>(round.accept_ns + round.optimise_ns + round.control_ns);
      drafted += round.drafted;
      in_text += kept_tokens(round);
    }
    EXPECT_EQ(cost.target_step, TargetStep::baseline_rounds);
    EXPECT_NEAR(cost.target_step_ns, step_ns, 1e-6);
    EXPECT_NEAR(*cost.v, verify_ns / count / step_ns, 1e-9);
    EXPECT_NEAR(*cost.o, (other_ns + (drafted > 0 ? 0.0 : draft_ns)) / count / step_ns, 1e-9);
    EXPECT_EQ(cost.c.has_value(), drafted > 0);
    if (drafted > 0) {
      EXPECT_NEAR(*cost.c, draft_ns / drafted / step_ns, 1e-9);
    }
    EXPECT_NEAR(*cost.closed_form_speedup, in_text * step_ns / (draft_ns + verify_ns + other_ns), 1e-9);
  }
}

TEST_P(RandomFigures, ClosedFormIsTheRatioOfTokensOverTimeWhateverThePhasesLeaveOpen) {
  for (const int parts : {1, 2, 3}) {
    // Drafts and verifications take a part of the time that they took; no phase has the rest of the round.
    Recording recording = sample_.recording;
    for (Round& round : recording.rounds) {
      round.draft_ns /= parts;
      round.verify_ns /= parts;
      round.accept_ns = round.optimise_ns = round.control_ns = 0;
    }
    const RecordingFigures figures = measure(recording);
    const auto tokens_per_ns = [](const Figures& of) {
      return *of.acceptance.mean_accepted_length * static_cast<double>(of.acceptance.rounds) /
             static_cast<double>(of.throughput.decode_ns);
    };
    const double vanilla = tokens_per_ns(figures.runs.front().all);
    for (const RunFigures& run : figures.runs) {
      const Figures& of = run.all;
      EXPECT_NEAR(*of.cost.closed_form_speedup, tokens_per_ns(of) / vanilla, 1e-9);
      EXPECT_NEAR(*of.acceptance.mean_accepted_length /
                      (*of.acceptance.steps_per_round * of.cost.c.value_or(0.0) + *of.cost.v + *of.cost.o),
                  *of.cost.closed_form_speedup, 1e-9);
      if (of.run->is_baseline) {
        EXPECT_NEAR(*of.cost.closed_form_speedup, 1.0, 1e-9);
      }
    }
  }
}

TEST_P(RandomFigures, BreakdownsAddUpToTheWallTimeExactlyFromSpansAndFromRounds) {
  const RecordingFigures without_spans = measure(sample_.recording);
  for (std::size_t i = 0; i < figures_.runs.size(); ++i) {
    const Figures& spans = figures_.runs[i].all;
    const Figures& rounds = without_spans.runs[i].all;
    EXPECT_EQ(spans.breakdown.source, BreakdownSource::spans);
    EXPECT_EQ(rounds.breakdown.source, BreakdownSource::rounds);
    EXPECT_EQ(spans.breakdown.by_phase, rounds.breakdown.by_phase);
    EXPECT_EQ(
        std::accumulate(spans.breakdown.by_phase.begin(), spans.breakdown.by_phase.end(), std::int64_t{0}),
        spans.throughput.wall_ns);
    std::int64_t categories_ns = 0;
    for (const Figures& part : figures_.runs[i].by_category)
      categories_ns +=
          std::accumulate(part.breakdown.by_phase.begin(), part.breakdown.by_phase.end(), std::int64_t{0});
    EXPECT_EQ(categories_ns, spans.throughput.wall_ns);
  }
}

TEST_P(RandomFigures, SpeedupOfEqualOutputsIsTheRatioOfWallTimes) {
  const double vanilla_ns = static_cast<double>(figures_.runs[0].all.throughput.wall_ns);
  EXPECT_FALSE(figures_.runs[0].all.speedup.has_value());
  for (std::size_t i = 1; i < figures_.runs.size(); ++i) {
    const Figures& run = figures_.runs[i].all;
    EXPECT_EQ(run.speedup->estimator, SpeedupEstimator::total_wall_time);
    EXPECT_NEAR(run.speedup->value, vanilla_ns / static_cast<double>(run.throughput.wall_ns), 1e-9);
    ASSERT_EQ(run.speedup->by_repeat.size(), 2U);
    for (int repeat = 0; repeat < 2; ++repeat) {
      double baseline_ns = 0;
      double comparison_ns = 0;
      for (const Request& request : sample_.recording.requests) {
        if (request.repeat != repeat) continue;
        const auto time = static_cast<double>(request.end_ns - request.start_ns);
        if (request.run_id == 1) baseline_ns += time;
        if (request.run_id == run.run->id) comparison_ns += time;
      }
      EXPECT_NEAR(run.speedup->by_repeat[static_cast<std::size_t>(repeat)], baseline_ns / comparison_ns,
                  1e-9);
    }
    ASSERT_TRUE(run.speedup->interval.has_value());
    EXPECT_LE(run.speedup->interval->low, run.speedup->value);
    EXPECT_GE(run.speedup->interval->high, run.speedup->value);
    EXPECT_EQ(run.identity->differing_prompts, 0U);
    EXPECT_EQ(run.identity->compared_requests, 14U);
    EXPECT_EQ(run.identity->compared_prompts, 7U);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFigures, ::testing::Range(1U, 9U));

TEST(Figures, WithUnequalOutputsTheSpeedupIsAMeanOverPrompts) {
  RandomOptions options;
  options.equal_outputs = false;
  const RandomRecording sample = random_recording(4, options);
  const RecordingFigures figures = measure(sample.recording);
  const Speedup& found = *figures.runs[1].all.speedup;
  EXPECT_EQ(found.estimator, SpeedupEstimator::prompt_mean);
  double log_sum = 0;
  for (const traces::Prompt& prompt : sample.recording.prompts) {
    std::map<traces::RunId, std::pair<double, double>> tokens_and_ns;
    for (const Request& request : sample.recording.requests) {
      if (request.prompt_id != prompt.id) continue;
      tokens_and_ns[request.run_id].first += static_cast<double>(request.tokens.size());
      tokens_and_ns[request.run_id].second += static_cast<double>(request.end_ns - request.start_ns);
    }
    const auto rate = [&](traces::RunId run_id) {
      return tokens_and_ns[run_id].first / tokens_and_ns[run_id].second;
    };
    log_sum += std::log(rate(2) / rate(1));
  }
  EXPECT_NEAR(found.value, std::exp(log_sum / 7), 1e-9);
  EXPECT_GT(figures.runs[1].all.identity->differing_prompts, 0U);
}

TEST(Figures, WithoutABaselineThereIsNoSpeedupAndTheTargetStepIsTheVerification) {
  RandomRecording sample = random_recording(1);
  sample.recording.runs[0].is_baseline = false;
  const RecordingFigures figures = measure(sample.recording);
  EXPECT_EQ(figures.baseline, nullptr);
  for (const RunFigures& run : figures.runs) {
    EXPECT_FALSE(run.all.speedup.has_value());
    EXPECT_FALSE(run.all.identity.has_value());
    EXPECT_FALSE(run.all.cost.closed_form_speedup.has_value());
    EXPECT_EQ(run.all.cost.target_step, TargetStep::verification);
    EXPECT_NEAR(*run.all.cost.v, 1.0, 1e-12);
  }
}

TEST(Figures, RequestsThatDidNotFinishAreLeftOutAndCounted) {
  RandomRecording sample = random_recording(2);
  const RecordingFigures before = measure(sample.recording);
  Request cancelled = sample.recording.requests.back();
  cancelled.id = 9000;
  cancelled.stop = traces::RequestStop::cancelled;
  sample.recording.requests.push_back(cancelled);
  Request cut_off = cancelled;
  cut_off.id = 9001;
  cut_off.stop = traces::RequestStop::length;
  cut_off.end_ns = 0;
  sample.recording.requests.push_back(cut_off);
  const RecordingFigures after = measure(sample.recording);
  EXPECT_EQ(after.runs.back().all.throughput.unfinished_requests, 2);
  const auto prompt = std::ranges::find(sample.recording.prompts, cancelled.prompt_id, &traces::Prompt::id);
  for (const Figures& part : after.runs.back().by_category)
    EXPECT_EQ(part.throughput.unfinished_requests, part.category == prompt->category ? 2 : 0);
  EXPECT_EQ(after.runs.back().all.throughput.wall_ns, before.runs.back().all.throughput.wall_ns);
  EXPECT_EQ(after.runs.back().all.acceptance.rounds, before.runs.back().all.acceptance.rounds);
}

TEST(Figures, RoundTimesThatContradictTheWallTimeGiveNoBreakdown) {
  RandomRecording sample = random_recording(3);
  sample.recording.rounds.front().verify_ns += 1'000'000'000;
  const RecordingFigures figures = measure(sample.recording);
  EXPECT_EQ(figures.runs[0].all.breakdown.source, BreakdownSource::none);
}

TEST(Figures, OfAnEmptyRecordingAreEmpty) {
  EXPECT_TRUE(measure(Recording{}).runs.empty());
  Recording only_a_run;
  only_a_run.runs.push_back({1, "vanilla", "vanilla", "{}", true});
  const RecordingFigures figures = measure(only_a_run);
  ASSERT_EQ(figures.runs.size(), 1U);
  EXPECT_EQ(figures.baseline, nullptr);
  EXPECT_FALSE(figures.runs[0].all.throughput.tokens_per_second.has_value());
  EXPECT_FALSE(figures.runs[0].all.acceptance.mean_accepted_length.has_value());
  EXPECT_EQ(figures.runs[0].all.breakdown.source, BreakdownSource::none);
}

/// Sums that an overview stores of these rounds, whose drafts are early exits.
std::vector<traces::RequestSum> stored_sums(const Recording& recording) {
  std::map<traces::RequestId, traces::RequestSum> sums;
  for (const Round& round : recording.rounds) {
    traces::RequestSum& sum = sums[round.request_id];
    sum.request_id = round.request_id;
    ++sum.rounds;
    sum.drafted += round.drafted;
    sum.accepted += round.accepted;
    sum.emitted += round.emitted;
    sum.draft_steps += round.tree_depth;
    sum.draft_sublayers += std::int64_t{2} * round.tree_depth * round.exit_layer;
    sum.rounds_ns += round.end_ns - round.start_ns;
    sum.draft_ns += round.draft_ns;
    sum.verify_ns += round.verify_ns;
    sum.accept_ns += round.accept_ns;
    sum.optimise_ns += round.optimise_ns;
    sum.control_ns += round.control_ns;
  }
  std::vector<traces::RequestSum> stored;
  for (const auto& [id, sum] : sums) stored.push_back(sum);
  return stored;
}

// Weights in fewer bits count as fewer loaded layers, both from rows and from stored sums.
TEST(Overview, CountsLayersOfDraftsOnOtherWeightsAsTheRowsDo) {
  Recording recording = random_recording(5).recording;
  recording.meta["dtype"] = "bf16";
  const double plain = measure(recording).runs[1].all.layers.etpl.value();
  traces::Run& run = recording.runs[1];
  run.strategy = run.specification = "quantised";
  run.parameters = R"({"weights":"q8_0","gamma":4,"verify":"all-layers","acceptance":"token","guard":0})";
  const std::vector<traces::RequestSum> sums = stored_sums(recording);
  const auto layers_of_overview = [&] {
    Recording outline = recording;
    outline.rounds.clear();
    outline.draft_tokens.clear();
    return measure_overview(outline, sums).runs[1].all.layers;
  };
  const LoadedLayers expected = measure(recording).runs[1].all.layers;
  EXPECT_GT(expected.etpl.value(), 1.05 * plain);
  EXPECT_NEAR(layers_of_overview().etpl.value(), expected.etpl.value(), 1e-12);
  EXPECT_NEAR(layers_of_overview().etpl_pooled.value(), expected.etpl_pooled.value(), 1e-12);
  // Layer sets of other runs do not matter.
  recording.layer_sets.push_back(
      {.id = traces::LayerSetId{9999}, .n_layers = recording.layer_sets.back().n_layers, .origin = "fp8"});
  EXPECT_NEAR(layers_of_overview().etpl.value(), expected.etpl.value(), 1e-12);
  // Where those of a run that chooses among drafters differ, sums do not determine how much was loaded.
  run.strategy = run.specification = "auto";
  run.parameters = "{}";
  EXPECT_TRUE(measure(recording).runs[1].all.layers.etpl);
  EXPECT_FALSE(layers_of_overview().etpl);
}

TEST(Acceptance, OfATokenTreeCountsDepthAsDraftSteps) {
  RandomOptions options;
  options.prompts = 1;
  options.repeats = 1;
  options.drafting_runs = 1;
  Recording recording = random_recording(1, options).recording;
  Round round = recording.rounds.back();
  recording.rounds = {round};
  Round& tree = recording.rounds.front();
  tree.drafted = 5;
  tree.tree_depth = 3;
  tree.accepted = 2;
  tree.emitted = 3;
  // root → {0, 1}, 0 → {2, 3}, 3 → 4: three steps deep, five tokens.
  const std::array<std::int32_t, 5> parents{-1, -1, 0, 0, 3};
  recording.draft_tokens.clear();
  for (std::int32_t i = 0; i < 5; ++i)
    recording.draft_tokens.push_back(
        {tree.id, i, parents[static_cast<std::size_t>(i)], i, 0.5, 1.0, i == 0 || i == 3, true});
  const Acceptance found = measure(recording).runs[1].all.acceptance;
  EXPECT_EQ(found.draft_steps, 3);
  EXPECT_EQ(found.drafted_tokens, 5);
  EXPECT_NEAR(*found.acceptance_rate, 0.4, 1e-12);
  ASSERT_EQ(found.by_position.size(), 3U);
  EXPECT_EQ(found.by_position[1].accepted, 1);
  EXPECT_EQ(found.by_position[2].reached, 1);
  EXPECT_EQ(found.by_position[2].accepted, 0);
  tree.tree_depth = 2'000'000'000;  // Only a damaged file has such a tree.
  const Acceptance damaged = measure(recording).runs[1].all.acceptance;
  EXPECT_EQ(damaged.by_position.size() + 1, damaged.draft_lengths.size());
}

}  // namespace
}  // namespace draftscope::simulator
