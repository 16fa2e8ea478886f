// SPDX-License-Identifier: GPL-3.0-or-later
// A recording for each finding's sentence, and one for which nothing is found.
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/simulated_remedies.h>
#include <draftscope/traces/missing_data.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "../../../temporary_folder.h"
#include "../../answers/advice/learnt.h"
#include "../figures/random_recording.h"
#include "made_recording.h"

namespace draftscope::simulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using traces::MissingData;

/// A recording with a finding, the finding's text, and a recording without the finding.
struct Case {
  std::string key;
  MadeRecording recording;
  std::string sentence;
  double figure = 0.0;
  std::optional<double> cost;
  MadeRecording without;
};

traces::Meta imported(const std::vector<MissingData>& lacks) {
  return {{"imported_from", "made.jsonl"}, {"imported_format", "made"}, {"lacks", missing_data_text(lacks)}};
}

std::vector<Case> unit_cases() {
  const MadeRecording guesses{
      .specification = "prompt-lookup", .vanilla_us = 6130, .drafts_by_layers = false};
  return {
      // These are times of an H200 with an 8B model when its pass over one row was slow.
      {"slow_baseline", alike({.drafted = 1, .accepted = 0, .draft_us = 0, .verify_us = 5000}, guesses),
       "The baseline's own pass is slower than one of 2 rows (v = 0.82): it takes 6.13 ms, that one "
       "5.00 ms, so that speedups stand over a slow baseline.",
       0.816, std::nullopt, alike({.drafted = 1, .accepted = 0, .draft_us = 0, .verify_us = 6130}, guesses)},
      {"slow_baseline_mean", scattered_widths(500),
       "On average a vanilla step takes 1.00 ms, a verification of 7.50 rows 500 us (v = 0.50), so that "
       "speedups stand over a slow baseline.",
       0.9, std::nullopt, alike({.drafted = 1, .accepted = 0, .draft_us = 0})},
  };
}

std::vector<Case> draft_cases() {
  std::vector<Case> all;
  // These are an H200's steps of a 135M model whose draft was held in q8_0.
  all.push_back({"draft_step_dear", alike({.draft_us = 4440, .verify_us = 1130}),
                 "A draft step takes 1.11 vanilla steps and brings one token at most: if every draft token "
                 "were kept, the speedup would be 0.90x.",
                 1.11, 0.57, alike({.draft_us = 3520, .verify_us = 1130})});
  const MadeRound step{.drafted = 0, .accepted = 0, .draft_us = 0, .outside_us = 40};
  all.push_back({"nothing_drafted",
                 alike(step, {.specification = "del"}),
                 "It drafted nothing in 240 of 240 rounds (100 %).",
                 1.0,
                 0.04,
                 {.specification = "del",
                  .round = [=](int index) { return index % 8 == 0 ? MadeRound{.accepted = 0} : step; }}});
  const auto seldom = [](int index) {
    return MadeRound{.accepted = index % 20 == 0 ? 1 : 0, .verify_us = 1200};
  };
  all.push_back({"nothing_accepted",
                 alike({.accepted = 0, .verify_us = 1200}),
                 "In 240 rounds none of 960 draft tokens was accepted.",
                 0.0,
                 0.6,
                 {.round = seldom}});
  const traces::Meta without_lengths = imported({MissingData::draft_lengths, MissingData::phase_times});
  all.push_back({"nothing_accepted",
                 alike({.accepted = 0}, {.meta = without_lengths}),
                 "In 240 rounds no draft token was accepted.",
                 0.0,
                 std::nullopt,
                 {.round = seldom, .meta = without_lengths}});
  // There are 8 steps of 0.1 and rows are free: after position 2 nothing is accepted, so 6 steps are wasted.
  const MadeRecording eight{.specification = "layerskip:exit=4,gamma=8,verify=all-layers"};
  all.push_back({"draft_too_long", alike({.drafted = 8, .accepted = 2, .draft_us = 800}, eight),
                 "Drafts go on past position 2, where acceptance has fallen: of the draft tokens after it "
                 "0 % are accepted, and drafting one pays from 17 % on.",
                 0.0, 0.6, alike({.drafted = 2, .accepted = 2, .draft_us = 200}, eight)});
  const MadeRecording untimed{.meta = imported({MissingData::round_times, MissingData::phase_times})};
  all.push_back({"tail_rejected", alike({.accepted = 2}, untimed),
                 "Drafts go on past position 2, where acceptance has fallen: 50 % of the draft tokens come "
                 "after it, and 0 % of those are accepted.",
                 0.0, std::nullopt, untimed});
  all.push_back({"too_few_accepted", alike({.accepted = 1, .draft_us = 1600}),
                 "Too few draft tokens are kept for what drafting and verifying take: 1.00 per round, where "
                 "1.60 would break even.",
                 1.0, 0.6, alike({.accepted = 1, .draft_us = 960})});
  const auto lookup = [](int rounds_per_guess) {
    return MadeRecording{.specification = "prompt-lookup:length=4", .round = [=](int index) {
                           return MadeRound{.accepted = index % rounds_per_guess == 0 ? 1 : 0,
                                            .draft_us = 0,
                                            .verify_us = 1200};
                         }};
  };
  all.push_back({"text_does_not_repeat", lookup(10),
                 "The text hardly repeats: 11 % of 216 rounds kept a guess.", 0.111, std::nullopt,
                 lookup(3)});
  return all;
}

