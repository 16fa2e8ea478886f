// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/conventions.h>
#include <draftscope/traces/reader.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "../simulator/analysis/figures/random_recording.h"
#include "../value_of.h"
#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(SmallTrace, NamesWhatItsTokensWereDrawnBy) {
  traces::Recording recording = small_recording();
  const auto header = [&] {
    const std::string path = (folder_ / "drawn.dstrace").string();
    write_trace(path, recording, small_spans());
    std::string report = run_line("report {}", path).out;
    std::filesystem::remove(path);
    return report;
  };
  recording.meta["top_p"] = "0.9";
  recording.meta["top_k"] = "40";
  EXPECT_THAT(header(), Not(HasSubstr("top"))) << "greedy decoding has neither";
  recording.meta["temperature"] = "0.8";
  EXPECT_THAT(header(), HasSubstr("temperature 0.8, top p 0.9, top k 40, at most 9"));
  recording.meta["top_p"] = "1";
  recording.meta["top_k"] = "0";
  EXPECT_THAT(header(), HasSubstr("temperature 0.8, at most 9"));
}

TEST_F(SmallTrace, ReportsItsFiguresAsCsvWithOneLineARun) {
  expect_golden("report.csv", printed_text("report {} --csv", path_));
}

TEST_F(SmallTrace, ReportsOnOneScreen) {
  expect_golden("report_brief.txt", printed_text("report {} --brief", path_));
  EXPECT_EQ(run_line("report {} --brief --json", path_).exit_code, 2);
}

TEST(Version4Trace, IsTakenByEveryCommandThatReads) {
  const TemporaryFolder folder;
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/tests/traces/version_4.dstrace";
  for (const char* line : {"report {}", "report {} --json", "explain {}"})
    expect_success(run_line(line, path));
  expect_success(run_line("compare {} {}", path, path));
  const json report = printed_json("report {} --json", path);
  EXPECT_EQ(report["recording"]["schema_version"], 4);
  EXPECT_EQ(report["runs"][1]["drafted_tokens"], 60) << "in requests that ended without an error";
  EXPECT_EQ(report["runs"][1]["draft_steps"], 45) << "some of the draft tokens are in trees";
  const json found = printed_json("inspect {} --validate --json", path);
  EXPECT_TRUE(found["violations"].empty());
  for (const std::string format : {"perfetto", "spec-bench"}) {
    const std::string target = (folder / format).string();
    expect_success(run_line("export {} --to {} -o {}", path, format, target));
  }
}

TEST_F(SmallTrace, ReportsWithoutChartsWhenQuiet) {
  const CommandResult result = run_line("report {} --quiet", path_);
  EXPECT_THAT(result.out, HasSubstr("Drafting"));
  EXPECT_THAT(result.out, Not(HasSubstr("draft position")));
}

// Each round waits a tenth of its time for the device to begin, and as long until its end is noticed.
TEST_F(SmallTrace, ReportsItsFiguresAsTablesAndTheDevicesTimeWhereItWasRecorded) {
  const traces::Recording recording = small_recording();
  std::vector<traces::Kernel> kernels;
  for (const traces::Round& round : recording.rounds) {
    const std::int64_t tenth = (round.end_ns - round.start_ns) / 10;
    const auto add = [&](traces::Phase phase, std::int64_t from, std::int64_t to) {
      kernels.push_back({.request_id = round.request_id,
                         .round_id = round.id,
                         .start_ns = round.start_ns + from * tenth,
                         .end_ns = round.start_ns + to * tenth,
                         .phase = phase});
    };
    if (round.drafted > 0) add(traces::Phase::draft, 1, 4);
    add(traces::Phase::verify, 5, 9);
  }
  const std::string path = (folder_ / "device.dstrace").string();
  write_trace(path, recording, small_spans(), kernels);
  expect_golden("report.txt", printed_text("report {} --by category", path));
  EXPECT_THAT(printed_text("report {}", path_), Not(HasSubstr("the device in")));
  const json found = printed_json("report {} --json", path);
  for (const json& run : found["runs"]) {
    const json& device = run["device"];
    EXPECT_EQ(device["rounds"], run["rounds"]);
    EXPECT_EQ(device["busy_ns"].get<std::int64_t>() + device["gap_ns"].get<std::int64_t>() +
                  device["host_ns"].get<std::int64_t>(),
              device["wall_ns"].get<std::int64_t>());
    EXPECT_EQ(device["outside_ns"], 0);
  }
}

