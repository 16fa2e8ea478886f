// SPDX-License-Identifier: GPL-3.0-or-later
// `draftscope import`, and the other commands on its traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string fixture(const std::string& name) {
  return DRAFTSCOPE_SOURCE_DIR "/tests/fuzz/corpus/import/" + name;
}

TEST(ImportCommand, GivesTheFiguresThatTheSourceHoldsAndNoOthers) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  EXPECT_THAT(
      printed_text("import {} --baseline {} -o {}", fixture("spec_bench/layerskip_exit=2,gamma=4.jsonl"),
                   fixture("spec_bench/vanilla.jsonl"), trace),
      HasSubstr("2 runs, 6 requests"));
  expect_success(run_line("inspect {} --validate", trace));
  expect_success(run_line("compare {} {}", trace, trace));
  const json run = printed_json("report {} --json", trace)["runs"][1];
  EXPECT_DOUBLE_EQ(run["mean_accepted_length"], 15.0 / 6.0) << "4 + 2 + 1 + 3 + 2 + 3 tokens in six rounds";
  EXPECT_DOUBLE_EQ(run["tokens_per_second"], 16.0 / 0.875);
  EXPECT_DOUBLE_EQ(run["speedup"]["value"], 1.75 / 0.875);
  for (const char* const absent : {"acceptance_rate", "draft_cost", "time_to_first_token", "identity"})
    EXPECT_TRUE(run[absent].is_null()) << absent << " rests on what the source lacks";
}

/// Imports texts as files of these names, the first as the baseline if there are two. Gives the trace.
std::string trace_of(const TemporaryFolder& folder,
                     const std::vector<std::pair<std::string, std::string>>& files) {
  std::string trace = folder / "run.dstrace";
  std::vector<std::string> arguments = words_of("import -q --overwrite -o {}", {trace});
  for (const auto& [name, text] : files) {
    std::ofstream(folder / name) << text;
    arguments.push_back(folder / name);
  }
  expect_success(run_command(arguments));
  return trace;
}

json reported(const std::string& trace) {
  return printed_json("report {} --json", trace);
}

TEST(ImportCommand, AnswersFromSumsWithoutRounds) {
  const TemporaryFolder folder;
  const std::string line =
      R"({"meta_info":{"spec_verify_ct":3,"spec_num_proposed_drafts":12,"spec_num_correct_drafts":3,)"
      R"("completion_tokens":7,"e2e_latency":0.1}})"
      "\n";
  const std::string trace = trace_of(folder, {{"sums.jsonl", line + line}});
  const json run = reported(trace)["runs"][0];
  EXPECT_EQ(run["requests"], 2);
  EXPECT_EQ(run["output_tokens"], 14);
  EXPECT_DOUBLE_EQ(run["tokens_per_second"], 70.0);
  EXPECT_DOUBLE_EQ(run["acceptance_rate"], 0.25);
  EXPECT_DOUBLE_EQ(run["mean_accepted_length"], 2.0);
  EXPECT_EQ(run["rounds"], 6);
  for (const char* const absent : {"draft_steps", "decode_ns", "loaded_layers", "device", "speedup"})
    EXPECT_TRUE(run[absent].is_null()) << absent << " is in no field of the source";
  const std::string text = run_line("report {}", trace).out;
  EXPECT_THAT(text, HasSubstr("which lacks rounds"));
  EXPECT_THAT(
      text,
      HasSubstr("stated by its source, not counted from rounds: rounds, drafted, accepted, M, acceptance"));
  EXPECT_THAT(run_line("explain {}", trace).out, HasSubstr("70.0 tokens/s"));
  EXPECT_THAT(run_line("report {}", trace).out, HasSubstr("no breakdown: its source lacks the times"));
  EXPECT_THAT(run_line("compare {}", trace).out, HasSubstr("25.0 %"));
  EXPECT_THAT(run_line("report {} --by stretch", trace).err, HasSubstr("holds no rounds, expected some"));
}