/// Every second round verifies two rows, in `narrow_us`, and the others five.
MadeRecording two_widths(int narrow_us) {
  return {.round = [=](int index) {
    return index % 2 == 0 ? MadeRound{.drafted = 1, .accepted = 1, .verify_us = narrow_us}
                          : MadeRound{.accepted = 1, .verify_us = 1050};
  }};
}

std::vector<Case> time_cases() {
  std::vector<Case> all;
  const auto deciding = [](int decide_us) {
    return alike({.drafted = 2, .accepted = 2, .decide_us = decide_us}, {.specification = "swift"});
  };
  // A round gives three tokens for 1.4 steps of passes: 1.6 saved, 2 spent on deciding.
  all.push_back({"deciding_dear", deciding(2000),
                 "Deciding what to draft takes 2.00 vanilla steps per round, and drafting saves only 1.60 "
                 "before that is paid.",
                 2.0, 2.0, deciding(1500)});
  all.push_back({"narrow_pass_slow", two_widths(1300),
                 "Verification is slower than a wider one: 2 rows take 1.30 ms, 5 rows 1.05 ms.", 1.238,
                 0.125, two_widths(1050)});
  // Four additional rows cost 0.25 each; 0.05 are expected.
  all.push_back({"verification_dear", alike({.accepted = 4, .verify_us = 2000}),
                 "Verification takes 2.00 vanilla steps for 5.00 rows: a row beyond the first costs 0.25, "
                 "where at most 0.05 is expected as long as memory is the limit.",
                 0.25, 0.8, alike({.accepted = 4, .verify_us = 1200})});
  all.push_back({"time_outside_passes", alike({.outside_us = 300}),
                 "300 us of each round lie outside of its passes, none of a vanilla round: 0.30 vanilla "
                 "steps more (300 us). They lie between rounds (300 us).",
                 0.3, 0.3, alike({.outside_us = 40})});
  // A vanilla token takes 1.1 ms, of which 0.1 lie outside: only what a round has beyond that is a cost.
  const MadeRecording with_outside{.outside_vanilla_us = 100};
  all.push_back({"time_outside_passes", alike({.uncovered_us = 120, .outside_us = 200}, with_outside),
                 "320 us of each round lie outside of its passes, 100 us of a vanilla round: 0.20 vanilla "
                 "steps more (220 us). They lie between phases of a round (120 us), between rounds (200 us).",
                 0.2, 0.2, alike({.outside_us = 150}, with_outside)});
  // Every fourth round takes more than twice as long.
  const auto interrupted = [](int verify_us) {
    return MadeRecording{
        .round = [=](int index) { return MadeRound{.verify_us = index % 4 == 3 ? verify_us : 1000}; }};
  };
  all.push_back({"machine_busy", interrupted(4000),
                 "The machine was busy: 35 % of the time went to interruptions, in rounds that took at least "
                 "twice as long as others of the same passes.",
                 0.349, std::nullopt, interrupted(2300)});
  all.push_back({"repeats_differ",
                 {.repeats = 3, .slower_repeats = 0.25},
                 "The machine was not steady: the repeats of this run give 2.70x to 3.30x, 22 % apart.",
                 0.223,
                 std::nullopt,
                 {.repeats = 3, .slower_repeats = 0.05}});
  const MadeRound losing{.drafted = 1, .accepted = 1, .draft_us = 1500};
  all.push_back({"batch_too_large", alike(losing, {.at_a_time = 4}),
                 "4.00 requests run at a time, and speculation does not pay there: 0.80x.", 4.0, 0.5,
                 alike(losing)});
  all.push_back({"nothing_found",
                 {},
                 "Nothing stands out: 16 of 17 checks could be made on this recording, and none found "
                 "anything beyond its threshold.",
                 0.0,
                 std::nullopt,
                 alike({.outside_us = 300})});
  return all;
}

