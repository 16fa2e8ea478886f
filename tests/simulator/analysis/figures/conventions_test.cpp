// SPDX-License-Identifier: GPL-3.0-or-later
// Publications' conventions on a recording of two prompts whose figures can be computed by hand, and their
// properties on random recordings.

#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/simulator/analysis/figures.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

/// Vanilla and a strategy with token trees. Question 7 has two turns, question 8 one.
class HandMade : public ::testing::Test {
 protected:
  HandMade() {
    recording_.meta = {{"model_shape", R"({"n_layers": 8})"}};
    recording_.runs = {{1, "vanilla", "vanilla", "{}", true}, {2, "swift", "swift", "{}", false}};
    recording_.layer_sets = {{1, 8, 4, {0x00, 0xff}, "fixed"}};
    recording_.prompts = {
        {1, 7, "qa", 0, "first", {1}}, {2, 7, "qa", 1, "second", {2}}, {3, 8, "qa", 0, "third", {3}}};
    add(1, 1, 4, 400);
    add(1, 2, 4, 400);
    add(1, 3, 8, 1600);
    // Arguments: drafted nodes, tree depth, accepted, emitted.
    add(2, 1, 4, 200);
    round(10, 4, 3, 4);
    add(2, 2, 4, 400);
    round(4, 2, 0, 1);
    round(0, 0, 0, 1);
    round(6, 2, 2, 2);  // One of three tokens is after the end of the text.
    add(2, 3, 8, 800);
    round(8, 8, 7, 8);
  }

  void add(traces::RunId run, traces::PromptId prompt, std::size_t tokens, std::int64_t wall_ns) {
    traces::Request request;
    request.id = traces::RequestId::from(recording_.requests.size() + 1);
    request.run_id = run;
    request.prompt_id = prompt;
    request.start_ns = now_;
    request.first_token_ns = now_ + 1;
    request.end_ns = now_ += wall_ns;
    request.text = "a text of its own";
    request.tokens.assign(tokens, 5);
    recording_.requests.push_back(request);
  }

  void round(std::int32_t drafted, std::int32_t depth, std::int32_t accepted, std::int32_t emitted) {
    traces::Round round;
    round.id = traces::RoundId::from(recording_.rounds.size() + 1);
    round.request_id = recording_.requests.back().id;
    round.layer_set_id = 1;
    round.exit_layer = 4;
    round.drafted = drafted;
    round.tree_depth = depth;
    round.accepted = accepted;
    round.emitted = emitted;
    recording_.rounds.push_back(round);
  }

  ConventionFigures as(Convention convention) { return figures_as(convention, recording_).at(1); }

  traces::Recording recording_;
  std::int64_t now_ = 1000;
};

TEST_F(HandMade, CountsAsLayerSkipDoes) {
  const ConventionFigures found = as(Convention::layerskip);
  EXPECT_EQ(found.samples, 3);
  EXPECT_DOUBLE_EQ(found.acceptance_rate.value(), (3.0 / 10 + 2.0 / 10 + 7.0 / 8) / 3);
  EXPECT_DOUBLE_EQ(found.tokens_per_second.value(), 1e9 * (4.0 / 200 + 4.0 / 400 + 8.0 / 800) / 3);
  EXPECT_DOUBLE_EQ(found.speedup.value(),
                   (4.0 / 200 + 4.0 / 400 + 8.0 / 800) / (4.0 / 400 + 4.0 / 400 + 8.0 / 1600));
  EXPECT_FALSE(found.accepted_length);
}

TEST_F(HandMade, CountsAsDraftAndVerifyDoes) {
  recording_.requests[3].text = "abcd";  // The strategy's first output is too short to count.
  const ConventionFigures found = as(Convention::draft_verify);
  EXPECT_EQ(found.samples, 2);
  EXPECT_EQ(found.left_out, 1);
  EXPECT_DOUBLE_EQ(found.acceptance_rate.value(), (2.0 / 10 + 7.0 / 8) / 2);
  EXPECT_DOUBLE_EQ(found.wall_ns_per_token.value(), (400.0 / 4 + 800.0 / 8) / 2);
  recording_.requests[3].text = "a text of its own";
  EXPECT_DOUBLE_EQ(as(Convention::draft_verify).speedup.value(),
                   (400.0 / 4 + 400.0 / 4 + 1600.0 / 8) / (200.0 / 4 + 400.0 / 4 + 800.0 / 8));
  // Outputs whose text an import does not know cannot be judged by it.
  for (traces::Request& request : recording_.requests) request.text.clear();
  EXPECT_EQ(as(Convention::draft_verify).left_out, 3);
  recording_.meta["lacks"] = R"(["output text"])";
  EXPECT_EQ(as(Convention::draft_verify).left_out, 0);
  EXPECT_TRUE(as(Convention::draft_verify).speedup);
}

TEST_F(HandMade, CountsAsSwiftDoes) {
  const ConventionFigures found = as(Convention::swift);
  EXPECT_DOUBLE_EQ(found.acceptance_rate.value(), 12.0 / 16);  // Per drafted node: 12 / 28.
  EXPECT_DOUBLE_EQ(found.accepted_length.value(), 16.0 / 5);
  // Equation 6 with the half of the layers that the set keeps.
  EXPECT_NEAR(*found.expected_speedup, *found.accepted_length / (16.0 / 5 * 0.5 + 1.0), 1e-12);
}

TEST_F(HandMade, CountsAsClaspDoes) {
  const ConventionFigures found = as(Convention::clasp);
  EXPECT_EQ(found.samples, 2);
  EXPECT_DOUBLE_EQ(found.accepted_length.value(), 11.0 / 5);
  EXPECT_FALSE(found.acceptance_rate);
}

