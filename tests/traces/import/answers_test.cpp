// SPDX-License-Identifier: GPL-3.0-or-later
// Answer files of each kind. The expected figures were computed by hand from the fixtures.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "imported.h"

namespace draftscope::traces {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

std::vector<std::int32_t> emitted_of(const Imported& imported, RequestId request_id) {
  std::vector<std::int32_t> lengths;
  for (const Round& round : imported.recording.rounds)
    if (round.request_id == request_id) lengths.push_back(round.emitted);
  return lengths;
}

TEST(SpecBenchImport, SplitsTheAcceptLengthsByTheTurnsDecodingSteps) {
  const Imported imported = import_fixture("spec_bench/layerskip_exit=2,gamma=4.jsonl");
  ASSERT_EQ(imported.recording.requests.size(), 3U);
  EXPECT_THAT(emitted_of(imported, 1), ElementsAre(4, 2));
  EXPECT_THAT(emitted_of(imported, 2), ElementsAre(1, 3, 2));
  EXPECT_THAT(emitted_of(imported, 3), ElementsAre(3));
  const Request& second = imported.recording.requests[1];
  EXPECT_EQ(second.text, "second answer");
  EXPECT_EQ(second.tokens.size(), 6U);
  EXPECT_EQ(second.start_ns, 500'000'000);
  EXPECT_EQ(second.end_ns, 750'000'000);
  EXPECT_EQ(imported.recording.prompts[1].turn, 1);
  EXPECT_EQ(imported.recording.prompts[2].category, "qa");
}

TEST(SpecBenchImport, SaysThatDraftLengthsAreNotKnownAndTakesThemFromTheCaller) {
  const ImportFolder folder;
  const auto file = fixture("spec_bench/layerskip_exit=2,gamma=4.jsonl");
  const Imported without = import_soundly({file}, {}, folder / "without.dstrace");
  EXPECT_THAT(without.summary.missing, Contains(MissingData::draft_lengths));
  for (const Round& round : without.recording.rounds) EXPECT_EQ(round.drafted, round.accepted);

  ImportOptions options;
  options.draft_length = 4;
  options.baseline = fixture("spec_bench/vanilla.jsonl");
  const Imported with = import_soundly({file}, options, folder / "with.dstrace");
  EXPECT_THAT(with.summary.missing, Not(Contains(MissingData::draft_lengths)));
  for (const Round& round : with.recording.rounds)
    EXPECT_EQ(
        round.drafted,
        with.recording.requests[static_cast<std::size_t>(round.request_id.value() - 1)].run_id == 1 ? 0 : 4);
  EXPECT_EQ(with.recording.meta.at("model"), "tiny") << "of the model_id tiny-vanilla, as exports have it";
  EXPECT_TRUE(with.recording.runs[0].is_baseline);
  EXPECT_FALSE(with.recording.runs[1].is_baseline);
  EXPECT_EQ(with.recording.prompts.size(), 3U) << "both runs answer the same prompts";

  options.draft_length = 2;
  const auto refused = import_recordings({file}, options, folder / "refused.dstrace");
  ASSERT_FALSE(refused);
  EXPECT_NE(
      refused.error().message.find("a round accepts 3 draft tokens, expected at most its draft length (2)"),
      std::string::npos)
      << refused.error().message;
}

TEST(SpecBenchImport, PairsQuestionsThatFilesKnowByTexts) {
  const ImportFolder folder;
  const auto line = [](const char* id) {
    return fmt::format(R"({{"question_id":"{}","choices":[{{"turns":["a"],"decoding_steps":[2],)"
                       R"("new_tokens":[5],"wall_time":[1],"accept_lengths":[3,2]}}]}})",
                       id);
  };
  const auto one = folder.write("one.jsonl", line("aadd") + "\n" + line("7b"));
  const auto two = folder.write("two.jsonl", line("7b") + "\n" + line("aadd"));
  const Imported imported = import_soundly({one, two}, {}, folder / "out.dstrace");
  EXPECT_EQ(imported.recording.prompts.size(), 2U);
  EXPECT_EQ(imported.recording.meta.at("question_names"), R"({"1":"aadd","2":"7b"})");
}

TEST(SpecBenchImport, TellsTurnsApartByTheirTokensWhereTheStepsDoNotAddUp) {
  const Imported imported =
      import_text("medusa.jsonl", R"({"question_id":1,"choices":[{"turns":["a","b"],"decoding_steps":[1,1],)"
                                  R"("new_tokens":[5,4],"wall_time":[1,1],"accept_lengths":[3,2,2,2]}]})");
  EXPECT_THAT(emitted_of(imported, 1), ElementsAre(3, 2));
  EXPECT_THAT(emitted_of(imported, 2), ElementsAre(2, 2));
  EXPECT_THAT(imported.summary.missing, Contains(MissingData::turns));
}

TEST(SpecBenchImport, TakesANumberForARepeatOnlyWhereItsChoicesCanFollow) {
  const Imported imported = import_text(
      "a.repeat-2147483647.jsonl",
      R"({"question_id":1,"choices":[{"turns":["a"],"new_tokens":[1]},{"turns":["b"],"new_tokens":[1]}]})");
  ASSERT_EQ(imported.recording.requests.size(), 2U);
  EXPECT_EQ(imported.recording.runs[0].specification, "a.repeat-2147483647");
  EXPECT_EQ(imported.recording.requests[1].repeat, 1);
}

TEST(SwiftImport, NumbersAnswersByTheirLinesAndKeepsTheSummary) {
  const Imported imported = import_fixture("swift/answers.jsonl");
  EXPECT_EQ(imported.summary.formats, std::vector<std::string_view>{"swift"});
  ASSERT_EQ(imported.recording.requests.size(), 2U);
  EXPECT_THAT(emitted_of(imported, 1), ElementsAre(4, 3, 2));
  EXPECT_EQ(imported.recording.prompts[1].question_id, 2);
  const auto stated = nlohmann::json::parse(imported.recording.meta.at("stated_figures"));
  EXPECT_EQ(stated["answers"]["Mean accepted tokens"], 2.6);
}

TEST(LayerSkipImport, KeepsTheFiguresOfARunThatHasNoRounds) {
  const Imported imported = import_fixture("layerskip/benchmark.json");
  ASSERT_EQ(imported.recording.runs.size(), 1U);
  EXPECT_EQ(imported.recording.runs[0].specification, "layerskip:exit=8,gamma=6");
  EXPECT_TRUE(imported.recording.rounds.empty());
  EXPECT_TRUE(is_missing(imported.recording.meta, MissingData::rounds));
  const auto stated = nlohmann::json::parse(imported.recording.meta.at("stated_figures"));
  EXPECT_EQ(stated["layerskip:exit=8,gamma=6"]["acceptance_rate"], 0.75);
  EXPECT_EQ(imported.recording.meta.at("model"), "tiny/layerskip");
}

TEST(LayerSkipImport, KeepsAFieldThatALaterObjectHasAsNull) {
  const Imported imported = import_text(
      "a.json",
      R"({"num_speculations":6,"exit_layer":8}{"exit_layer":null,"tokens_per_second":{"mean":55.0}})");
  EXPECT_EQ(imported.recording.runs.at(0).specification, "layerskip:exit=8,gamma=6");
}

TEST(LayerSkipImport, MakesARunOfEachRowOfASweep) {
  const Imported imported = import_fixture("layerskip/sweep.csv");
  ASSERT_EQ(imported.recording.runs.size(), 2U);
  EXPECT_EQ(imported.recording.runs[1].specification, "layerskip:exit=2,gamma=2");
}

TEST(AcceptanceImport, VllmsOwnCountsAreWhatThePluginSawInItsScheduler) {
  const Imported counts = import_fixture("acceptance/vllm_0.32_offline.jsonl");
  const Imported plugin = import_fixture("rounds/vllm_0.32_plugin.jsonl");
  ASSERT_EQ(counts.recording.requests.size(), 3U);
  ASSERT_EQ(plugin.recording.requests.size(), 3U);
  // vLLM counts only steps that verify a draft, whereas the plugin has the others, too.
  std::vector<std::pair<std::int32_t, std::int32_t>> counted, seen;
  for (const Round& round : counts.recording.rounds) counted.emplace_back(round.drafted, round.accepted);
  for (const Round& round : plugin.recording.rounds)
    if (round.drafted > 0) seen.emplace_back(round.drafted, round.accepted);
  EXPECT_EQ(counted.size(), 22U);
  EXPECT_EQ(counted, seen);
}

TEST(AcceptanceImport, TakesEachWayOfSayingTheLengths) {
  const Imported imported = import_fixture("acceptance/per_step.jsonl");
  ASSERT_EQ(imported.recording.requests.size(), 4U);
  std::vector<std::vector<std::int32_t>> drafted(4), accepted(4);
  for (const Round& round : imported.recording.rounds) {
    drafted[static_cast<std::size_t>(round.request_id.value() - 1)].push_back(round.drafted);
    accepted[static_cast<std::size_t>(round.request_id.value() - 1)].push_back(round.accepted);
  }
  EXPECT_THAT(drafted, ElementsAre(ElementsAre(3, 3, 3), ElementsAre(3, 2), ElementsAre(3, 2, 0),
                                   ElementsAre(4, 4, 4)));
  EXPECT_THAT(accepted, ElementsAre(ElementsAre(2, 0, 3), ElementsAre(1, 2), ElementsAre(2, 0, 0),
                                    ElementsAre(2, 0, 1)));
  const Request& vllm = imported.recording.requests[1];
  EXPECT_EQ(vllm.first_token_ns - vllm.start_ns, 100'000'000);
  EXPECT_EQ(vllm.end_ns - vllm.start_ns, 500'500'000);
  EXPECT_EQ(vllm.tokens.size(), 6U);
  EXPECT_THAT(imported.summary.missing, Contains(MissingData::wall_times)) << "of the last two";
}

TEST(MissingData, SurviveTheirText) {
  std::vector<MissingData> all;
  for (int i = 0; i < missing_data_count; ++i) all.push_back(static_cast<MissingData>(i));
  EXPECT_EQ(missing_data_of({{"lacks", missing_data_text(all)}}), all);
  EXPECT_TRUE(missing_data_of({}).empty());
  EXPECT_TRUE(missing_data_of({{"lacks", "no list"}}).empty());
  EXPECT_TRUE(missing_data_of({{"lacks", R"(["something of a later version", 3])"}}).empty());
}

}  // namespace
}  // namespace draftscope::traces
