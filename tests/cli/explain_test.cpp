// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope explain`: the diagnoses that it prints, and the files that it takes.
#include <draftscope/simulator/analysis/explain.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "../simulator/analysis/figures/random_recording.h"
#include "printed.h"
#include "report/answers/explain_text.h"
#include "terminal/table.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";

void expect_equal(const json& printed, const std::optional<double>& value) {
  if (value)
    EXPECT_EQ(printed.get<double>(), *value);
  else
    EXPECT_TRUE(printed.is_null());
}

TEST(ExplainCommand, PrintsTheSameFiguresAsJson) {
  const TemporaryFolder folder;
  for (const unsigned seed : {3U, 4U, 5U}) {
    const std::string path = (folder / (std::to_string(seed) + ".dstrace")).string();
    const simulator::RandomRecording random = simulator::random_recording(seed);
    write_trace(path, random.recording, random.phase_spans);
    const json document = printed_json("explain {} --measured-only --json", path);
    EXPECT_EQ(document["format"], 2);
    const json& runs = document["recordings"][0]["runs"];
    const auto measured = simulator::measure_recording(path);
    ASSERT_TRUE(measured) << measured.error().message;
    const auto diagnoses = simulator::explain(*measured, {.no_what_if_reason = "--measured-only was given"});
    ASSERT_EQ(runs.size(), diagnoses.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      EXPECT_EQ(runs[i]["summary"], diagnoses[i].summary);
      const simulator::RoundAccount& round = diagnoses[i].round;
      expect_equal(runs[i]["round"]["takes"], round.takes);
      expect_equal(runs[i]["round"]["yields"], round.yields);
      expect_equal(runs[i]["round"]["speedup"], round.speedup);
      EXPECT_EQ(runs[i]["round"]["parts"]["verify"], round.parts->verify);
      EXPECT_EQ(runs[i]["faster_run"].is_null(), !diagnoses[i].faster);
      ASSERT_EQ(runs[i]["findings"].size(), diagnoses[i].findings.size());
      for (std::size_t k = 0; k < diagnoses[i].findings.size(); ++k) {
        const simulator::Finding& finding = diagnoses[i].findings[k];
        const json& printed = runs[i]["findings"][k];
        EXPECT_EQ(printed["key"], finding.row->key);
        EXPECT_EQ(printed["sentence"], finding.sentence);
        EXPECT_EQ(printed["figure"]["value"], finding.figure);
        EXPECT_EQ(printed["try"], finding.remedy);
        EXPECT_EQ(printed["judged_by"]["value"], finding.threshold);
        expect_equal(printed["cost"]["per_round"], finding.cost);
        expect_equal(printed["cost"]["share"], finding.cost_share);
        expect_equal(printed["cost"]["speedup_without"], finding.speedup_without);
        EXPECT_EQ(printed["simulated"]["sentence"], finding.simulation);
        EXPECT_EQ(printed["simulated"]["answer"].is_null(), !finding.simulated);
      }
      EXPECT_EQ(runs[i]["not_judged"].size(), diagnoses[i].unjudged.size());
    }
  }
}

TEST(ExplainCommand, AsksTheSimulatorUnlessToldOtherwise) {
  const json asked = printed_json("explain {} --json", sample);
  const json measured = printed_json("explain {} --json --measured-only", sample);
  std::size_t answers = 0;
  for (const json& run : asked["recordings"][0]["runs"])
    for (const json& finding : run["findings"]) answers += finding["simulated"]["answer"].is_null() ? 0U : 1U;
  EXPECT_GT(answers, 0U);
  for (const json& run : measured["recordings"][0]["runs"])
    for (const json& finding : run["findings"]) EXPECT_TRUE(finding["simulated"]["answer"].is_null());
}

TEST(ExplainCommand, KeepsToAHundredColumns) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "answers.dstrace").string();
  expect_success(run_line("import {} -q -o {}",
                          DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/import/swift/answers.jsonl", trace));
  const CommandResult result = run_line("explain {} {}", sample, trace);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 100U) << line;
    EXPECT_THAT(line, Not(::testing::EndsWith(" ")));
  }
  EXPECT_THAT(result.out, HasSubstr("Not judged: "));
}

TEST(ExplainCommand, WrapsAtSpacesBehindAHead) {
  EXPECT_EQ(wrapped("1. ", "one two three", 11), "1. one two\n   three\n");
  EXPECT_EQ(wrapped("1. ", "a_word_that_is_longer than", 11), "1. a_word_that_is_longer\n   than\n");
  EXPECT_EQ(wrapped("1. ", "", 11), "1. \n");
}