TEST_F(SmallTrace, ComparesItsRunsAndTwoRecordings) {
  traces::Recording other = small_recording();
  other.meta["threads"] = "4";
  other.runs[1].specification = "layerskip:exit=3,gamma=4";
  other.runs[1].parameters = R"({"exit":3,"gamma":4})";
  const std::string other_path = (folder_ / "other.dstrace").string();
  write_trace(other_path, other, small_spans());
  const std::string alone = printed_text("compare {}", path_);
  EXPECT_THAT(alone, HasSubstr("\nRuns: speedup over the vanilla run of the same recording\n    run  "));
  EXPECT_THAT(alone, HasSubstr("\n  all      layerskip:exit=2,gamma=4  1.48x (not clear) over vanilla\n"));
  EXPECT_THAT(alone, Not(HasSubstr("Across recordings")));
  expect_golden("compare_two.txt", run_line("compare {} {}", path_, other_path).out);
  const json found = printed_json("compare {} {} --json", path_, other_path);
  const json& against = found["against_first"][0];
  EXPECT_EQ(against["meta_differences"].size(), 1U);
  EXPECT_EQ(against["meta_differences"][0]["key"], "threads");
  EXPECT_EQ(against["meta_differences"][0]["changes_experiment"], true);
  ASSERT_EQ(against["runs"].size(), 1U);  // only vanilla is in both
  EXPECT_EQ(against["runs"][0]["ratio_across_recordings"]["value"], 1.0);
  EXPECT_EQ(against["runs"][0]["verdict"], "too few prompts");
}

// Figures of a whole run would contradict the ratio where they cover other requests.
TEST_F(SmallTrace, ShowsADifferenceOnlyOfTheRequestsThatItsRatioIsOf) {
  const auto across = [&](const auto& change) {
    traces::Recording other = small_recording();
    change(other);
    const std::string other_path = (folder_ / "other.dstrace").string();
    write_trace(other_path, other, {});
    const std::string text = printed_text("compare {} {}", path_, other_path);
    std::filesystem::remove(other_path);
    return text.substr(text.find("Across recordings"));
  };
  const std::string note = "no difference where a file's figures cover further requests";
  const std::string same = across([](traces::Recording&) {});
  EXPECT_THAT(same, ContainsRegex("vanilla +2 +225 +225 +0 +1.00x"));
  EXPECT_THAT(same, Not(HasSubstr(note)));
  const std::string fewer = across([](traces::Recording& other) { other.prompts[1].text += " more"; });
  EXPECT_THAT(fewer, ContainsRegex("vanilla +1 +225 +225 +- +1.00x +- +- +too few prompts +- +- +yes"));
  EXPECT_THAT(fewer, HasSubstr(note));
  const std::string repeats = across([](traces::Recording& other) {
    for (traces::Request& request : other.requests) request.repeat *= 2;
  });
  EXPECT_THAT(repeats, ContainsRegex("vanilla +2 +225 +225 +- +1.00x"));
}

TEST_F(SmallTrace, NamesEveryFileOfAComparisonDifferently) {
  constexpr std::size_t files = 54;
  const std::vector<std::string> paths(files, path_);
  std::vector<std::string> words{"compare"};
  words.insert(words.end(), paths.begin(), paths.end());
  const CommandResult compared = run_command(words);
  expect_success(compared);
  for (const char* label : {"B", "Z", "AA", "AB", "AZ", "BA", "BB"})
    EXPECT_THAT(compared.out, HasSubstr(fmt::format("Across recordings, {} against A:", label)));
  EXPECT_THAT(compared.out, Not(HasSubstr("Across recordings, A against A")));
}

TEST_F(SmallTrace, WarnsWhenGreedyOutputDiffersFromVanilla) {
  traces::Recording changed = small_recording();
  changed.requests[1].tokens[3] = 999;
  const std::string path = (folder_ / "changed.dstrace").string();
  write_trace(path, changed, small_spans());
  EXPECT_THAT(
      run_line("report {}", path).out,
      HasSubstr("warning    layerskip:exit=2,gamma=4: greedy output differs from vanilla on 1 of 2 prompts"));
}

