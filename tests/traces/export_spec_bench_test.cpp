// SPDX-License-Identifier: GPL-3.0-or-later
// The export of Spec-Bench answers is read back by other means.
#include <draftscope/traces/exporters.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sample.h"

namespace draftscope::traces {
namespace {

using nlohmann::json;

class SpecBenchExport : public testing::TestWithParam<std::uint32_t> {};

TEST_P(SpecBenchExport, GivesBackEveryTurn) {
  const SampleFile file({.seed = GetParam(), .requests_per_run = 6});
  const Sample& sample = file.sample;
  Reader reader = file.open();
  ASSERT_TRUE(export_spec_bench(reader, file.folder / "answers"));
  std::size_t turns = 0;
  for (const traces::Run& run : sample.recording.runs) {
    std::istringstream lines(read_file(file.folder / "answers" / (run.specification + ".jsonl")));
    std::string line;
    std::int64_t last_question = 0;
    while (std::getline(lines, line)) {
      const json answer = json::parse(line);
      EXPECT_GT(answer.at("question_id"), last_question) << "sorted by question";
      last_question = answer.at("question_id");
      EXPECT_EQ(answer.at("model_id"), "demo-" + run.specification);
      ASSERT_EQ(answer.at("choices").size(), 1U);
      const json& choice = answer.at("choices").at(0);
      std::size_t steps = 0;
      for (std::size_t turn = 0; turn < choice.at("turns").size(); ++turn, ++turns) {
        const auto request = std::find_if(
            sample.recording.requests.begin(), sample.recording.requests.end(), [&](const Request& r) {
              const Prompt& prompt =
                  sample.recording.prompts.at(static_cast<std::size_t>(r.prompt_id.value()) - 1);
              return r.run_id == run.id && prompt.question_id == last_question &&
                     prompt.turn == static_cast<std::int32_t>(turn);
            });
        ASSERT_NE(request, sample.recording.requests.end());
        EXPECT_EQ(choice.at("turns").at(turn), request->text);
        EXPECT_EQ(choice.at("new_tokens").at(turn), request->tokens.size());
        EXPECT_DOUBLE_EQ(choice.at("wall_time").at(turn).get<double>() * 1e9,
                         static_cast<double>(request->end_ns - request->start_ns));
        steps += choice.at("decoding_steps").at(turn).get<std::size_t>();
      }
      EXPECT_EQ(choice.at("accept_lengths").size(), steps);
      if (run.is_baseline) {
        for (const json& length : choice.at("accept_lengths")) EXPECT_EQ(length, 1);
      }
    }
  }
  // A question with a turn that was cut off is left out as a whole.
  std::map<std::pair<RunId, std::int64_t>, std::pair<std::size_t, bool>> questions;
  for (const Request& request : sample.recording.requests) {
    const Prompt& prompt =
        sample.recording.prompts.at(static_cast<std::size_t>(request.prompt_id.value()) - 1);
    auto& [count, cut_off] = questions[{request.run_id, prompt.question_id}];
    ++count;
    cut_off |= request.stop == RequestStop::cancelled || request.stop == RequestStop::error;
  }
  std::size_t expected_turns = 0;
  for (const auto& [question, count] : questions) expected_turns += count.second ? 0 : count.first;
  EXPECT_GT(expected_turns, 0U);
  EXPECT_EQ(turns, expected_turns);
}

TEST(SpecBenchFiles, AreRefusedWhereWallTimesAreUnknown) {
  const SampleFile file({.seed = 1});
  change(file.path, R"(INSERT INTO meta VALUES ('lacks', '["wall times"]'))");
  Reader reader = file.open();
  const auto refused = export_spec_bench(reader, file.folder / "answers");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("found requests without wall times"));
  EXPECT_FALSE(std::filesystem::exists(file.folder / "answers"));
}

INSTANTIATE_TEST_SUITE_P(seeds, SpecBenchExport, testing::Values(1U, 2U, 3U));

TEST(ExportToAFolderThatIsNotThere, SaysSoInOneLine) {
  const SampleFile file;
  Reader reader = file.open();
  const auto result = export_perfetto(reader, file.folder / "no/trace.pftrace");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("/no/trace."));
  EXPECT_THAT(result.error().message, testing::HasSubstr("No such file"));
}

TEST(FolderExport, LeavesNeitherTheTargetNorAPartOfItWhenCancelled) {
  const SampleFile file({.seed = 3});
  Reader reader = file.open();
  const auto result =
      export_spec_bench(reader, file.folder / "out", [](std::int64_t, std::int64_t) { return false; });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "export cancelled");
  EXPECT_EQ(names_in(file.folder).size(), 1U);
}

TEST(FolderExport, KeepsOtherFilesOfAFolderThatIsThere) {
  const SampleFile file({.seed = 3});
  const TestFolder& folder = file.folder;
  Reader reader = file.open();
  std::filesystem::create_directory(folder / "out");
  std::ofstream(folder / "out" / "notes.txt") << "mine";
  std::ofstream(folder / "out" / "vanilla.jsonl") << "old";
  ASSERT_TRUE(export_spec_bench(reader, (folder / "out") / ""));
  EXPECT_EQ(read_file(folder / "out" / "notes.txt"), "mine");
  EXPECT_EQ(read_file(folder / "out" / "vanilla.jsonl").substr(0, 1), "{");
}

}  // namespace
}  // namespace draftscope::traces
