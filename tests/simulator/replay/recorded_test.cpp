// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings of the demo models: what the engine did, round by round, must be what a replay says.
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/shadow.h>
#include <draftscope/simulator/policy_choice.h>
#include <draftscope/simulator/replay_check.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../cli/trace_files.h"

namespace draftscope::simulator {
namespace {

struct Recorded {
  traces::Recording recording;
  std::vector<ShadowTable> tables;
};

/// With `--shadow`, of the shipped prompts.
Result<Recorded> record(const std::string& model, const std::vector<std::string>& strategies,
                        const std::vector<std::string>& options) {
  const cli::TemporaryFolder folder;
  const std::string source = DRAFTSCOPE_SOURCE_DIR;
  const std::string file = (folder / "run.dstrace").string();
  std::vector<std::string> arguments{"record",   "--model",   source + "/models/" + model,
                                     "--shadow", "--threads", "1",
                                     "--quiet",  "--output",  file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  for (const std::string& strategy : strategies) arguments.insert(arguments.end(), {"--strategy", strategy});
  const cli::CommandResult result = cli::run_command(arguments);
  if (result.exit_code != 0) return fail("exit code {}: {}", result.exit_code, result.err);
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  Recorded recorded;
  DRAFTSCOPE_TRY_ASSIGN(recorded.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(recorded.tables, shadow_tables(reader, recorded.recording));
  return recorded;
}

const std::vector<std::string>& strategies() {
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
                                            "mix:mask=exit,exit=3,length=del,stop=none,prompt-window=0"};
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

/// The other runs' tables hold the same text, so that they predict this run.
void expect_predicted(const RunRows& run, std::span<const ShadowTable> tables,
                      const traces::Recording& recording) {
  const auto model = replay_model(recording);
  const auto conditions = replay_conditions(recording);
  ASSERT_TRUE(model && conditions);
  const auto choice = policy_of_specification(run.run->specification, *model);
  ASSERT_TRUE(choice) << choice.error().message;
  ASSERT_NE(choice->policy, nullptr) << choice->reason;
  bool is_sure = true;  // so far: what a policy learns it keeps
  for (const RequestRows& rows : run.requests) {
    if (rows.request->repeat != 0) continue;
    const auto other = std::find_if(tables.begin(), tables.end(), [&](const ShadowTable& table) {
      return table.request != rows.request->id &&
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
    EXPECT_GT(told(*check), 10) << run.run->specification;
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
  const std::string where = fmt::format("request {} round {}: ", original.request, original.index);
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

/// What recordings leave out: the prompt's last predictions.
Result<void> add_prompt_cells(const std::string& folder, std::vector<ShadowTable>& tables) {
  DRAFTSCOPE_TRY_ASSIGN(const engine::Checkpoint checkpoint, engine::load_checkpoint(folder));
  DRAFTSCOPE_TRY_ASSIGN(const auto backend,
                        engine::make_cpu_backend(checkpoint, {.threads = 1, .cache_rows = 512}));
  for (ShadowTable& table : tables) {
    std::vector<engine::Row> rows;
    engine::Outputs outputs;
    for (std::int32_t i = 0; i < table.prompt_tokens; ++i)
      rows.push_back({.token = table.text[static_cast<std::size_t>(i)], .hidden = -1, .position = i});
    DRAFTSCOPE_TRY(backend->forward({.rows = rows, .layers = {0, table.n_layers}}, outputs));
    const std::int32_t first = std::max(1, table.prompt_tokens - 31);
    table.prompt_cells.resize(static_cast<std::size_t>((table.first - first) * table.n_layers));
    DRAFTSCOPE_TRY(engine::shadow_tokens(
        *backend, std::span(table.text).first(static_cast<std::size_t>(table.first)), first,
        [&](const traces::ShadowToken& row) {
          table.prompt_cells[static_cast<std::size_t>((row.position - first) * table.n_layers + row.layer -
                                                      1)] = {
              row.token, row.true_rank, static_cast<float>(row.probability), static_cast<float>(row.margin)};
        }));
  }
  return {};
}

TEST(RecordedDel, NeedsThePromptsLastPositions) {
  auto recorded =
      record("demo-layerskip", {"del:mode=published", "del:mode=repaired"}, demo_prompts("48", "1"));
  ASSERT_TRUE(recorded) << recorded.error().message;
  const auto check = [&](std::size_t run) {
    return *replays_recorded(rows_by_run(recorded->recording)[run], recorded->tables, recorded->recording);
  };
  for (const std::size_t run : {0U, 1U}) {
    EXPECT_EQ(check(run).status, AnswerStatus::approximate) << check(run).reason;
    EXPECT_EQ(check(run).untold_plans, check(run).rounds);
  }
  const auto added =
      add_prompt_cells(std::string(DRAFTSCOPE_SOURCE_DIR) + "/models/demo-layerskip", recorded->tables);
  ASSERT_TRUE(added) << added.error().message;
  for (const std::size_t run : {0U, 1U}) {
    EXPECT_NE(check(run).status, AnswerStatus::invalid) << check(run).reason;
    EXPECT_GT(check(run).exact_rounds, 20);
    EXPECT_LT(check(run).untold_plans, check(run).rounds / 2);
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