TEST_F(SmallTrace, GivesNoSpeedupWithoutAVanillaRunButTheSameCsvColumns) {
  traces::Recording changed = small_recording();
  changed.runs[0].is_baseline = false;
  const std::string path = (folder_ / "changed.dstrace").string();
  write_trace(path, changed, {});
  EXPECT_THAT(run_line("report {}", path).out,
              HasSubstr("no finished vanilla run in this recording, so no speedup"));
  const json report = printed_json("report {} --json", path);
  ASSERT_EQ(report["runs"].size(), 2U);
  for (const json& run : report["runs"]) EXPECT_TRUE(run["speedup"].is_null());
  const auto header = [](const std::string& csv) { return csv.substr(0, csv.find('\n')); };
  for (const char* line : {"report --csv {}", "report --csv {} --by category"})
    EXPECT_EQ(header(printed_text(line, path)), header(printed_text(line, path_)));
}

TEST_F(SmallTrace, InspectsAsSound) {
  const json found = printed_json("inspect {} --validate --json", path_);
  EXPECT_EQ(found["schema_version"], traces::newest_schema_version());
  EXPECT_EQ(found["closed_cleanly"], true);
  EXPECT_EQ(found["rows"]["rounds"], 44);
  EXPECT_EQ(found["rows"]["draft_tokens"], 28);
  EXPECT_TRUE(found["violations"].empty());
}

TEST_F(SmallTrace, InspectEndsWithFailureOnABrokenRule) {
  change_rows(path_, "UPDATE rounds SET accepted = 9 WHERE id = 9");
  const CommandResult result = run_line("inspect {} --validate", path_);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out + result.err, HasSubstr("rounds"));
}

TEST_F(SmallTrace, ExportsToEveryFormatAndRefusesToReplace) {
  for (const std::string format : {"perfetto", "spec-bench"}) {
    const std::string target = (folder_ / ("export-" + format)).string();
    const CommandResult result = run_line("export {} --to {} -o {}", path_, format, target);
    EXPECT_EQ(result.exit_code, 0) << format << result.err;
    EXPECT_EQ(result.out, target + "\n");
    EXPECT_TRUE(std::filesystem::exists(target));
    expect_one_line(run_line("export {} --to {} -o {}", path_, format, target), "exists already");
  }
  expect_one_line(run_line("export {} --to perfetto -o {} --overwrite", path_, path_),
                  "is the same file as the input");
}

/// Calendar time may be set back during a recording; every time but the two ends' is monotonic.
TEST(ClockSetBack, LeavesARecordingSound) {
  const TemporaryFolder folder;
  const std::string path = (folder / "small.dstrace").string();
  traces::Recording recording = small_recording();
  recording.meta["clock_start_monotonic_ns"] = "1000";
  recording.meta["clock_end_monotonic_ns"] = "900000000";
  recording.meta["clock_start_realtime_ns"] = "1800000000000000000";
  recording.meta["clock_end_realtime_ns"] = "1700000000000000000";
  write_trace(path, recording, small_spans());
  expect_success(run_line("inspect {} --validate", path));
  expect_success(run_line("report {}", path));
  for (const std::string format : {"perfetto", "spec-bench"}) {
    const CommandResult result = run_line("export {} --to {} -o {}", path, format, folder / ("to-" + format));
    EXPECT_EQ(result.exit_code, 0) << format << result.err;
  }
}

TEST(SampleTrace, ReportsItsDecisions) {
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace";
  const CommandResult text = run_line("report {} --decisions", path);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nclasp:skip=4\n  layer set: 12 decisions, 12 took effect"));
  EXPECT_THAT(text.out, HasSubstr("without decisions: vanilla, layerskip"));
  const json document = printed_json("report {} --decisions --json", path);
  const json& kinds = document["runs"][2]["decisions_by_kind"];
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0]["kind"], "threshold");
  EXPECT_EQ(kinds[0]["series"][0]["values"].size(), kinds[0]["decisions"]);
  EXPECT_EQ(run_line("report {} --decisions --csv", path).exit_code, 2);
}

