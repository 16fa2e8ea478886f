// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/traces/text_share.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../../analysis/figures/random_recording.h"
#include "answers/validation/ask_question.h"

namespace draftscope::simulator {

namespace {

/// Ratio of the decode times of requests that both decoded, computed naively from the file.
double decode_speedup(const traces::Recording& recording, traces::RunId run_id, std::int64_t repeat) {
  double vanilla = 0.0;
  double own = 0.0;
  for (const traces::Request& request : recording.requests) {
    if (repeat >= 0 && request.repeat != repeat) continue;
    const auto ns = static_cast<double>(request.end_ns - request.first_token_ns);
    if (request.run_id == 1) vanilla += ns;
    if (request.run_id == run_id) own += ns;
  }
  return vanilla / own;
}

TEST(MeasuredDecoding, IsWhatTheRowsAddUpTo) {
  const traces::Recording recording = random_recording(21, {.repeats = 3}).recording;
  const std::vector<RunRows> runs = rows_by_run(recording);
  for (const std::size_t run : {1U, 2U}) {
    const MeasuredDecoding found = measured_decoding(runs[0], runs[run]).value();
    const auto id = traces::RunId::from(run + 1);
    EXPECT_NEAR(found.speedup, decode_speedup(recording, id, -1), 1e-12);
    ASSERT_EQ(found.by_repeat.size(), 3U);
    for (std::size_t repeat = 0; repeat < 3; ++repeat)
      EXPECT_NEAR(found.by_repeat[repeat], decode_speedup(recording, id, static_cast<std::int64_t>(repeat)),
                  1e-12);
    double draft_ns = 0.0;
    double steps = 0.0;
    double verify_ns = 0.0;
    double verifications = 0.0;
    for (const RequestRows& rows : runs[run].requests)
      for (const traces::Round& round : rows.rounds) {
        draft_ns += round.drafted > 0 ? static_cast<double>(round.draft_ns) : 0.0;
        steps += round.drafted;
        verify_ns += static_cast<double>(round.verify_ns);
        verifications += 1.0;
      }
    EXPECT_NEAR(found.draft_step_ns, draft_ns / steps, 1e-9);
    EXPECT_NEAR(found.verify_ns, verify_ns / verifications, 1e-9);
  }
}

TEST(MeasuredDecoding, NeedsRequestsOfBoth) {
  const traces::Recording recording = random_recording(21).recording;
  std::vector<RunRows> runs = rows_by_run(recording);
  runs[1].requests.clear();
  EXPECT_NE(measured_decoding(runs[0], runs[1]).error().message.find("layerskip:exit=2"), std::string::npos);
}

CheckedAnswer checked(QuestionKind kind, double predicted, double measured, Interval of_80, Interval of_95) {
  CheckedAnswer answer{.kind = kind};
  answer.predicted.emplace().speedup.min_drafted = {
      .value = predicted, .interval_80 = of_80, .interval_95 = of_95};
  answer.measured.speedup = measured;
  return answer;
}

TEST(ErrorsByKind, CountsEveryQuestionAndAveragesThoseThatWereAnswered) {
  using enum QuestionKind;
  std::vector<CheckedAnswer> answers{checked(unseen_exit, 1.1, 1.0, {1.0, 1.2}, {0.9, 1.3}),
                                     checked(unseen_exit, 1.8, 2.0, {1.7, 1.9}, {1.6, 2.1}),
                                     checked(unseen_exit, 1.0, 2.0, {0.9, 1.1}, {0.8, 1.2}),
                                     checked(recorded_again, 3.0, 2.0, {2.9, 3.1}, {2.8, 3.2})};
  answers.push_back({.kind = unseen_exit, .refusal = "no answer"});
  answers[3].predicted->speedup.min_drafted.interval_80.reset();
  answers[3].predicted->speedup.min_drafted.interval_95.reset();
  answers[0].measured.by_repeat = {0.9, 1.1};
  answers[1].measured.by_repeat = {2.0, 2.0, 2.0};
  answers[0].rounds.match = RoundMatch::exact;
  answers[1].rounds.match = RoundMatch::differs;
  const std::vector<KindErrors> kinds = errors_by_kind(answers);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].kind, recorded_again);
  EXPECT_EQ(kinds[0].intervals, 0U);
  EXPECT_NEAR(kinds[0].speedup.mean_absolute, 0.5, 1e-12);
  const KindErrors& exits = kinds[1];
  EXPECT_EQ(exits.questions, 4U);
  EXPECT_EQ(exits.speedup.count, 3U);
  EXPECT_NEAR(exits.speedup.mean_absolute, (0.1 + 0.1 + 0.5) / 3, 1e-12);
  EXPECT_NEAR(exits.speedup.greatest, 0.5, 1e-12);
  EXPECT_NEAR(exits.speedup.bias, (0.1 - 0.1 - 0.5) / 3, 1e-12);
  EXPECT_FALSE(kinds[0].repeat_deviation);
  EXPECT_NEAR(*exits.repeat_deviation, std::sqrt(0.02 / 2), 1e-12);
  EXPECT_EQ(exits.intervals, 3U);
  EXPECT_EQ(exits.inside_80, 1U);
  EXPECT_EQ(exits.inside_95, 2U);
  EXPECT_EQ(exits.compared_rounds, 2U);
  EXPECT_EQ(exits.matching_rounds, 1U);
  EXPECT_EQ(exits.draft_step.count, 0U);
}