TEST(ExplainCommand, ExplainsOrRefusesOldAndDamagedFiles) {
  std::size_t explained = 0;
  for (const char* const folder : {"/tests/traces", "/tests/fuzz/corpus/trace"})
    for (const auto& file : fs::directory_iterator(std::string(DRAFTSCOPE_SOURCE_DIR) + folder)) {
      if (file.path().extension() != ".dstrace") continue;
      const CommandResult result = run_line("explain {} -q", file.path());
      EXPECT_LE(result.exit_code, 1) << file.path();
      EXPECT_EQ(result.out.empty(), result.exit_code == 1) << file.path();
      EXPECT_TRUE(result.exit_code == 0 || !result.err.empty()) << file.path();
      explained += result.exit_code == 0 ? 1U : 0U;
    }
  EXPECT_GE(explained, 3U) << "files of all versions";
}

TEST(ExplainCommand, RefusesShippedRecordingsThatWereCutOffInOneLine) {
  const TemporaryFolder folder;
  const std::string path = (folder / "cut.dstrace").string();
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(DRAFTSCOPE_SOURCE_DIR "/traces/samples")) {
    if (file.path().extension() != ".dstrace") continue;
    ++files;
    const std::string whole = bytes_of(file.path());
    for (const double share : {0.0, 0.00001, 0.001, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999}) {
      std::ofstream(path, std::ios::binary)
          << whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size())));
      for (const char* line : {"explain {}", "report {}", "inspect {} --validate"}) {
        const CommandResult result = run_line(line, path);
        EXPECT_EQ(result.out, "") << file.path() << ' ' << share;
        expect_one_line(result, "cut.dstrace: ");
      }
    }
  }
  EXPECT_GE(files, 3U);
}

json explained_run(const json& document, const std::string& specification) {
  for (const json& run : document["recordings"][0]["runs"])
    if (run["specification"] == specification) return run;
  ADD_FAILURE() << specification;
  return {};
}

TEST(ExplainCommand, SaysOfAGpuWhetherItsStepWasSlow) {
  // Each row has a separate graph, so two rows of prompt-lookup take longer than vanilla's one.
  const std::string graphs = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-graph.dstrace";
  const json fair = printed_json("explain {} --json --measured-only", graphs);
  for (const json& run : fair["recordings"][0]["runs"])
    for (const json& finding : run["findings"]) EXPECT_NE(finding["key"], "slow_baseline");
  // The copy has the same rounds, but vanilla's steps take a tenth longer.
  const TemporaryFolder folder;
  const std::string slow = (folder / "slow.dstrace").string();
  fs::copy_file(graphs, slow);
  change_rows(slow,
              "UPDATE rounds SET verify_ns = verify_ns + 90000, end_ns = end_ns + 90000 WHERE request IN "
              "(SELECT requests.id FROM requests JOIN runs ON runs.id = run AND is_baseline)");
  const json document = printed_json("explain {} --json --measured-only", slow);
  const json finding = explained_run(document, "prompt-lookup")["findings"][0];
  EXPECT_EQ(finding["key"], "slow_baseline");
  EXPECT_THAT(finding["sentence"].get<std::string>(),
              HasSubstr("slower than one of 2 rows (v = 0.92): it takes 816 us (launched: graphs, whose "
                        "edges were not recorded), "
                        "that one 751 us"));
  EXPECT_LT(finding["figure"]["value"].get<double>(), finding["judged_by"]["value"].get<double>());
  EXPECT_LT(finding["cost"]["speedup_without"].get<double>(),
            explained_run(document, "prompt-lookup")["round"]["speedup"].get<double>());
  EXPECT_TRUE(finding["cost"]["per_round"].is_null());
  EXPECT_THAT(explained_run(document, "auto")["findings"][0]["sentence"].get<std::string>(),
              HasSubstr("under prompt-lookup"));
  EXPECT_THAT(run_line("explain {} -q", slow).out, HasSubstr("1. The baseline's own pass is slower"));
}

TEST(ExplainCommand, RefusesARecordingOfVanillaAlone) {
  const TemporaryFolder folder;
  traces::Recording recording = small_recording();
  for (traces::Run& run : recording.runs) run.is_baseline = true;
  const std::string path = (folder / "vanilla.dstrace").string();
  write_trace(path, recording, small_spans());
  EXPECT_THAT(run_line("explain {}", path).err,
              HasSubstr("found no run but vanilla, expected one that drafts"));
}

TEST(ExplainCommand, HasEveryFindingDocumented) {
  expect_on_page("docs/explain.md", "<!-- findings -->\n\n", "<!-- end of findings -->\n",
                 simulator::findings_markdown());
}

}  // namespace
}  // namespace draftscope::cli
