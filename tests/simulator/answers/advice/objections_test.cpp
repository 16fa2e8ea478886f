// SPDX-License-Identifier: GPL-3.0-or-later
// An advice for each objection's sentence, and one that just misses it.
#include "answers/advice/objections.h"

#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "../../analysis/explain/made_recording.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {
namespace {

struct Planted {
  Advice advice;
  std::string asked_model = "model";
  std::string slow_baseline;
  std::optional<MeasuredSetting> not_considered;

  [[nodiscard]] AdviceGrounds grounds() const {
    return {advice, "model", asked_model, slow_baseline, not_considered};
  }
};

/// An advice without objections.
Planted sure() {
  Planted planted;
  planted.advice.considered = 40;
  planted.advice.fastest = "layerskip:exit=4,gamma=3";
  planted.advice.speedup = 1.3;
  planted.advice.interval_95 = Interval{1.01, 1.5};
  planted.advice.held_out.speedup = {.value = 1.2, .clusters = 20, .interval_95 = Interval{1.01, 1.4}};
  planted.advice.measured = MeasuredBeside{.run = {.speedup = 1.01}};
  return planted;
}

struct Planting {
  void (*plant)(Planted&);
  std::string_view reason;
};

/// By key of the objection.
const std::map<std::string_view, Planting>& plantings() {
  static const std::map<std::string_view, Planting> all{
      {"nothing_is_faster",
       {[](Planted& of) {
          of.advice.speedup = 1.0;
          of.not_considered = MeasuredSetting{.strategy = "suffix-decoding", .speedup = 1.28};
        },
        "no candidate of 40 is faster than vanilla: the fastest, layerskip:exit=4,gamma=3, gives 1.00; "
        "suffix-decoding, which is no candidate, was recorded with 1.28"}},
      {"step_is_slow",
       {[](Planted& of) { of.slow_baseline = "vanilla steps are slow here"; },
        "vanilla steps are slow here"}},
      {"interval_is_below_1",
       {[](Planted& of) {
          of.advice.interval_95 = Interval{0.8, 1.0};
        },
        "layerskip:exit=4,gamma=3 gives 0.80 to 1.00 (95 %)"}},
      {"there_is_no_interval",
       {[](Planted& of) {
          of.advice.interval_95.reset();
          of.advice.answer.speedup.min_drafted.no_interval_reason = "too few prompts";
        },
        "too few prompts"}},
      {"there_is_no_interval_elsewhere",
       {[](Planted& of) {
          of.advice.held_out.speedup.interval_95.reset();
          of.advice.held_out.speedup.no_interval_reason = "too few others";
        },
        "too few others"}},
      {"gain_is_gone_elsewhere",
       {[](Planted& of) { of.advice.held_out.speedup.value = 1.0; },
        "chosen on some prompts and judged on others, the gain is gone: 1.00"}},
      {"model_is_another",
       {[](Planted& of) { of.asked_model = "another"; },
        "what another would accept is not in a recording of model"}},
      {"was_measured_otherwise",
       {[](Planted& of) { of.advice.measured->run.speedup = 1.0; },
        "it was recorded, with 1.00 in place of the predicted 1.30"}},
      {"interval_includes_1",
       {[](Planted& of) { of.advice.interval_95->low = 1.0; },
        "the gain's 95 % interval includes 1: 1.00 to 1.50"}},
      {"interval_includes_1_elsewhere",
       {[](Planted& of) { of.advice.held_out.speedup.interval_95->low = 1.0; },
        "on prompts it was not chosen on, its 95 % interval includes 1: 1.00 to 1.40"}}};
  return all;
}

TEST(Objections, EachHasAnAdviceThatItAppliesToAndOneThatItDoesNot) {
  for (const ObjectionRow& row : objection_table()) {
    ASSERT_TRUE(plantings().contains(row.key)) << row.key;
    Planted planted = sure();
    EXPECT_EQ(row.reason(planted.grounds()), "") << row.key;
    plantings().at(row.key).plant(planted);
    EXPECT_EQ(row.reason(planted.grounds()), plantings().at(row.key).reason);
    judge(planted.advice, planted.grounds());
    EXPECT_EQ(planted.advice.reason, plantings().at(row.key).reason);
    EXPECT_EQ(planted.advice.verdict, row.verdict);
    EXPECT_EQ(planted.advice.strategy, "vanilla");
  }
}

TEST(Objections, TheFirstOneDecides) {
  for (const ObjectionRow& first : objection_table())
    for (const ObjectionRow& second : objection_table()) {
      if (&first >= &second) continue;
      Planted planted = sure();
      plantings().at(second.key).plant(planted);
      plantings().at(first.key).plant(planted);
      judge(planted.advice, planted.grounds());
      EXPECT_EQ(planted.advice.reason, first.reason(planted.grounds())) << first.key << ' ' << second.key;
      EXPECT_EQ(planted.advice.verdict, first.verdict);
    }
}

TEST(Objections, WithNoneAStrategyIsAdvised) {
  Planted planted = sure();
  judge(planted.advice, planted.grounds());
  EXPECT_EQ(planted.advice.verdict, Verdict::speculate);
  EXPECT_EQ(planted.advice.strategy, planted.advice.fastest);
  EXPECT_EQ(planted.advice.reason, "faster than vanilla: 1.01 to 1.50 (95 %)");
}

/// Passes as explain() judges by them; the recording's first run is vanilla decoding.
TargetPasses passes_of(const MeasuredRecording& measured) {
  return target_passes(rows_by_run(*measured.recording), measured.figures.baseline,
                       measured.figures.runs.front().all.device, measured.recording->meta);
}

TEST(Objections, SayOfARecordingWhetherItsStepsAreSlow) {
  // These are times of an H200 with an 8B model when its pass over one row was slow.
  const auto reason = [](int verify_us, double speedup) {
    const MeasuredRecording measured = made_recording(
        {.specification = "prompt-lookup",
         .round =
             [=](int) {
               return MadeRound{.drafted = 1, .accepted = 0, .draft_us = 0, .verify_us = verify_us};
             },
         .vanilla_us = 6130,
         .drafts_by_layers = false});
    return slow_baseline_reason(passes_of(measured), speedup);
  };
  EXPECT_EQ(reason(5000, 1.2),
            "vanilla steps are slow here: one row takes 6.13 ms, 2 rows take 5.00 ms under prompt-lookup");
  EXPECT_EQ(reason(5000, 1.25), "") << "it would be 1.02 over steps of 5 ms";
  EXPECT_EQ(reason(6130, 1.2), "");
}

/// The recording of a file, with steps of vanilla decoding that took longer by `slower_ns`.
MeasuredRecording with_slower_steps(traces::Reader& reader, std::int64_t slower_ns) {
  MeasuredRecording measured = read_measured(reader).value();
  traces::Recording& recording = *measured.recording;
  std::set<traces::RunId> vanilla;
  for (const traces::Run& run : recording.runs)
    if (run.is_baseline) vanilla.insert(run.id);
  std::set<traces::RequestId> requests;
  for (const traces::Request& request : recording.requests)
    if (vanilla.contains(request.run_id)) requests.insert(request.id);
  for (traces::Round& round : recording.rounds) {
    if (!requests.contains(round.request_id)) continue;
    round.verify_ns += slower_ns;
    round.end_ns += slower_ns;
  }
  measured.figures = measure(recording, measured.phase_spans, measured.device_intervals);
  return measured;
}

TEST(Objections, JudgeTheBaselineOfEverySampleAsExplainDoes) {
  std::size_t files = 0;
  std::size_t slow = 0;
  for (const auto& file : std::filesystem::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/traces/samples")) {
    if (file.path().extension() != ".dstrace") continue;
    ++files;
    for (const std::int64_t slower_ns : {0, 90'000}) {
      auto reader = traces::Reader::open(file.path()).value();
      const MeasuredRecording measured = with_slower_steps(reader, slower_ns);
      const auto what_if = WhatIf::train(reader, *measured.recording);
      ASSERT_TRUE(what_if) << file.path() << what_if.error().message;
      const TargetPasses passes = target_passes(what_if->trained());
      const TargetPasses explained = passes_of(measured);
      ASSERT_EQ(passes.verifications.size(), explained.verifications.size());
      for (std::size_t i = 0; i < passes.verifications.size(); ++i)
        EXPECT_EQ(passes.verifications[i].by_itself_ns(), explained.verifications[i].by_itself_ns());
      bool is_found = false;
      for (const Diagnosis& diagnosis : explain(measured))
        for (const Finding& finding : diagnosis.findings)
          is_found = is_found || finding.row->key == "slow_baseline";
      EXPECT_EQ(!slow_baseline_reason(passes, 1.0).empty(), is_found) << file.path() << ' ' << slower_ns;
      slow += is_found ? 1U : 0U;
    }
  }
  EXPECT_GE(files, 4U);
  EXPECT_GE(slow, 1U) << "a tenth more makes steps of an H200 slow";
}

TEST(Objections, SayThatNoDraftExplainsASpeedupAboveARoundsTokens) {
  Answer answer{.mean_accepted_length = 1.22};
  answer.speedup.min_drafted.value = 1.31;
  EXPECT_EQ(above_yield(answer),
            "vanilla steps are slow here: 1.31x is more than the 1.22 tokens that a round yields, so that a "
            "round takes less than a step");
  answer.speedup.min_drafted.value = 1.25;
  EXPECT_EQ(above_yield(answer), "") << "repeats differ by as much";
}

}  // namespace
}  // namespace draftscope::simulator