/// Cases of all findings but device_below_reading, of which DeviceBelowReading is a test.
std::vector<Case> cases() {
  std::vector<Case> all = unit_cases();
  for (const auto& more : {draft_cases(), time_cases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Explain, SaysEachSentenceOfTheRecordingThatIsMadeForIt) {
  for (const Case& wanted : cases()) {
    const MeasuredRecording measured = made_recording(wanted.recording);
    const Diagnosis diagnosis = only_diagnosis(measured);
    const Finding* const finding = find(diagnosis, wanted.key);
    if (finding == nullptr) {
      ADD_FAILURE() << wanted.key << " was not found, but " << keys_of(diagnosis) << diagnosis.summary;
      continue;
    }
    EXPECT_EQ(finding->sentence, wanted.sentence);
    EXPECT_NEAR(finding->figure, wanted.figure, 0.005) << wanted.key;
    if (wanted.cost) {
      ASSERT_TRUE(finding->cost) << wanted.key;
      EXPECT_NEAR(*finding->cost, *wanted.cost, 0.005) << wanted.key;
      EXPECT_NEAR(*finding->cost_share, *finding->cost / *diagnosis.round.takes, 1e-9) << wanted.key;
    }
  }
}

TEST(Explain, SaysNoSentenceOfARecordingThatJustMissesIt) {
  for (const Case& wanted : cases()) {
    const MeasuredRecording measured = made_recording(wanted.without);
    const Diagnosis diagnosis = only_diagnosis(measured);
    EXPECT_EQ(find(diagnosis, wanted.key), nullptr) << wanted.key << ": " << diagnosis.summary;
    for (const Unjudged& check : diagnosis.unjudged) EXPECT_NE(check.row->key, wanted.key) << check.reason;
  }
}

TEST(Explain, HasACaseForEveryRowOfItsTable) {
  std::set<std::string, std::less<>> wanted;
  for (const Case& each : cases()) wanted.insert(each.key);
  wanted.insert("device_below_reading");  // DeviceBelowReading tests it with a timed device.
  for (const FindingRow& row : finding_table()) EXPECT_TRUE(wanted.contains(row.key)) << row.key;
}

/// Recordings in which remedies differ: those of the cases, and others with one thing changed.
std::vector<MadeRecording> recordings_with_remedies() {
  std::vector<MadeRecording> all;
  for (const Case& each : cases()) {
    all.push_back(each.recording);
    if (each.recording.meta.contains("lacks")) continue;
    for (const traces::Meta& meta :
         {traces::Meta{{"device", "cuda"}}, traces::Meta{{"level", "ops"}}, imported({})}) {
      all.push_back(each.recording);
      all.back().meta = meta;
    }
  }
  all.push_back(alike({.drafted = 8, .accepted = 2, .draft_us = 800, .threshold = 0.6}));
  all.push_back(alike(
      {.accepted = 2},
      {.specification = "ngram", .meta = imported({MissingData::round_times, MissingData::phase_times})}));
  all.push_back(alike({.accepted = 1, .draft_us = 1600}, {.drafts_by_layers = false}));
  all.push_back(alike({.drafted = 2, .accepted = 2, .control_us = 2000}));
  all.push_back(alike({.drafted = 1, .accepted = 1, .verify_us = 2000}));
  all.push_back(alike({.accepted = 4, .verify_us = 2000}, {.parameters = R"({"verify":"above-exit"})"}));
  all.push_back({.interrupted_vanilla = 3, .interrupted_us = 7000});
  return all;
}

TEST(Explain, AdvisesWhatTheRunCanTakeAndNothingElse) {
  std::set<std::pair<std::string_view, std::string_view>> said;
  std::set<std::pair<std::string_view, std::string_view>> unsaid;
  for (const MadeRecording& made : recordings_with_remedies()) {
    const MeasuredRecording measured = made_recording(made);
    for (const Finding& finding : only_diagnosis(measured).findings) {
      EXPECT_FALSE(finding.remedy.empty()) << finding.row->key;
      for (const RemedyRow& remedy : finding.row->remedies) {
        const bool is_said = finding.remedy.find(remedy.words) != std::string::npos;
        (is_said ? said : unsaid).emplace(finding.row->key, remedy.words);
      }
    }
  }
  for (const FindingRow& row : finding_table())
    for (const RemedyRow& remedy : row.remedies) {
      const std::pair key(row.key, remedy.words);
      EXPECT_EQ(remedy.runs.empty(), remedy.can_take == nullptr) << row.key;
      EXPECT_EQ(unsaid.contains(key), remedy.can_take != nullptr) << row.key << ": " << remedy.words;
      EXPECT_TRUE(said.contains(key) || row.key == "device_below_reading") << row.key << ": " << remedy.words;
    }
}

TEST(Explain, NamesTheFastestRunOfTheRecordingWhereItIsAnother) {
  MadeRecording made = alike({.accepted = 1, .draft_us = 1600});
  made.other = "prompt-lookup";
  made.round_of_other = [](int) { return MadeRound{.draft_us = 0, .verify_us = 1250}; };
  const MeasuredRecording measured = made_recording(made);
  const std::vector<Diagnosis> found =
      explain(measured, {.simulate = [](const std::string& strategy) {
                return Result<SimulatedRemedy>(SimulatedRemedy{.strategy = strategy, .speedup = 3.0});
              }});
  ASSERT_EQ(found.size(), 2U);
  ASSERT_TRUE(found[0].faster);
  EXPECT_THAT(found[0].summary,
              ::testing::EndsWith(" The fastest run of this recording is prompt-lookup: 4.00x."));
  EXPECT_THAT(find(found[0], "too_few_accepted")->simulation,
              HasSubstr("prompt-lookup, which was recorded, is faster"));
  EXPECT_FALSE(found[1].faster);
  // A run that is slower than vanilla decoding is named to none.
  made.round_of_other = [](int) { return MadeRound{.draft_us = 4000, .verify_us = 1250}; };
  const MeasuredRecording slow = made_recording(made);
  for (const Diagnosis& diagnosis : explain(slow)) EXPECT_FALSE(diagnosis.faster) << diagnosis.summary;
  // Nor is one that is fast over a slow baseline.
  made.round_of_other = [](int) { return MadeRound{.draft_us = 0, .verify_us = 800}; };
  const MeasuredRecording unfair = made_recording(made);
  for (const Diagnosis& diagnosis : explain(unfair)) EXPECT_FALSE(diagnosis.faster) << diagnosis.summary;
}

TEST(Explain, CountsWhatATreeKeepsByItsSteps) {
  const MeasuredRecording measured = made_recording(alike({.drafted = 9, .accepted = 2, .steps = 4}));
  const Diagnosis diagnosis = only_diagnosis(measured);
  EXPECT_DOUBLE_EQ(*diagnosis.round.kept, 0.5);
  EXPECT_THAT(
      diagnosis.summary,
      HasSubstr(
          "for 10.0 rows; of the 4.00 draft steps per round, 9.00 tokens with branches, 50 % are kept."));
}

TEST(DraftStepDear, IsSaidInPlaceOfWhatFollowsFromIt) {
  // Acceptance is not to blame where a draft step costs as much as a vanilla step.
  for (const int accepted : {1, 2, 3}) {
    const MeasuredRecording measured =
        made_recording(alike({.accepted = accepted, .draft_us = 4440, .verify_us = 1130}));
    const Diagnosis diagnosis = only_diagnosis(measured);
    EXPECT_EQ(diagnosis.findings.front().row->key, "draft_step_dear") << keys_of(diagnosis);
    EXPECT_EQ(find(diagnosis, "too_few_accepted"), nullptr);
    EXPECT_EQ(find(diagnosis, "draft_too_long"), nullptr);
  }
}

TEST(NarrowPassSlow, ComparesPassesThatDoNoLessThanItsOwn) {
  const auto narrow = [](int narrow_us) {
    return [=](int) { return MadeRound{.drafted = 1, .accepted = 1, .verify_us = narrow_us}; };
  };
  const auto wide = [](int) { return MadeRound{.accepted = 1, .verify_us = 1050}; };
  const std::string above_exit = R"({"verify":"above-exit"})";
  const auto is_found = [](MadeRecording made, std::size_t run) {
    made.other = "quantised:weights=q8_0,gamma=4";
    const MeasuredRecording measured = made_recording(made);
    return find(explain(measured)[run], "narrow_pass_slow") != nullptr;
  };
  EXPECT_TRUE(is_found({.round = narrow(1300), .round_of_other = wide}, 0));
  EXPECT_FALSE(is_found({.round = narrow(1060), .round_of_other = wide}, 0)) << "below 3 % of the round";
  EXPECT_TRUE(is_found({.round = narrow(1300), .parameters = above_exit, .round_of_other = wide}, 0));
  EXPECT_FALSE(is_found({.round = wide, .parameters = above_exit, .round_of_other = narrow(1300)}, 1))
      << "the wider one leaves out layers";
}

TEST(Explain, ComparesWithVanillaRoundsWhereFirstTokenTimesLack) {
  const MeasuredRecording known = made_recording(alike({.uncovered_us = 300}));
  const MeasuredRecording lacking =
      made_recording(alike({.uncovered_us = 300},
                           {.with_first_tokens = false, .meta = imported({MissingData::first_token_times})}));
  const Diagnosis diagnosis = only_diagnosis(lacking);
  const Diagnosis expected = only_diagnosis(known);
  EXPECT_EQ(diagnosis.round.unit, RoundUnit::vanilla_step);
  EXPECT_FALSE(diagnosis.round.has_prefill);
  ASSERT_TRUE(diagnosis.round.speedup) << diagnosis.summary;
  EXPECT_NEAR(*diagnosis.round.speedup, *expected.round.speedup, 1e-6);
  EXPECT_NEAR(*diagnosis.round.takes, *expected.round.takes, 1e-6);
  EXPECT_NEAR(diagnosis.round.unit_ns, expected.round.unit_ns, 1e-3);
  EXPECT_THAT(diagnosis.summary, Not(HasSubstr("no vanilla run")));
  for (const Unjudged& check : diagnosis.unjudged)
    EXPECT_THAT(check.reason, Not(HasSubstr("vanilla run"))) << check.row->key;
}

/// A device that idles in each of ten rounds, in microseconds.
DeviceTime idle_device(int host_us, int launches_us, int kernels_us) {
  const auto of_ten_rounds = [](int us) { return std::int64_t{10'000} * us; };
  return {.rounds = 10,
          .gap_ns = of_ten_rounds(launches_us + kernels_us),
          .host_ns = of_ten_rounds(host_us),
          .gap_launch_ns = of_ten_rounds(launches_us)};
}

TEST(TimeOutsidePasses, IsWhatTheDeviceIdlesBeyondVanillaAndSaysWhere) {
  MeasuredRecording measured = made_recording({.meta = {{"device", "cuda"}}});
  // An H200 idled so in a recording that ships.
  measured.figures.runs[0].all.device = idle_device(192, 44, 0);
  measured.figures.runs[1].all.device = idle_device(276, 44, 5);
  const Diagnosis diagnosis = only_diagnosis(measured);
  const Finding* const finding = find(diagnosis, "time_outside_passes");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->sentence,
            "325 us of each round lie outside of its passes, 236 us of a vanilla round: 0.09 vanilla steps "
            "more (89.0 us). They lie with the host alone, before a round's first kernel and after its last "
            "(276 us), in the device's gaps before launches (44.0 us), in the device's gaps between kernels "
            "(5.00 us).");
  EXPECT_NEAR(*finding->cost, 0.089, 1e-9);
  EXPECT_NEAR(finding->figure, 0.089, 1e-9);
  measured.figures.runs[0].all.device = idle_device(230, 44, 5);
  EXPECT_EQ(find(only_diagnosis(measured), "time_outside_passes"), nullptr) << "46 us more than vanilla";
  measured.figures.runs[0].all.device = {};
  EXPECT_EQ(find(only_diagnosis(measured), "time_outside_passes"), nullptr) << "nothing to compare with";
}

TEST(TimeOutsidePasses, NamesThePhaseSyncWhereItHasSomeOfTheTime) {
  const auto sync = static_cast<std::size_t>(traces::Phase::sync);
  const auto idle = static_cast<std::size_t>(traces::Phase::idle);
  MeasuredRecording measured = made_recording({.round = [](int) { return MadeRound{.uncovered_us = 300}; }});
  Breakdown& phases = measured.figures.runs[1].all.breakdown.by_phase;
  for (const double waited : {0.0, 0.5, 1.0}) {
    const std::int64_t all_ns = phases[sync] + phases[idle];
    phases[sync] = static_cast<std::int64_t>(waited * static_cast<double>(all_ns));
    phases[idle] = all_ns - phases[sync];
    const Diagnosis diagnosis = only_diagnosis(measured);
    const Finding* const finding = find(diagnosis, "time_outside_passes");
    ASSERT_NE(finding, nullptr) << waited;
    EXPECT_EQ(finding->sentence.find("in phase sync (") != std::string::npos, waited > 0.0);
    EXPECT_EQ(finding->sentence.find("between phases of a round (") != std::string::npos, waited < 1.0);
    EXPECT_THAT(finding->sentence, Not(HasSubstr("between rounds")));
  }
}

TEST(DeviceBelowReading, IsSaidOfVerificationsThatADeviceTimed) {
  MeasuredRecording measured = made_recording({.meta = {{"device", "cuda"}}});
  const auto is_unjudged = [](const Diagnosis& diagnosis) {
    return std::any_of(diagnosis.unjudged.begin(), diagnosis.unjudged.end(),
                       [](const Unjudged& check) { return check.row->key == "device_below_reading"; });
  };
  EXPECT_TRUE(is_unjudged(only_diagnosis(measured))) << "nothing was timed";
  const traces::RunId run = measured.recording->runs.back().id;
  const auto operation = [&](std::string name, std::int64_t ns, std::int64_t bytes) {
    return OperationFigures{.run = run,
                            .phase = traces::Phase::verify,
                            .name = std::move(name),
                            .executions = 10,
                            .ns = ns,
                            .before_ns = 10'000,
                            .wait_ns = 20'000,
                            .bytes = bytes};
  };
  measured.operations = {
      true, {operation("gate up", 600'000, 300'000), operation("qkv", 400'000, 200'000)}, 1.0};
  const Diagnosis diagnosis = only_diagnosis(measured);
  EXPECT_FALSE(is_unjudged(diagnosis));
  const Finding* const finding = find(diagnosis, "device_below_reading");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->sentence,
            "The device reads for 50 % of a verification's time: 2.0 % go by before its operations begin, in "
            "4.0 % blocks wait for the last one, and gate up takes most (60 %).");
  measured.operations.read_gb_s = 0.6;
  EXPECT_EQ(find(only_diagnosis(measured), "device_below_reading"), nullptr);
}

TEST(Explain, NamesWhatAnImportLacksForEachCheckThatItCannotMake) {
  const MeasuredRecording measured =
      made_recording({.meta = imported({MissingData::draft_lengths, MissingData::round_times,
                                        MissingData::phase_times, MissingData::wall_times})});
  const Diagnosis diagnosis = only_diagnosis(measured);
  const auto reason = [&](std::string_view key) {
    for (const Unjudged& check : diagnosis.unjudged)
      if (check.row->key == key) return check.reason;
    return std::string("judged");
  };
  EXPECT_EQ(reason("draft_too_long"), "the recording lacks draft lengths");
  EXPECT_EQ(reason("machine_busy"), "the recording lacks round times");
  EXPECT_EQ(reason("repeats_differ"), "the recording lacks wall times");
  EXPECT_EQ(reason("verification_dear"), "how a round's time splits is not in the recording");
  EXPECT_EQ(reason("nothing_accepted"), "judged");
  EXPECT_EQ(diagnosis.summary,
            "A round yields 5.00 tokens; what it takes is not in the recording (it lacks wall times, round "
            "times, phase times).");
}

TEST(Explain, SaysThatAFewRoundsProveNothing) {
  const MeasuredRecording measured =
      made_recording({.round = [](int) { return MadeRound{.accepted = 0}; }, .prompts = 1, .tokens = 11});
  const Diagnosis diagnosis = only_diagnosis(measured);
  EXPECT_EQ(find(diagnosis, "nothing_accepted"), nullptr);
  ASSERT_FALSE(diagnosis.unjudged.empty());
  EXPECT_EQ(diagnosis.unjudged.front().reason, "it has 10 rounds, expected at least 20");
}

TEST(Explain, NeedsNoVanillaRunForWhatIsNoComparison) {
  const MeasuredRecording measured =
      made_recording({.round = [](int) { return MadeRound{.outside_us = 300}; }, .with_vanilla = false});
  const Diagnosis diagnosis = only_diagnosis(measured);
  EXPECT_EQ(diagnosis.summary,
            "A round takes 1.70 of its own verifications (draft 0.40, verification 1.00, the rest 0.30) and "
            "yields 5.00 tokens. There is no vanilla run to compare it with. Verification is 59 % of it, for "
            "5.00 rows; of the 4.00 draft tokens per round 100 % are kept.");
  const Finding* const outside = find(diagnosis, "time_outside_passes");
  ASSERT_NE(outside, nullptr);
  EXPECT_EQ(
      outside->sentence,
      "300 us of each round lie outside of its passes, 0.30 of its own verifications; those of a vanilla "
      "round are not in the recording. They lie between rounds (300 us).");
  EXPECT_EQ(outside->cost_sentence, "It costs 0.30 of its own verifications per round (18 % of its time).");
  EXPECT_FALSE(outside->speedup_without);
}

TEST(Explain, SaysThatAVanillaStepIsUnknownWhereThereIsAVanillaRun) {
  MeasuredRecording measured = made_recording({});
  Figures& figures = measured.figures.runs[1].all;
  figures.speedup.reset();
  figures.cost.target_step = TargetStep::verification;
  const Diagnosis diagnosis = only_diagnosis(measured);
  EXPECT_EQ(diagnosis.round.unit, RoundUnit::own_verification);
  EXPECT_THAT(diagnosis.summary,
              AllOf(HasSubstr(" What a vanilla step takes on its prompts is not in the recording."),
                    Not(HasSubstr("There is no vanilla run"))));
  EXPECT_FALSE(diagnosis.unjudged.empty());
  for (const Unjudged& check : diagnosis.unjudged)
    EXPECT_THAT(check.reason, Not(HasSubstr("there is no"))) << check.row->key;
}

/// Checks that sentences are complete, plain and on one line, for people who have never seen this program.
void expect_sentence(const std::string& text) {
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("\n")), Not(HasSubstr("{")), Not(HasSubstr("nan")), Not(HasSubstr("inf "))));
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '.') << text;
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) << text;
}