TEST(CompareRounds, TellsExactFromBoundedFromOtherRounds) {
  traces::Recording recording = random_recording(22, {.repeats = 1}).recording;
  const RunRows run = rows_by_run(recording).at(1);
  EXPECT_EQ(compare_rounds({}, run).match, RoundMatch::not_compared);
  std::vector<PredictedRequest> requests;
  for (const RequestRows& rows : run.requests) {
    RoundStatistics counts;
    for (const traces::Round& round : rows.rounds) {
      ++counts.rounds;
      counts.drafted += round.drafted;
      counts.accepted += traces::tokens_of(round).accepted_in_text(rows.request->stop);
      counts.tokens += round.emitted;
    }
    requests.push_back({rows.prompt, counts, counts});
  }
  ASSERT_FALSE(requests.empty());
  EXPECT_EQ(compare_rounds(requests, run).match, RoundMatch::exact);
  EXPECT_EQ(compare_rounds(requests, run).requests, static_cast<std::int64_t>(run.requests.size()));
  for (PredictedRequest& request : requests) ++request.most.drafted;
  EXPECT_EQ(compare_rounds(requests, run).match, RoundMatch::bounded);
  for (PredictedRequest& request : requests) {
    ++request.least.rounds;
    ++request.most.rounds;
  }
  EXPECT_EQ(compare_rounds(requests, run).match, RoundMatch::differs);
  EXPECT_NE(compare_rounds(requests, run).first_difference, "");
  // Where questions have other numbers, only a text that a single one has tells which it was.
  std::vector<traces::Prompt> renumbered = recording.prompts;
  for (traces::Prompt& prompt : renumbered) prompt.question_id += 1000;
  for (PredictedRequest& request : requests)
    request.prompt = &renumbered[static_cast<std::size_t>(request.prompt - recording.prompts.data())];
  const std::string& last = recording.prompts.back().text;
  ASSERT_EQ(std::ranges::count(recording.prompts, last, &traces::Prompt::text), 1);
  EXPECT_EQ(compare_rounds(requests, run).requests, 1);
}

QuestionKind kind(const std::string& asked, const std::vector<std::string>& recorded) {
  std::vector<StrategySetting> settings;
  for (const std::string& specification : recorded)
    settings.push_back(setting_of_specification(specification));
  return kind_of_setting(setting_of_specification(asked), settings);
}

TEST(QuestionKind, IsWhatTheNearestRecordedSettingDiffersIn) {
  const std::vector<std::string> recorded{"layerskip:exit=4,gamma=6", "layerskip:exit=7,gamma=2",
                                          "dv:exit=7,threshold=0.6"};
  EXPECT_EQ(kind("layerskip:gamma=6,exit=4", recorded), QuestionKind::recorded_again);
  EXPECT_EQ(kind("layerskip:exit=7,gamma=6", recorded), QuestionKind::unseen_length);
  EXPECT_EQ(kind("layerskip:exit=5,gamma=6", recorded), QuestionKind::unseen_exit);
  EXPECT_EQ(kind("layerskip:exit=4,gamma=6,verify=above-exit", recorded), QuestionKind::unseen_rule);
  EXPECT_EQ(kind("dv:exit=7,threshold=0.8", recorded), QuestionKind::unseen_rule);
  EXPECT_EQ(kind("fs:exit=7", recorded), QuestionKind::unseen_strategy);
  EXPECT_EQ(kind("layerskip:exit=4,gamma=6", {}), QuestionKind::unseen_strategy);
}

TEST(QuestionKind, OfARunCountsDefaultsToo) {
  const traces::Run spelled{.strategy = "layerskip",
                            .specification = "layerskip:exit=4,gamma=6",
                            .parameters = R"({"exit":4,"gamma":6})"};
  const traces::Run silent{
      .strategy = "layerskip", .specification = "layerskip:exit=4", .parameters = R"({"exit":4,"gamma":6})"};
  const std::vector<StrategySetting> recorded{setting_of_run(spelled)};
  EXPECT_EQ(kind_of_setting(setting_of_run(silent), recorded), QuestionKind::recorded_again);
}

}  // namespace

}  // namespace draftscope::simulator
