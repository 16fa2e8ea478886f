// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that users of other engines asked in public, rebuilt as recordings from their figures, each with
// the sentence that answers it. Where a thread has no figures per round, the smallest recording with its sums
// represents it.
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/traces/import.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <fstream>
#include <memory>

#include "../../../temporary_folder.h"
#include "../figures/random_recording.h"
#include "made_recording.h"

namespace draftscope::simulator {

namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

struct Explained {
  MeasuredRecording measured;
  std::vector<Diagnosis> diagnoses;

  [[nodiscard]] std::string sentence(std::string_view key) const {
    for (const Diagnosis& diagnosis : diagnoses)
      for (const Finding& finding : diagnosis.findings)
        if (finding.row->key == key) return finding.sentence;
    return {};
  }
  [[nodiscard]] std::string unjudged(std::string_view key) const {
    for (const Diagnosis& diagnosis : diagnoses)
      for (const Unjudged& check : diagnosis.unjudged)
        if (check.row->key == key) return check.reason;
    return {};
  }
};

Explained explained(const std::string& text, const std::string& format = "",
                    const std::string& name = "run.jsonl") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / name) << text;
  traces::ImportOptions options;
  options.format = format;
  const auto imported = traces::import_recordings({folder / name}, options, folder / "run.dstrace");
  EXPECT_TRUE(imported) << imported.error().message;
  auto measured = measure_recording(folder / "run.dstrace");
  EXPECT_TRUE(measured) << measured.error().message;
  Explained all{std::move(*measured), {}};
  all.diagnoses = explain(all.measured, {.no_what_if_reason = "not asked"});
  return all;
}

/// A request of vLLM with one entry per step.
std::string vllm_line(const std::vector<int>& accepted, int drafted) {
  std::string lengths, drafts;
  for (const int length : accepted) {
    lengths += fmt::format("{}{}", lengths.empty() ? "" : ",", length);
    drafts += fmt::format("{}{}", drafts.empty() ? "" : ",", drafted);
  }
  return fmt::format(
             R"({{"metrics":{{"speculative_decoding":{{"per_step_accepted":[{}],"per_step_drafted":[{}]}}}}}})",
             lengths, drafts) +
         "\n";
}

// vLLM 41789 uses a drafter of another model family; its last log line says "Accepted: 25 tokens, Drafted:
// 3652 tokens".
TEST(ExplainImported, SaysThatDraftAndTargetDoNotBelongTogether) {
  std::vector<int> accepted(913, 0);
  for (std::size_t i = 0; i < 25; ++i) accepted[i * 36] = 1;
  const Explained answer = explained(vllm_line(accepted, 4));
  EXPECT_THAT(answer.sentence("nothing_accepted"), HasSubstr("913 rounds"));
  EXPECT_THAT(answer.sentence("nothing_accepted"), HasSubstr("25"));
}

// In SGLang 21272 the name of the algorithm was wrong, and the acceptance length was 1.0 without a warning.
TEST(ExplainImported, SaysThatNoRoundKeepsAnything) {
  std::string lengths = "1";
  for (int i = 1; i < 60; ++i) lengths += ",1";
  const Explained answer = explained(
      R"({"meta_info":{"completion_tokens":60,"spec_verify_ct":60,"speculative_decoding_stats":{"accept_lengths":[)" +
      lengths + "]}}}\n");
  EXPECT_THAT(answer.sentence("nothing_accepted"), HasSubstr("60 rounds"));
}

// The example of SGLang 33518 has 43 verifications of 5 drafts with the histogram [11, 14, 11, 4, 0, 3]. The
// histogram has no order, and checks of positions do not need one.
TEST(ExplainImported, SaysWhereDraftsShouldEnd) {
  std::vector<int> accepted;
  const int histogram[] = {11, 14, 11, 4, 0, 3};
  for (int length = 0; length <= 5; ++length)
    accepted.insert(accepted.end(), static_cast<std::size_t>(histogram[length]), length);
  ASSERT_EQ(accepted.size(), 43U);
  const Explained answer = explained(vllm_line(accepted, 5));
  EXPECT_THAT(answer.sentence("tail_rejected"), HasSubstr("past position 3"));
}

// SGLang reports the same example without rounds: its sums are told, and what they lack.
TEST(ExplainImported, TellsSumsAndNamesWhatTheyLack) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "run.jsonl")
      << R"({"meta_info":{"completion_tokens":106,"spec_verify_ct":43,"spec_num_proposed_drafts":215,)"
         R"("spec_num_correct_drafts":63,"spec_correct_drafts_histogram":[11,14,11,4,0,3]}})";
  ASSERT_TRUE(traces::import_recordings({folder / "run.jsonl"}, {}, folder / "run.dstrace"));
  const auto measured = measure_recording(folder / "run.dstrace");
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_DOUBLE_EQ(*measured->figures.runs[0].all.acceptance.mean_accepted_length, 1.0 + 63.0 / 43.0);
  const auto diagnoses = explain(*measured);
  ASSERT_EQ(diagnoses.size(), 1U);
  EXPECT_TRUE(diagnoses[0].findings.empty());
  EXPECT_THAT(diagnoses[0].summary,
              HasSubstr("a verification yields 2.47 tokens and 29 % of the draft tokens"));
  EXPECT_THAT(diagnoses[0].summary, HasSubstr("it lacks rounds"));
}