TEST(Explain, RanksByCostAndStaysFiniteOnAnyRecording) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const RandomOptions options{.prompts = 1 + static_cast<int>(seed % 9),
                                .repeats = 1 + static_cast<int>(seed % 3),
                                .equal_outputs = seed % 2 == 0,
                                .with_spans = seed % 5 != 0};
    RandomRecording random = random_recording(seed, options);
    MeasuredRecording measured;
    measured.recording = std::make_unique<traces::Recording>(std::move(random.recording));
    measured.figures = measure(*measured.recording, random.phase_spans);
    for (const Diagnosis& diagnosis : explain(measured)) {
      expect_sentence(diagnosis.summary);
      ASSERT_FALSE(diagnosis.findings.empty());
      double previous = std::numeric_limits<double>::infinity();
      for (const Finding& finding : diagnosis.findings) {
        if (finding.row->is_about_unit) {
          EXPECT_EQ(&finding, &diagnosis.findings.front());
          continue;
        }
        expect_sentence(finding.sentence);
        expect_sentence(finding.cost_sentence);
        EXPECT_TRUE(std::isfinite(finding.figure) && std::isfinite(finding.threshold));
        const double cost = finding.cost.value_or(-1.0);
        EXPECT_LE(cost, previous) << finding.row->key;
        previous = cost;
      }
      EXPECT_EQ(find(diagnosis, "nothing_found") != nullptr,
                diagnosis.findings.size() == 1 && diagnosis.findings.front().row == &finding_table().back());
    }
  }
}

