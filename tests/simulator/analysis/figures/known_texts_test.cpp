// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/analysis/question_names.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace draftscope::simulator {

namespace {

/// A run whose requests have given outputs, of 40 tokens in as many rounds as said.
struct MadeRun {
  struct Made {
    std::int32_t text;  ///< Requests with the same number have the same output.
    std::int64_t rounds;
  };
  explicit MadeRun(const std::vector<Made>& made) : requests(made.size()), sums(made.size()) {
    run.specification = "guesses";
    rows.run = &run;
    for (std::size_t i = 0; i < made.size(); ++i) {
      requests[i].tokens.assign(40, made[i].text);
      sums[i] = {.rounds = made[i].rounds, .emitted = 40};
      rows.requests.push_back({.request = &requests[i], .stored = &sums[i]});
    }
  }
  traces::Run run;
  std::vector<traces::Request> requests;
  std::vector<traces::RequestSum> sums;
  RunRows rows;
};

TEST(KnownTexts, AreNamedWhereARepeatedOutputTakesFewerRoundsThanTheFirstTime) {
  EXPECT_EQ(
      known_texts_note(MadeRun({{1, 20}, {2, 20}, {1, 5}, {1, 3}}).rows),
      "guesses: 2 requests repeat the output of an earlier one and yield 10.00 tokens a round, 2.00 the "
      "first time: the run keeps texts of earlier requests");
  for (const auto& made : {std::vector<MadeRun::Made>{{1, 20}, {1, 20}},
                           {{1, 20}, {1, 17}},         // less than a quarter more
                           {{1, 20}, {2, 2}, {3, 2}},  // other texts
                           {{1, 4}, {1, 2}},           // too few rounds
                           {}})
    EXPECT_EQ(known_texts_note(MadeRun(made).rows), "");
  MadeRun unknown({{-1, 20}, {-1, 5}});
  for (RequestRows& rows : unknown.rows.requests) rows.known.token_ids = false;
  EXPECT_EQ(known_texts_note(unknown.rows), "");
}

TEST(ShortDrafts, AreNamedWithTheLongestPromptThatTheyCannotHold) {
  traces::Recording recording;
  recording.prompts.resize(2);
  recording.prompts[0].tokens.resize(49);
  recording.meta["draft_model_shapes"] =
      R"({"small":{"max_positions":48},"large":{"max_positions":49},"x":1})";
  EXPECT_THAT(short_drafts_notes(recording),
              ::testing::ElementsAre(
                  "draft model small holds 48 tokens, the longest prompt 49: beyond its context it "
                  "drafts nothing"));
}

TEST(QuestionNames, AreShownBesideTheNumbersThatTablesHave) {
  const auto names_of = [](const char* json) {
    traces::Meta meta;
    meta["question_names"] = json;
    return QuestionNames(meta);
  };
  const QuestionNames names = names_of(R"({"3":"HumanEval/0","x":"y","4":5})");
  EXPECT_EQ(names.label({.question_id = 3}), "3 (HumanEval/0)");
  EXPECT_EQ(names.label({.question_id = 3, .turn = 1}), "3.2 (HumanEval/0)");
  EXPECT_EQ(names.label({.question_id = 4}), "4");
  for (const char* broken : {"", "[1]", "{"}) EXPECT_EQ(names_of(broken).name(3), "");
  EXPECT_EQ(QuestionNames(traces::Meta()).name(3), "");
}

TEST(DifferingSettings, AreCountedNamedByTheirRangeOrByTheirNumber) {
  const auto line = [](const std::string& json) { return differing_settings({{"question_settings", json}}); };
  EXPECT_EQ(differing_settings({}), "");
  EXPECT_EQ(line(R"({"1":{"top_k":"4"},"2":{"top_k":"4"}})"), "");
  EXPECT_EQ(line(R"({"1":{"top_k":"4","max_tokens":"9"},"2":{"max_tokens":"9"},"3":5})"),
            "max tokens 9 in 2 of 3 requests; top k 4 in 1 of 3 requests");
  EXPECT_EQ(line(R"({"1":{"top_p":"0.5"},"2":{"top_p":"0.25"},"3":{"top_p":"1e-3"},"4":{"top_p":"0.7"}})"),
            "top p 1e-3 to 0.7");
  EXPECT_EQ(line(R"({"1":{"stop_strings":"[\"a text that is not short\"]"},"2":{"logit_bias":{"3":nan}}})"),
            "question_settings is no JSON object, expected the settings of each request");
  EXPECT_EQ(line(R"({"1":{"stop_strings":"[\"a text that is not short\"]"},"2":{}})"),
            "stop strings (values: 1)");
}

std::optional<RunMemory> of(const std::string& text, traces::RunId run = 2) {
  return run_memory({{"run_memory", text}}, run);
}

TEST(RunMemory, IsReadAsItWasWritten) {
  const auto memory = of(
      R"({"1":{},"2":{"peak_bytes":100,"weight_bytes":40,"draft_weight_bytes":10,"kv_bytes":20,"workspace_bytes":5}})");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->peak_bytes, 100);
  EXPECT_EQ(memory->draft_weight_bytes, 10);
  EXPECT_EQ(memory->other_bytes(), 25);
}

TEST(RunMemory, HasNoRestBelowNothing) {
  const auto resident = of(
      R"({"2":{"peak_bytes":30,"weight_bytes":40,"draft_weight_bytes":0,"kv_bytes":20,"workspace_bytes":5}})");
  EXPECT_EQ(resident->other_bytes(), 0);
  const auto unknown = of(
      R"({"2":{"peak_bytes":0,"weight_bytes":40,"draft_weight_bytes":0,"kv_bytes":20,"workspace_bytes":5}})");
  EXPECT_FALSE(unknown->peak_bytes);
  EXPECT_FALSE(unknown->other_bytes());
}

TEST(RunMemory, IsAbsentWhereItIsMissingOrDamaged) {
  EXPECT_FALSE(run_memory({}, 1));
  for (
      const std::string text :
      {"", "[]", "{}", R"({"2":3})", R"({"2":{"weight_bytes":1}})",
       R"({"2":{"weight_bytes":-1,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})",
       R"({"2":{"weight_bytes":1e300,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})",
       R"({"2":{"weight_bytes":18446744073709551615,"draft_weight_bytes":0,"kv_bytes":0,"workspace_bytes":0}})"})
    EXPECT_FALSE(of(text)) << text;
}

}  // namespace

}  // namespace draftscope::simulator