TEST_F(SmallTrace, ReportsAsPublicationsCount) {
  const std::string text = printed_text("report {} --as all", path_);
  for (const simulator::ConventionRow& row : simulator::conventions())
    EXPECT_THAT(text, HasSubstr("As " + std::string(row.title)));
  const json document = printed_json("report {} --as swift --json", path_);
  ASSERT_EQ(document["conventions"].size(), 1U);
  EXPECT_EQ(document["conventions"][0]["convention"], "swift");
  const json& run = document["conventions"][0]["runs"][1];
  EXPECT_EQ(run["specification"], "layerskip:exit=2,gamma=4");
  EXPECT_DOUBLE_EQ(run["acceptance_rate"], 20.0 / 28.0);
  EXPECT_DOUBLE_EQ(run["accepted_length"], 32.0 / 12.0);
  const std::string csv = run_line("report {} --as del --csv", path_).out;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const json split = printed_json("report {} --as swift --by category --json", path_);
  std::set<std::string> categories;
  for (const json& part : split["conventions"][0]["runs"][1]["categories"])
    categories.insert(part["category"].get<std::string>());
  EXPECT_EQ(split["conventions"][0]["runs"][1]["speedup"], run["speedup"]);
  const std::string lines = run_line("report {} --as swift --by category --csv", path_).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'),
            static_cast<std::ptrdiff_t>(1 + 2 * categories.size()));
  expect_one_line(run_line("report {} --as swift --by operation", path_), "--by category");
  const CommandResult refused = run_line("report {} --as eagle", path_);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("expected one of layerskip, draft-verify, swift, clasp, del, spec-bench, all"));
}

/// The test covers the keys of every object inside, except those that come from the file.
TEST_F(SmallTrace, EveryKeyOfTheJsonOutputsIsDocumented) {
  std::set<std::string> keys;
  for (const json& document :
       {printed_json("report {} --by category --json", path_),
        printed_json("report {} --as all --by category --json", path_),
        printed_json("reproduce --list --json"),
        printed_json("report {}/traces/samples/early-exit.dstrace --decisions --json", DRAFTSCOPE_SOURCE_DIR),
        printed_json("compare {} {} --json", path_, path_),
        printed_json("explain {}/traces/samples/early-exit.dstrace --json", DRAFTSCOPE_SOURCE_DIR),
        printed_json("inspect {} --validate --json", path_)})
    keys.merge(keys_of(document, {"meta", "parameters", "rows", "dropped_rows"}));
  EXPECT_GT(keys.size(), 60U);
  expect_documented(keys);
}