TEST(Explain, GivesTheSimulatorsOwnAnswerToWhatItSaysToTry) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "trace.dstrace";
  write_shadowed_recording(
      {.prompts = 12, .skill = 0.6, .strategies = {"vanilla", "layerskip:exit=3,gamma=9"}}, path);
  auto reader = traces::Reader::open(path).value();
  const MeasuredRecording measured = measure_recording(path).value();
  const WhatIf what_if = train_to_explain(reader, *measured.recording).value();
  const Diagnosis diagnosis = only_diagnosis(measured, {.simulate = simulated_remedies(what_if)});
  const Finding* const finding = find(diagnosis, "draft_too_long");
  ASSERT_NE(finding, nullptr) << keys_of(diagnosis) << diagnosis.summary;
  ASSERT_TRUE(finding->simulated) << finding->simulation;
  ASSERT_TRUE(finding->simulated->interval_95);
  EXPECT_THAT(finding->simulated->strategy, ::testing::StartsWith("layerskip:exit=3,gamma="));
  const StrategyRounds rounds = what_if.rounds(finding->simulated->strategy).value();
  const Answer answer =
      ask(what_if.costs().model, rounds, {"as recorded", what_if.recorded_scenario(), nullptr, {}}).value();
  EXPECT_DOUBLE_EQ(finding->simulated->speedup, answer.speedup.min_drafted.value);
  EXPECT_DOUBLE_EQ(finding->simulated->interval_95->low, answer.speedup.interval_95()->low);
  EXPECT_DOUBLE_EQ(finding->simulated->interval_95->high, answer.speedup.interval_95()->high);
  EXPECT_GT(finding->simulated->speedup, *diagnosis.round.speedup) << "shorter drafts are faster here";
  expect_sentence(finding->simulation);
}