TEST(ImportCommand, GivesTheSpeedupOfStatedRates) {
  const TemporaryFolder folder;
  const std::string vanilla =
      R"({"generation_strategy":"autoregressive"}{"tokens_per_second":{"mean":38.0},"total_time":{"mean":2.5}})";
  const std::string early_exit =
      R"({"exit_layer":8,"num_speculations":6,"generation_strategy":"self_speculative"})"
      R"({"acceptance_rate":{"mean":0.71},"tokens_per_second":{"mean":55.1}})";
  const std::string trace = trace_of(folder, {{"vanilla.json", vanilla}, {"exit.json", early_exit}});
  const json runs = reported(trace)["runs"];
  EXPECT_DOUBLE_EQ(runs[0]["tokens_per_second"], 38.0);
  EXPECT_DOUBLE_EQ(runs[1]["tokens_per_second"], 55.1);
  EXPECT_DOUBLE_EQ(runs[1]["acceptance_rate"], 0.71);
  EXPECT_DOUBLE_EQ(runs[1]["speedup"]["value"], 55.1 / 38.0);
  EXPECT_TRUE(runs[1]["speedup"]["prompts"].is_null());
  EXPECT_TRUE(runs[1]["requests"].is_null());
  EXPECT_THAT(run_line("explain {}", trace).out, HasSubstr("1.45x over vanilla"));
  EXPECT_THAT(run_line("report {}", trace).out, HasSubstr("total_time"));

  const TemporaryFolder other;
  const std::string alone = trace_of(other, {{"vanilla.json", vanilla}});
  EXPECT_THAT(run_line("explain {}", alone).out, HasSubstr("38.0 tokens/s without speculation"));
  const std::string second = trace_of(folder, {{"exit.json", early_exit}});
  EXPECT_THAT(run_line("compare {} {}", alone, second).out, HasSubstr("of stated rates"));
}

TEST(ImportCommand, TellsTimesOfRequestsWithoutSpeculation) {
  const TemporaryFolder folder;
  const std::string trace = trace_of(
      folder,
      {{"load.jsonl",
        R"({"metadata":{"request_start_ns":1000000000,"request_end_ns":1500000000},"metrics":{)"
        R"("time_to_first_token":{"value":40,"unit":"ms"},"output_sequence_length":{"value":24,"unit":"tokens"}}})"}});
  const json run = reported(trace)["runs"][0];
  EXPECT_DOUBLE_EQ(run["tokens_per_second"], 48.0);
  EXPECT_DOUBLE_EQ(run["time_to_first_token"]["mean_ns"], 40e6);
  EXPECT_TRUE(run["drafted_tokens"].is_null());
  EXPECT_THAT(run_line("report {}", trace).out, HasSubstr("reports no speculation"));
  EXPECT_THAT(run_line("explain {}", trace).out, HasSubstr("reports no speculation"));
}

TEST(ImportCommand, PrintsNoZeroForWhatTheSourceLacks) {
  const TemporaryFolder folder;
  const std::string trace =
      trace_of(folder, {{"a.jsonl", R"({"question_id":1,"per_step_accepted":[1,2,0]})"}});
  const json run = reported(trace)["runs"][0];
  EXPECT_EQ(run["rounds"], 3);
  EXPECT_EQ(run["accepted_tokens"], 3);
  for (const char* const absent : {"drafted_tokens", "draft_steps", "wall_ns", "decode_ns", "output_tokens",
                                   "rounds_by_draft_stop", "loaded_layers"})
    EXPECT_TRUE(run[absent].is_null()) << absent;
}

TEST(ImportCommand, NamesNoWinnerAndNoSameTextWithoutTimesAndTokenIds) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  const std::string slow = (folder / "slow.jsonl").string();
  const std::string fast = (folder / "fast.jsonl").string();
  std::ofstream(slow) << R"({"question_id":1,"per_step_accepted":[0,0,0,0,0,0]})";
  std::ofstream(fast) << R"({"question_id":1,"per_step_accepted":[1,2,0]})";
  expect_success(run_line("import {} --baseline {} -q -o {}", fast, slow, trace));
  EXPECT_THAT(run_line("report {} --brief", trace).out, Not(HasSubstr("What won")));
  const json compared = printed_json("compare {} {} --json", trace, trace);
  EXPECT_TRUE(compared["recordings"][0]["winners"].empty());
  ASSERT_EQ(compared["against_first"][0]["runs"].size(), 2U);
  for (const json& run : compared["against_first"][0]["runs"])
    for (const char* const absent : {"ratio_across_recordings", "verdict", "adjusted_p_value", "identity"})
      EXPECT_TRUE(run[absent].is_null()) << absent;
  const std::string text = run_line("compare {} {}", trace, trace).out;
  EXPECT_THAT(text, Not(HasSubstr("1.00x")));
  EXPECT_THAT(text, Not(HasSubstr("yes")));
  EXPECT_THAT(text, HasSubstr("no speed in both"));
}

TEST(ImportCommand, ComparesTimesWithoutTokenIds) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  expect_success(run_line("import {} --baseline {} -q -o {}",
                          fixture("spec_bench/layerskip_exit=2,gamma=4.jsonl"),
                          fixture("spec_bench/vanilla.jsonl"), trace));
  const json compared = printed_json("compare {} {} --json", trace, trace);
  EXPECT_FALSE(compared["recordings"][0]["winners"].empty());
  for (const json& run : compared["against_first"][0]["runs"]) {
    EXPECT_EQ(run["ratio_across_recordings"]["value"], 1.0);
    EXPECT_TRUE(run["ratio_across_recordings"]["decode_value"].is_null()) << "it has no first token times";
    EXPECT_TRUE(run["identity"].is_null());
  }
}