TEST_F(HandMade, CountsAsDelDoes) {
  const ConventionFigures found = as(Convention::del);
  EXPECT_DOUBLE_EQ(found.acceptance_rate.value(), as(Convention::layerskip).acceptance_rate.value());
  EXPECT_DOUBLE_EQ(found.etpl.value(), (4.0 / (4 * 4 + 8) + 4.0 / (4 * 4 + 3 * 8) + 8.0 / (8 * 4 + 8)) / 3);
}

TEST_F(HandMade, CountsAsSpecBenchDoes) {
  const ConventionFigures found = as(Convention::spec_bench);
  EXPECT_EQ(found.samples, 2);
  EXPECT_DOUBLE_EQ(found.accepted_length.value(), (4.0 + 1 + 1 + 2 + 8) / 5);
  EXPECT_DOUBLE_EQ(found.tokens_per_second.value(), 1e9 * (8.0 / 600 + 8.0 / 800) / 2);
  EXPECT_DOUBLE_EQ(found.speedup.value(), (8.0 / 600 + 8.0 / 800) / (8.0 / 800 + 8.0 / 1600));
}

TEST_F(HandMade, ComparesOnWhatBothDecodedAlone) {
  recording_.requests.erase(recording_.requests.begin());
  EXPECT_DOUBLE_EQ(as(Convention::swift).speedup.value(), (4.0 / 400 + 8.0 / 800) / (4.0 / 400 + 8.0 / 1600));
  recording_.runs[0].is_baseline = false;
  EXPECT_FALSE(as(Convention::swift).speedup);
}

TEST_F(HandMade, GivesNothingThatTheSourceLacks) {
  recording_.meta["lacks"] = R"(["draft lengths", "wall times"])";
  for (const ConventionRow& row : conventions()) {
    const ConventionFigures found = as(row.convention);
    EXPECT_FALSE(found.acceptance_rate) << row.key;
    EXPECT_FALSE(found.etpl) << row.key;
    EXPECT_FALSE(found.tokens_per_second) << row.key;
    EXPECT_FALSE(found.speedup) << row.key;
  }
  EXPECT_TRUE(as(Convention::swift).accepted_length);
}

TEST(Conventions, HaveARowEachInTheirOrder) {
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < conventions().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(conventions()[i].convention), i);
    EXPECT_TRUE(keys.insert(conventions()[i].key).second);
    EXPECT_FALSE(conventions()[i].sample.empty());
    EXPECT_FALSE(conventions()[i].speed.empty());
  }
}

/// The recording's requests on prompts of one category alone.
traces::Recording only(const traces::Recording& recording, const std::string& category) {
  traces::Recording part = recording;
  std::set<traces::PromptId> prompts;
  for (const traces::Prompt& prompt : recording.prompts)
    if (prompt.category == category) prompts.insert(prompt.id);
  std::erase_if(part.requests,
                [&](const traces::Request& request) { return !prompts.contains(request.prompt_id); });
  return part;
}

TEST(Conventions, CountACategoryAsIfItAloneHadBeenRecorded) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const RandomRecording sample = random_recording(seed);
    for (const ConventionRow& row : conventions()) {
      const auto by_run = category_figures_as(row.convention, sample.recording);
      ASSERT_EQ(by_run.size(), sample.recording.runs.size());
      std::size_t compared = 0;
      for (std::size_t run = 0; run < by_run.size(); ++run)
        for (const ConventionFigures& found : by_run[run]) {
          const traces::Recording part = only(sample.recording, found.category);
          const ConventionFigures expected = figures_as(row.convention, part)[run];
          EXPECT_EQ(found.samples, expected.samples);
          EXPECT_EQ(found.left_out, expected.left_out);
          EXPECT_EQ(found.acceptance_rate, expected.acceptance_rate);
          EXPECT_EQ(found.accepted_length, expected.accepted_length);
          EXPECT_EQ(found.etpl, expected.etpl);
          EXPECT_EQ(found.tokens_per_second, expected.tokens_per_second);
          EXPECT_EQ(found.speedup, expected.speedup);
          ++compared;
        }
      EXPECT_GT(compared, by_run.size()) << "some run has several categories";
    }
  }
}

TEST(Conventions, AgreeWithThePooledFiguresWhereTheyPool) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const RandomRecording sample = random_recording(seed);
    const RecordingFigures figures = measure(sample.recording);
    const auto swift = figures_as(Convention::swift, sample.recording);
    const auto clasp = figures_as(Convention::clasp, sample.recording);
    const auto spec_bench = figures_as(Convention::spec_bench, sample.recording);
    const auto del = figures_as(Convention::del, sample.recording);
    ASSERT_EQ(swift.size(), figures.runs.size());
    for (std::size_t i = 0; i < swift.size(); ++i) {
      const Figures& all = figures.runs[i].all;
      EXPECT_EQ(swift[i].run, all.run);
      if (all.run->is_baseline) continue;
      EXPECT_EQ(swift[i].acceptance_rate, all.acceptance.step_acceptance);
      EXPECT_EQ(swift[i].accepted_length, all.acceptance.mean_accepted_length);
      EXPECT_NEAR(clasp[i].accepted_length.value() + 1.0, swift[i].accepted_length.value(), 1e-12);
      EXPECT_EQ(spec_bench[i].accepted_length, all.acceptance.emitted_per_round);
      EXPECT_EQ(del[i].etpl, all.layers.etpl);
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