// In llama.cpp 25908 about 20 ms of each block were unexplained. Steps take 30 ms, of which drafting takes 8
// ms; the log of --verbose shows where drafting ended.
TEST(ExplainImported, TellsDraftFromVerificationInALlamaLog) {
  std::string log =
      "0.00.000.000 I slot launch_slot_: id  0 | task 0 | processing task, is_child = 0\n"
      "0.00.010.000 D slot process_toke: id  0 | task 0 | n_gen = 1, n_remaining = 99, next token:   1 'a'\n";
  std::int64_t us = 10'000;
  const auto time = [](std::int64_t t) {
    return fmt::format("{}.{:02}.{:03}.{:03}", t / 60'000'000, t / 1'000'000 % 60, t / 1000 % 1000, t % 1000);
  };
  for (int i = 0; i < 40; ++i) {
    log += time(us + 8'000) +
           " D slot x: id  0 | task 0 | generate_draft: id=1, #tokens=9, #draft=3, pos_next=9\n";
    us += 30'000;
    log += time(us) + fmt::format(" I slot x: id  0 | task 0 | accepted  {}/ 3 draft tokens\n", i % 3);
  }
  log += time(us + 100) + " I slot release: id  0 | task 0 | stop processing: n_tokens = 90, truncated = 0\n";
  const Explained answer = explained(log, "llama-cpp", "server.log");
  ASSERT_EQ(answer.diagnoses.size(), 1U);
  const RoundAccount& round = answer.diagnoses[0].round;
  ASSERT_TRUE(round.parts);
  EXPECT_EQ(round.unit, RoundUnit::own_verification);
  EXPECT_NEAR(round.parts->draft / round.parts->verify, 8.0 / 22.0, 0.01);
  EXPECT_NEAR(round.unit_ns, 22e6, 1e4);
}

// TensorRT-LLM's iterations contain the draft's time without any hook.
TEST(ExplainImported, TellsTheDraftsShareOfTensorRtIterations) {
  std::string text =
      R"({"iter":99,"iterLatencyMS":50.0,"inflightBatchingStats":{"numContextRequests":1,"numGenRequests":0}})"
      "\n";
  for (int i = 0; i < 40; ++i)
    text +=
        fmt::format(
            R"({{"iter":{},"iterLatencyMS":10.0,"inflightBatchingStats":{{"numContextRequests":0,"numGenRequests":1}},)"
            R"("specDecodingStats":{{"numDraftTokens":4,"numAcceptedTokens":{},"iterLatencyMS":2.5}}}})",
            100 + i, i % 4) +
        "\n";
  const Explained answer = explained(text);
  ASSERT_EQ(answer.diagnoses.size(), 1U);
  ASSERT_TRUE(answer.diagnoses[0].round.parts);
  EXPECT_NEAR(answer.diagnoses[0].round.parts->draft / answer.diagnoses[0].round.parts->verify, 2.5 / 7.5,
              0.01);
}

// llama.cpp 27676 asks for the number of verifications. The lines of LLAMA_TRACE do not show steps without a
// draft.
TEST(ExplainImported, SaysWhatATraceLogCannotTell) {
  const Explained answer = [] {
    std::ifstream file(DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/import/llama_cpp/server_trace.log");
    return explained({std::istreambuf_iterator<char>(file), {}}, "llama-cpp", "server.log");
  }();
  EXPECT_THAT(answer.unjudged("nothing_drafted"), AnyOf(HasSubstr("plain steps"), HasSubstr("rounds")));
}

TEST(RoundAccount, SaysWhatARoundTakesAndYields) {
  const MeasuredRecording measured = made_recording({.round = [](int) {
    return MadeRound{.drafted = 8, .accepted = 2, .draft_us = 1200, .verify_us = 2200, .decide_us = 100};
  }});
  const std::vector<Diagnosis> found = explain(measured);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found.front().summary,
      "A round takes 3.50 vanilla steps (draft 1.20, verification 2.20, deciding 0.10) and "
      "yields 3.00 tokens: 0.86x. Verification is 63 % of it, for 9.00 rows; of the 8.00 draft tokens per "
      "round 25 % are kept. If a verification took one vanilla step, whatever its rows, the speedup would be "
      "1.30x.");
  EXPECT_EQ(found.front().round.unit, RoundUnit::vanilla_step);
  EXPECT_NEAR(found.front().round.unit_ns, 1e6, 1.0);
}

TEST(RoundAccount, AddsUpToTheMeasuredDecodeSpeedup) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomRecording random = random_recording(seed, {.equal_outputs = seed % 2 == 0});
    MeasuredRecording measured;
    measured.recording = std::make_unique<traces::Recording>(std::move(random.recording));
    measured.figures = measure(*measured.recording, random.phase_spans);
    const std::vector<Diagnosis> found = explain(measured);
    ASSERT_EQ(found.size() + 1, measured.figures.runs.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const RoundAccount& round = found[i].round;
      EXPECT_DOUBLE_EQ(*round.speedup, *measured.figures.runs[i + 1].all.speedup->decode_value);
      EXPECT_NEAR(*round.yields / *round.takes, *round.speedup, 1e-12);
      ASSERT_TRUE(round.parts);
      const RoundParts& parts = *round.parts;
      EXPECT_GE(parts.outside, 0.0);
      EXPECT_NEAR(parts.draft + parts.verify + parts.decide + parts.accept + parts.outside, *round.takes,
                  1e-9);
    }
  }
}

}  // namespace

}  // namespace draftscope::simulator