/// Returns the first column of the first row of a query.
double query(sqlite3* database, const std::string& sql) {
  double value = 0.0;
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  if (sqlite3_step(statement) == SQLITE_ROW) value = sqlite3_column_double(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

TEST(RandomTrace, EveryReportedFigureCanBeRecomputedFromTheFileWithSql) {
  const TemporaryFolder folder;
  const std::string path = (folder / "random.dstrace").string();
  const simulator::RandomRecording sample = simulator::random_recording(5);
  write_trace(path, sample.recording, sample.phase_spans);
  const json report = printed_json("report {} --json", path);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
  const auto run_query = [&](const std::string& expression, const std::string& from, std::int64_t run) {
    return query(database, "SELECT " + expression + " FROM " + from + " WHERE run = " + std::to_string(run));
  };
  const std::string rounds = "rounds JOIN requests ON requests.id = rounds.request";
  const std::string in_text = "min(rounds.accepted + 1.0, emitted + (stop = 0))";  // Stop 0 is an end token.
  for (const json& run : report["runs"]) {
    const auto id = run["run_id"].get<std::int64_t>();
    EXPECT_DOUBLE_EQ(run["output_tokens"], run_query("sum(length(tokens) / 4)", "requests", id));
    EXPECT_DOUBLE_EQ(run["wall_ns"], run_query("sum(end_ns - start_ns)", "requests", id));
    EXPECT_DOUBLE_EQ(run["tokens_per_second"],
                     run_query("sum(length(tokens) / 4) * 1e9 / sum(end_ns - start_ns)", "requests", id));
    EXPECT_DOUBLE_EQ(
        run["decode_tokens_per_second"],
        run_query("sum(length(tokens) / 4 - 1) * 1e9 / sum(end_ns - first_token_ns)", "requests", id));
    EXPECT_DOUBLE_EQ(run["mean_accepted_length"], run_query("avg(" + in_text + ")", rounds, id));
    EXPECT_DOUBLE_EQ(run["tokens_per_round"], run_query("avg(emitted * 1.0)", rounds, id));
    EXPECT_DOUBLE_EQ(run["etpl_pooled"],
                     run_query("sum(" + in_text + ") / sum(drafted * exit_layer + 12)", rounds, id));
    EXPECT_DOUBLE_EQ(run["verify_ns_per_round"], run_query("avg(verify_ns * 1.0)", rounds, id));
    if (run["acceptance_rate"].is_null()) continue;
    EXPECT_DOUBLE_EQ(run["acceptance_rate"],
                     run_query("sum(min(accepted, " + in_text + ")) * 1.0 / sum(drafted)", rounds, id));
    EXPECT_DOUBLE_EQ(
        run["tested_rate"],
        run_query("sum(draft_tokens.accepted) * 1.0 / sum(tested)",
                  "draft_tokens JOIN rounds ON "
                  "rounds.id = draft_tokens.round JOIN requests ON requests.id = rounds.request AND "
                  "draft_tokens.\"index\" < " +
                      in_text,
                  id));
    EXPECT_NEAR(run["speedup"]["value"],
                run_query("sum(end_ns - start_ns) * 1.0", "requests", 1) /
                    run_query("sum(end_ns - start_ns) * 1.0", "requests", id),
                1e-12);
    for (const std::string phase : {"prefill", "draft", "verify", "accept", "optimise", "control"})
      EXPECT_DOUBLE_EQ(
          run["breakdown"][phase + "_ns"],
          run_query("total(spans.end_ns - spans.start_ns)",
                    "spans JOIN requests ON requests.id = spans.request JOIN phases ON phases.id = "
                    "spans.phase AND phases.name = '" +
                        phase + "'",
                    id));
  }
  sqlite3_close(database);
}

TEST(BadInput, GivesOneLineThatNamesTheFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder.dstrace");
  std::ofstream(folder / "text.dstrace") << "This is not a trace, though it is a file of some length.\n";
  std::ofstream(folder / "empty.dstrace") << "";
  for (const char* line : {"report {}", "explain {}", "compare {}", "inspect {}", "export {} --to perfetto"})
    for (const char* name : {"absent.dstrace", "folder.dstrace", "text.dstrace", "empty.dstrace"})
      expect_one_line(run_line(line, folder / name), name);
}

TEST(EmptyTrace, WithoutRunsRoundsOrFinishedRequestsGivesOneLine) {
  const TemporaryFolder folder;
  traces::Recording recording = small_recording();
  for (traces::Request& request : recording.requests) request.stop = traces::RequestStop::cancelled;
  write_trace(folder / "cancelled.dstrace", recording, small_spans());
  recording.rounds.clear();
  recording.draft_tokens.clear();
  write_trace(folder / "no_rounds.dstrace", recording, {});
  write_trace(folder / "no_runs.dstrace", {}, {});
  for (const char* line : {"report {}", "explain {}", "compare {}"}) {
    expect_one_line(run_line(line, folder / "cancelled.dstrace"), "none of its 8 requests was finished");
    expect_one_line(run_line(line, folder / "no_rounds.dstrace"), "no round was recorded");
    expect_one_line(run_line(line, folder / "no_runs.dstrace"), "no run was recorded");
  }
}

TEST(Usage, ErrorsEndWithTwo) {
  for (const char* line :
       {"report", "report x --json --csv", "report x --by colour", "export x --to nonsense", "export x"})
    EXPECT_EQ(run_line(line).exit_code, 2) << line;
  EXPECT_THAT(run_line("generate --seed 1 --seed 2").err,
              HasSubstr("--seed: found it twice, expected it once"));
  EXPECT_THAT(run_line("generate --seed").err, HasSubstr("--seed: found no value, expected one"));
}

}  // namespace
}  // namespace draftscope::cli
