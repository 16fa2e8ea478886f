// SPDX-License-Identifier: GPL-3.0-or-later
// The exports that are text, Chrome JSON and Spec-Bench answers, are read back by other means.
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

/// Converts "123.456" microseconds, with the file's own digits, into nanoseconds.
std::int64_t exact_ns(const std::string& microseconds) {
  const std::size_t point = microseconds.find('.');
  EXPECT_EQ(microseconds.size() - point, 4U) << microseconds;
  return std::stoll(microseconds.substr(0, point)) * 1000 + std::stoll(microseconds.substr(point + 1));
}

/// Finds the digits after a key in one event's line, because nlohmann would return a double.
std::int64_t time_in(const std::string& line, const std::string& key) {
  const std::size_t start = line.find("\"" + key + "\":") + key.size() + 3;
  return exact_ns(line.substr(start, line.find_first_of(",}", start) - start));
}

class TextExport : public testing::TestWithParam<std::uint32_t> {};

TEST_P(TextExport, AsChromeJsonNestsAndSumsExactly) {
  const SampleFile file({.seed = GetParam(), .operations = true});
  const Sample& sample = file.sample;
  Reader reader = file.open();
  ASSERT_TRUE(export_chrome(reader, file.folder / "trace.json"));
  const std::string text = read_file(file.folder / "trace.json");
  const json document = json::parse(text);
  EXPECT_EQ(document.at("displayTimeUnit"), "ns");

  struct Interval {
    std::int64_t start_ns, end_ns;
  };
  std::map<int, std::vector<Interval>> threads;
  std::map<std::string, std::int64_t> phase_ns, expected_phase_ns;
  std::map<std::string, std::size_t> kinds;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // the opening line
  for (const json& event : document.at("traceEvents")) {
    std::getline(lines, line);
    const std::string kind = event.at("ph");
    ++kinds[kind];
    if (kind != "X") continue;
    const std::int64_t start_ns = time_in(line, "ts");
    const std::int64_t duration_ns = time_in(line, "dur");
    threads[event.at("tid")].push_back({start_ns, start_ns + duration_ns});
    if (event.at("cat") == "decision") {
      const Decision& decision = sample.decisions.at(event.at("args").at("decision").get<std::size_t>() - 1);
      EXPECT_EQ(start_ns, decision.start_ns);
      EXPECT_EQ(event.at("name"), sample.strings.at(static_cast<std::size_t>(decision.kind_id.value()) - 1));
      EXPECT_EQ(event.at("args").at("detail"), decision.detail);
    }
    if (event.at("args").contains("span") &&
        sample.spans.at(event.at("args").at("span").get<std::size_t>() - 1).depth == 0)
      phase_ns[event.at("cat")] += duration_ns;
  }
  for (const Span& span : sample.spans)
    if (span.depth == 0)
      expected_phase_ns[std::string(phase_name(span.phase))] += span.end_ns - span.start_ns;
  EXPECT_EQ(phase_ns, expected_phase_ns);
  EXPECT_EQ(kinds["X"], sample.recording.requests.size() + sample.recording.rounds.size() +
                            sample.spans.size() + sample.kernels.size() + sample.decisions.size());
  EXPECT_EQ(kinds["C"], sample.counters.size());
  EXPECT_EQ(kinds["s"], sample.kernels.size());
  EXPECT_EQ(kinds["f"], sample.kernels.size());
  for (auto& [thread, intervals] : threads) {
    std::stable_sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
      return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
    });
    std::vector<std::int64_t> open_ends;
    for (const Interval& interval : intervals) {
      while (!open_ends.empty() && open_ends.back() <= interval.start_ns) open_ends.pop_back();
      if (!open_ends.empty()) {
        EXPECT_LE(interval.end_ns, open_ends.back()) << "thread " << thread;
      }
      open_ends.push_back(interval.end_ns);
    }
  }
}

TEST_P(TextExport, AsSpecBenchAnswersGivesBackEveryTurn) {
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

INSTANTIATE_TEST_SUITE_P(seeds, TextExport, testing::Values(1U, 2U, 3U));

TEST(ExportToAFolderThatIsNotThere, SaysSoInOneLine) {
  const SampleFile file;
  Reader reader = file.open();
  for (const auto& result : {export_chrome(reader, file.folder / "no/trace.json"),
                             export_perfetto(reader, file.folder / "no/trace.pftrace")}) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().message, testing::HasSubstr("/no/trace."));
    EXPECT_THAT(result.error().message, testing::HasSubstr("No such file"));
  }
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
