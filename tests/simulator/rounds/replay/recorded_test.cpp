// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of the demo models: the rounds of the engine must equal those of a replay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../../cli/trace_files.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {
namespace {

struct Recorded {
  traces::Recording recording;
  std::vector<ShadowTable> tables;
};

std::filesystem::path demo_models() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "models";
}

/// Records with `--shadow` on the shipped prompts. `model` is a demo model's name, or a folder.
Result<Recorded> record(const std::string& model, const std::vector<std::string>& strategies,
                        const std::vector<std::string>& options) {
  const cli::TemporaryFolder folder;
  const std::string file = (folder / "run.dstrace").string();
  std::vector<std::string> arguments{"record",   "--model",   (demo_models() / model).string(),
                                     "--shadow", "--threads", "1",
                                     "--quiet",  "--output",  file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  if (result.exit_code != 0) return fail("exit code {}: {}", result.exit_code, result.err);
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  Recorded recorded;
  DRAFTSCOPE_TRY_ASSIGN(recorded.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(ShadowTables found, shadow_tables(reader, recorded.recording));
  if (found.tables.empty()) return fail("{}", found.no_tables_reason);
  recorded.tables = std::move(found.tables);
  return recorded;
}

const std::vector<std::string>& strategies() {
  static const std::string widths_of_the_code =
      "mix:mask=exit,exit=6,gamma=12,stop=threshold,threshold=0.8,shape=tree,widths=greedy-code";
  static const std::vector<std::string> all{"vanilla",
                                            "layerskip:exit=1,gamma=4",
                                            "layerskip:exit=3,gamma=6",
                                            "layerskip:exit=5,gamma=1",
                                            "layerskip:exit=6,gamma=12,verify=above-exit",
                                            "fs:exit=3",
                                            "fs:exit=2,least=0,gamma=0",
                                            "dv:exit=4",
                                            "dv:exit=2,rule=paper",
                                            "del:mode=published,prompt-window=0",
                                            "del:mode=repaired,prompt-window=0",
                                            "mix:length=heuristic,exit=4,stop=threshold,threshold=0.5",
                                            "mix:length=fs,stop=adaptive,rule=code,exit=3",
                                            "mix:mask=exit,exit=3,length=del,stop=none,prompt-window=0",
                                            "del:prompt-window=0,exits=2-5",
                                            "mix:mask=exit,exit=4,stop=del,prompt-window=0",
                                            "mix:mask=exit,exit=5,stop=roc,gamma=12",
                                            "dv:exit=3,carry=no",
                                            "mix:mask=exit,exit=4,gamma=8,shape=tree",
                                            widths_of_the_code,
                                            "mix:mask=exit,exit=3,length=fs,stop=adaptive,shape=tree",
                                            "mix:mask=exit,exit=5,stop=roc,gamma=12,shape=tree",
                                            "mix:mask=del,shape=tree,mode=code,prompt-window=0",
                                            "mix:mask=del,shape=tree,prompt-window=16"};
  return all;
}

std::vector<std::string> demo_prompts(const std::string& tokens, const std::string& repeats) {
  return {"--prompts",    std::string(DRAFTSCOPE_SOURCE_DIR) + "/traces/prompts/demo.jsonl",
          "--limit",      "3",
          "--max-tokens", tokens,
          "--repeats",    repeats,
          "--context",    "512"};
}

std::int64_t told(const ReplayCheck& check) {
  return check.rounds - check.untold_plans;
}

/// Checks that the other runs' tables, which have the same text, predict this run.
void expect_predicted(const RunRows& run, std::span<const ShadowTable> tables,
                      const traces::Recording& recording) {
  const auto model = replay_model(recording);
  const auto conditions = replay_conditions(recording);
  ASSERT_TRUE(model && conditions);
  const auto choice = policy_of_specification(run.run->specification, *model);
  ASSERT_TRUE(choice) << choice.error().message;
  ASSERT_NE(choice->policy, nullptr) << choice->reason;
  bool is_sure = true;  // Whether the policy is certain so far, over all requests.
  for (const RequestRows& rows : run.requests) {
    if (rows.request->repeat != 0) continue;
    const auto other = std::find_if(tables.begin(), tables.end(), [&](const ShadowTable& table) {
      return table.request_id != rows.request->id &&
             table.prompt_tokens == static_cast<std::int32_t>(rows.prompt->tokens.size()) &&
             std::equal(rows.prompt->tokens.begin(), rows.prompt->tokens.end(), table.text.begin());
    });
    ASSERT_NE(other, tables.end());
    const auto replayed = replay_rounds(*other, *choice->policy, *conditions);
    for (std::size_t i = 0; i < replayed.size(); ++i) {
      is_sure = is_sure && replayed[i].status != AnswerStatus::approximate;
      if (!is_sure) break;
      ASSERT_LT(i, rows.rounds.size());
      const traces::Round& round = rows.rounds[i];
      EXPECT_EQ(round.root_position, replayed[i].root_position) << run.run->specification;
      EXPECT_EQ(round.emitted, replayed[i].emitted);
      EXPECT_LE(round.drafted, replayed[i].most.drafted) << run.run->specification << " round " << i;
      if (round.draft_stop != traces::DraftStop::eos) {
        EXPECT_GE(round.drafted, replayed[i].least.drafted) << run.run->specification << " round " << i;
      }
      if (replayed[i].status == AnswerStatus::exact) {
        EXPECT_EQ(round.accepted, replayed[i].least.accepted) << run.run->specification;
      }
    }
  }
}

class RecordedRuns : public testing::TestWithParam<std::string> {};

TEST_P(RecordedRuns, AreWhatTheirReplaysSay) {
  const auto recorded = record(GetParam(), strategies(), demo_prompts("40", "2"));
  ASSERT_TRUE(recorded) << recorded.error().message;
  const std::vector<RunRows> runs = rows_by_run(recorded->recording);
  ASSERT_EQ(runs.size(), strategies().size());
  for (const RunRows& run : runs) {
    const auto check = replays_recorded(run, recorded->tables, recorded->recording);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_NE(check->status, AnswerStatus::invalid) << run.run->specification << ": " << check->reason;
    EXPECT_EQ(check->requests, 6) << run.run->specification;
    if (run.run->specification.ends_with("prompt-window=16")) {
      EXPECT_EQ(told(*check), 0) << "its prompt's keys are not the recorded window's";
    } else if (run.run->specification.find("stop=roc,shape=tree") != std::string::npos) {
      EXPECT_GE(told(*check), check->requests) << "the first plan of each request is known";
    } else {
      EXPECT_GT(told(*check), 10) << run.run->specification;
    }
    if (!run.run->specification.starts_with("mix") && !run.run->specification.starts_with("del")) {
      EXPECT_EQ(check->untold_plans, 0) << run.run->specification;
    }
    expect_predicted(run, recorded->tables, recorded->recording);
  }
}

TEST(RecordedRun, ThatWasChangedIsFoundOut) {
  auto recorded = record("demo-layerskip", {"layerskip:exit=3,gamma=4"}, demo_prompts("32", "1"));
  ASSERT_TRUE(recorded) << recorded.error().message;
  traces::Recording& recording = recorded->recording;
  ASSERT_GT(recording.rounds.size(), 5U);
  const auto reason = [&] {
    const auto check = replays_recorded(rows_by_run(recording).front(), recorded->tables, recording);
    return check && check->status == AnswerStatus::invalid ? check->reason : "";
  };
  EXPECT_EQ(reason(), "");
  const traces::Round original = recording.rounds[4];
  const std::string where = fmt::format("request {} round {}: ", original.request_id, original.index);
  traces::Round& round = recording.rounds[4];
  round.drafted = 3;
  EXPECT_EQ(reason(), where + "drafted 3, replay says 4");
  round = original;
  round.accepted += 1;
  EXPECT_EQ(reason(), where + fmt::format("accepted {}, replay says {}", round.accepted, original.accepted));
  round = original;
  round.exit_layer = 2;
  EXPECT_EQ(reason(), where + "exit 2, replay says 3");
  round = original;
  round.planned = 5;
  EXPECT_EQ(reason(), where + "planned 5, replay says 4");
  round = original;
  recording.rounds.pop_back();
  EXPECT_THAT(reason(), testing::HasSubstr("replay has one more"));
}

TEST_P(RecordedRuns, OfDelAreToldFromTheirFirstRoundOn) {
  const std::string other_window = "del:mode=repaired,prompt-window=7";
  const auto recorded =
      record(GetParam(), {"del:mode=repaired", "del:mode=published", other_window}, demo_prompts("96", "1"));
  ASSERT_TRUE(recorded) << recorded.error().message;
  for (const ShadowTable& table : recorded->tables) EXPECT_EQ(table.prompt_positions(), 32);
  for (const RunRows& run : rows_by_run(recorded->recording)) {
    const std::string& name = run.run->specification;
    const auto check = replays_recorded(run, recorded->tables, recorded->recording);
    ASSERT_TRUE(check) << check.error().message;
    EXPECT_NE(check->status, AnswerStatus::invalid) << name << ": " << check->reason;
    EXPECT_GT(check->rounds, 30) << name;
    if (name == other_window) {
      EXPECT_EQ(check->untold_plans, check->rounds) << "its prompt's keys are not the recorded window's";
      continue;
    }
    if (name == "del:mode=repaired") {
      EXPECT_EQ(check->untold_plans, 0);
    } else {
      EXPECT_LT(check->untold_plans, check->rounds / 4) << "γ = 0 as published counts what is off the text";
    }
    expect_predicted(run, recorded->tables, recorded->recording);
  }
}

/// Writes a demo model, whose texts never reach an end token, with an additional end token.
void write_ending_model(const std::filesystem::path& folder, std::int32_t end_token) {
  const std::filesystem::path original = demo_models() / "demo-layerskip";
  std::filesystem::create_directory(folder);
  for (const char* const file :
       {"model.safetensors", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"})
    std::filesystem::create_symlink(original / file, folder / file);
  nlohmann::json config = nlohmann::json::parse(std::ifstream(original / "config.json"));
  config["eos_token_id"] = {config["eos_token_id"].get<std::int32_t>(), end_token};
  std::ofstream(folder / "config.json") << config;
}

TEST(RecordedRun, ThatEndedByItselfHasThePositionBehindItsText) {
  const cli::TemporaryFolder folder;
  const auto endless = record("demo-layerskip", {"vanilla"}, demo_prompts("24", "1"));
  ASSERT_TRUE(endless) << endless.error().message;
  write_ending_model(folder / "model", endless->tables.front().text.back());
  const auto recorded = record((folder / "model").string(),
                               {"vanilla", "layerskip:exit=6,gamma=6", "layerskip:exit=3,gamma=4",
                                "del:mode=repaired", "del", "del:mode=published"},
                               demo_prompts("64", "1"));
  ASSERT_TRUE(recorded) << recorded.error().message;
  const auto conditions = replay_conditions(recorded->recording);
  ASSERT_TRUE(conditions);
  std::size_t ended = 0;
  for (const ShadowTable& table : recorded->tables) {
    EXPECT_EQ(table.ended_at_eos, !table.end_cells.empty());
    if (!table.ended_at_eos) continue;
    ++ended;
    EXPECT_EQ(table.end_cells.back().true_rank, 0);
    EXPECT_THAT(conditions->end_tokens, testing::Contains(table.end_cells.back().token));
  }
  EXPECT_GE(ended, recorded->recording.runs.size());
  for (const RunRows& run : rows_by_run(recorded->recording)) {
    const auto check = replays_recorded(run, recorded->tables, recorded->recording);
    ASSERT_TRUE(check) << check.error().message;
    const std::string& name = run.run->specification;
    EXPECT_NE(check->status, AnswerStatus::invalid) << name << ": " << check->reason;
    EXPECT_EQ(check->untold_plans, 0) << name;
    if (name != "del" && name != "del:mode=published") {
      EXPECT_EQ(check->bounded_rounds, 0) << name;
    }
  }
}

TEST(RecordedRun, ThatWasSampledHasNoReplay) {
  auto options = demo_prompts("8", "1");
  options.insert(options.end(), {"--temperature", "0.8"});
  const auto recorded = record("demo-layerskip", {"layerskip"}, options);
  ASSERT_TRUE(recorded) << recorded.error().message;
  const auto check =
      replays_recorded(rows_by_run(recorded->recording).front(), recorded->tables, recorded->recording);
  ASSERT_TRUE(check);
  EXPECT_EQ(check->status, AnswerStatus::invalid);
  EXPECT_THAT(check->reason, testing::HasSubstr("another text"));
}

INSTANTIATE_TEST_SUITE_P(Demo, RecordedRuns, testing::Values("demo-layerskip", "demo-plain"),
                         [](const auto& parameter) {
                           return parameter.param == "demo-plain" ? "Plain" : "LayerSkip";
                         });

}  // namespace
}  // namespace draftscope::simulator