TEST(Explain, ComparesSimulatedSpeedupsByTheDigitsThatItPrints) {
  const MeasuredRecording measured = made_recording(alike({.accepted = 1, .draft_us = 1600}));
  for (int i = 0; i < 80; ++i) {
    const double speedup = 0.98 + 0.0005 * i;
    const Diagnosis diagnosis = only_diagnosis(
        measured, {.simulate = [=](const std::string& strategy) {
          return Result<SimulatedRemedy>(SimulatedRemedy{.strategy = strategy, .speedup = speedup});
        }});
    const Finding* const finding = find(diagnosis, "too_few_accepted");
    ASSERT_NE(finding, nullptr) << keys_of(diagnosis);
    const bool is_below_one = finding->simulation.find("would give 0.9") != std::string::npos;
    EXPECT_EQ(finding->simulation.find("Vanilla decoding is faster") != std::string::npos, is_below_one)
        << finding->simulation;
  }
}

TEST(Warnings, SayAfterHowManyRequestsARecordingWasInterrupted) {
  const MeasuredRecording interrupted = made_recording({.meta = {{"requests_planned", "100"}}});
  EXPECT_THAT(warnings(interrupted),
              ::testing::ElementsAre("the recording was interrupted after 8 of 100 requests"));
  EXPECT_TRUE(warnings(made_recording({})).empty());
}

TEST(Explain, SaysWhyTheSimulatorHasNoAnswer) {
  const MeasuredRecording measured =
      made_recording({.round = [](int) { return MadeRound{.accepted = 0, .outside_us = 300}; }});
  const Diagnosis diagnosis = only_diagnosis(measured, {.no_what_if_reason = "it was not asked"});
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_FALSE(finding.simulated);
    EXPECT_THAT(finding.simulation, ::testing::StartsWith("No answer: "));
  }
  EXPECT_EQ(find(diagnosis, "nothing_accepted")->simulation, "No answer: it was not asked.");
}

}  // namespace
}  // namespace draftscope::simulator