TEST(ImportCommand, TellsWhereTheTimeOfATimelineWent) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  expect_success(run_line("import {} -q -o {}", fixture("chrome/pairs.json"), trace));
  const json timeline = reported(trace)["timeline"];
  EXPECT_EQ(timeline["device_activities"], 1);
  double own_ns = 0.0;
  for (const json& range : timeline["by_range"]) own_ns += range["ns"].get<double>();
  EXPECT_GT(own_ns, 0.0);
  for (const char* const command : {"report", "explain", "compare"})
    EXPECT_THAT(run_line("{} {}", command, trace).out, HasSubstr("Timeline of")) << command;
  EXPECT_THAT(run_line("report {} --csv", trace).err, HasSubstr("a timeline without runs, expected runs"));
}

TEST(ImportCommand, GivesTheFiguresOfTheRoundsOfATimeline) {
  const TemporaryFolder folder;
  const json runs = reported(trace_of(folder, {{"trace.json", R"([
{"ph":"X","pid":1,"tid":1,"ts":0,"dur":40,"name":"vanilla","cat":"request","args":{"prompt":1,"tokens":4}},
{"ph":"X","pid":1,"tid":1,"ts":10,"dur":30,"name":"round","args":{"planned":0,"drafted":0,"accepted":0,"emitted":1}},
{"ph":"X","pid":1,"tid":1,"ts":50,"dur":20,"name":"swift","cat":"request","args":{"prompt":1,"tokens":4}},
{"ph":"X","pid":1,"tid":1,"ts":51,"dur":9,"name":"round","args":{"planned":5,"drafted":6,"tree_depth":3,"accepted":2,"emitted":3}},
{"ph":"X","pid":1,"tid":1,"ts":61,"dur":4,"name":"round","args":{"planned":2,"drafted":2,"accepted":0,"emitted":1}}])"}}))
      ["runs"];
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]["wall_ns"], 40'000);
  EXPECT_EQ(runs[1]["specification"], "swift");
  EXPECT_EQ(runs[1]["wall_ns"], 20'000);
  EXPECT_EQ(runs[1]["output_tokens"], 4);
  EXPECT_EQ(runs[1]["rounds"], 2);
  EXPECT_EQ(runs[1]["drafted_tokens"], 8);
  EXPECT_EQ(runs[1]["draft_steps"], 5) << "as deep as the tree and the chain";
  EXPECT_EQ(runs[1]["accepted_tokens"], 2);
  EXPECT_EQ(runs[1]["speedup"]["value"], 2.0);
}

TEST(ImportCommand, AnswersFromWhateverASeedHolds) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  for (const auto& file : std::filesystem::recursive_directory_iterator(fixture(""))) {
    if (!file.is_regular_file()) continue;
    const std::string seed = file.path().string();
    expect_success(run_line("import {} -q --overwrite -o {}", seed, trace));
    SCOPED_TRACE(seed);
    for (const char* line : {"report {}", "report {} --json", "compare {}", "explain {} -q"})
      expect_success(run_line(line, trace));
  }
}

/// The sums of a log of llama-speculative, `times` as many with the same rate.
std::string log_of_sums(int times) {
  std::string text = bytes_of(fixture("llama_cpp/speculative.log"));
  for (const auto& [sum, count] : {std::pair("n_drafted = ", 51), std::pair("n_accept  = ", 31)}) {
    const std::size_t place = text.find(sum) + std::string(sum).size();
    text.replace(place, 2, std::to_string(times * count));
  }
  return text;
}

TEST(ImportCommand, AStatedRateHasAnIntervalThatIsNarrowerWithMoreDraftTokens) {
  const TemporaryFolder folder;
  const std::string trace = (folder / "run.dstrace").string();
  const std::string log = (folder / "sums.log").string();
  double narrower = 10.0;
  for (const int times : {1, 10, 100}) {
    std::ofstream(log) << log_of_sums(times);
    expect_success(run_line("import {} --strategy layerskip:exit=4,gamma=3 --layers 32 -q --overwrite -o {}",
                            log, trace));
    const json answer =
        printed_json("simulate {} --gpu H100-SXM5-80GB --model Llama-2-7B -s layerskip:exit=4,gamma=3 --json",
                     trace)["answers"][0];
    const double speedup = answer["speedup"];
    ASSERT_TRUE(answer["interval_95"].is_array()) << answer;
    const double low = answer["interval_95"][0];
    const double high = answer["interval_95"][1];
    EXPECT_LT(low, speedup);
    EXPECT_LT(speedup, high);
    EXPECT_LT(high / low, narrower);
    narrower = high / low;
    EXPECT_THAT(answer["notes"].dump(), HasSubstr("its interval is of one stated rate"));
  }
  EXPECT_GT(narrower, 1.2) << "tasks differ, however many tokens were drafted";
}

}  // namespace
}  // namespace draftscope::cli
