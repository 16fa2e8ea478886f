// SPDX-License-Identifier: GPL-3.0-or-later
// draftscope tune on a demo model. Scores are predicted from acceptance and bytes, so they are the same every
// time. One test measures time, and only checks that it was measured.

#include <draftscope/engine/tuning/policy.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string in_source(const char* path) {
  return std::string(DRAFTSCOPE_SOURCE_DIR) + path;
}

class Tune : public ::testing::Test {
 protected:
  /// Arguments of tune on a few prompts. `values` are those of `more` (words_of()).
  template <typename... Values>
  [[nodiscard]] std::vector<std::string> arguments(const std::string& search, const std::string& output,
                                                   const std::string& more, const Values&... values) const {
    const bool has_objective = more.find("--objective") != std::string::npos;
    return words_of("tune --model {} --prompts {} --limit 3 --max-tokens 8 --search {} --output {} " +
                        std::string(has_objective ? "" : "--objective acceptance-model ") + more,
                    {in_source("/models/demo-layerskip"), in_source("/traces/prompts/demo.jsonl"), search,
                     path(output), std::string(values)...});
  }
  /// Runs tune with arguments().
  template <typename... Values>
  [[nodiscard]] CommandResult run(const Values&... values) const {
    return run_command(arguments(values...));
  }
  [[nodiscard]] engine::Policy policy(const std::string& name) const {
    auto read = engine::read_policy(path(name));
    EXPECT_TRUE(read) << read.error().message;
    return read ? *std::move(read) : engine::Policy{};
  }
  /// The policy without the date and the command line.
  [[nodiscard]] std::string findings(const std::string& name) const {
    engine::Policy read = policy(name);
    read.date.clear();
    read.command_line.clear();
    return engine::policy_json(read);
  }
  [[nodiscard]] static std::string text_of(const std::string& strategy) {
    return printed_text("generate --model {} --prompt {} --max-tokens 24 --strategy {} --quiet",
                        in_source("/models/demo-layerskip"), "def f(x):", strategy);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(Tune, GivesAPolicyThatDecodesVanillasText) {
  const CommandResult tuned = run("skip-set", "policy.json", "--trials 9");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_NE(policy("policy.json").strategy, "vanilla");
  EXPECT_THAT(tuned.out, HasSubstr("--strategy tuned:policy=" + path("policy.json")));
  const std::string vanilla = text_of("vanilla");
  EXPECT_GT(vanilla.size(), 10U);
  EXPECT_EQ(text_of("tuned:policy=" + path("policy.json")), vanilla);
  EXPECT_EQ(text_of("draft-verify:skip-set=" + path("policy.json")), vanilla);
  EXPECT_EQ(text_of(policy("policy.json").strategy), vanilla);
}

TEST_F(Tune, SaysVanillaWhereNothingPays) {
  // Each round has eight draft steps that read all weights but those of one attention sublayer.
  std::ofstream(path("probes.json")) << R"({"one": {"attention": [4], "mlp": []}})";
  const CommandResult tuned =
      run("skip-set", "policy.json", "--trials 1 --probe {} --strategy draft-verify:gamma=8,threshold=0",
          path("probes.json"));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const engine::Policy found = policy("policy.json");
  ASSERT_EQ(found.trials.size(), 1U);
  EXPECT_THAT(found.trials.front().setting, HasSubstr("skip-attention=4"));
  EXPECT_EQ(found.strategy, "vanilla");
  EXPECT_EQ(found.repeats.front().score, 1.0);
  EXPECT_LE(found.finalists.at(1).repeats.front().score, 1.0);
  EXPECT_FALSE(found.skip_set);
  EXPECT_THAT(tuned.out, HasSubstr("No setting that was tried decodes faster than vanilla"));
  EXPECT_THAT(tuned.out, ::testing::Not(HasSubstr("--strategy")));
  EXPECT_EQ(text_of("tuned:policy=" + path("policy.json")), text_of("vanilla"));
}

TEST_F(Tune, RanksSinglesAndStartsLightUnlessCandidatesDecode) {
  constexpr std::size_t singles = 24;  // sublayers of twelve layers
  expect_success(run("skip-set", "forced.json", "--trials 6"));
  const engine::Policy forced = policy("forced.json");
  ASSERT_EQ(forced.trials.size(), singles + 6);
  for (std::size_t i = 0; i < forced.trials.size(); ++i) {
    EXPECT_EQ(forced.trials[i].scored_by, engine::ScoredBy::teacher_forced);
    EXPECT_EQ(forced.trials[i].candidate->origin == engine::CandidateOrigin::single, i < singles);
    EXPECT_TRUE(forced.trials[i].agreement);
  }
  EXPECT_EQ(forced.trials[singles].agreement, 1.0);  // nothing skipped
  expect_success(run("skip-set", "decoded.json", "--trials 6 --score decoded"));
  const engine::Policy decoded = policy("decoded.json");
  ASSERT_EQ(decoded.trials.size(), 6U);
  EXPECT_EQ(std::ranges::count(decoded.trials, engine::CandidateOrigin::probe,
                               [](const engine::Trial& trial) { return trial.candidate->origin; }),
            4);
  for (const engine::Trial& trial : decoded.trials) {
    EXPECT_EQ(trial.scored_by, engine::ScoredBy::decoded);
    EXPECT_FALSE(trial.agreement);
    EXPECT_LE(trial.measured.score, decoded.repeats.front().score) << trial.setting;
  }
}

TEST_F(Tune, GoesOnOnAnotherNumberOfThreadsWithoutAClock) {
  expect_success(run("skip-set", "whole.json", "--trials 9 --threads 1"));
  expect_success(run("skip-set", "part.json", "--trials 4 --threads 1"));
  expect_success(run("skip-set", "part.json", "--trials 9 --threads 2 --resume"));
  EXPECT_EQ(findings("part.json"), findings("whole.json"));
  // Times with one number of threads say nothing about another.
  expect_success(run("skip-set", "timed.json", "--objective speedup --trials 1 --threads 1"));
  EXPECT_TRUE(policy("timed.json").machine.contains("step_without_mlp_ns"));
  expect_one_line(run("skip-set", "timed.json", "--objective speedup --trials 1 --threads 2 --resume"),
                  "machine.threads");
}

TEST_F(Tune, SaysThatNothingWasLeftToDo) {
  const std::string note = path("policy.json") +
                           ": the search was finished, so nothing was left to do (--finalists and --repeats "
                           "start no new finals)\n";
  expect_success(run("skip-set", "policy.json", "--trials 1"));
  const std::string before = findings("policy.json");
  for (const char* more : {"", "--finalists 4", "--quiet"}) {
    const CommandResult resumed = run("skip-set", "policy.json", std::string("--trials 1 --resume ") + more);
    expect_success(resumed);
    EXPECT_EQ(resumed.err.ends_with(note), more != std::string("--quiet")) << resumed.err;
    EXPECT_EQ(findings("policy.json"), before);
  }
  const CommandResult longer = run("skip-set", "policy.json", "--trials 2 --resume");
  expect_success(longer);
  EXPECT_THAT(longer.err, ::testing::Not(HasSubstr(note)));
}

TEST_F(Tune, RefusesAnAxisThatNoStrategyLeavesOpen) {
  const auto line = [](const std::string& option, const std::string& strategies,
                       const std::string& parameter) {
    return fmt::format("found {} with {}, expected a strategy that has {} and does not set it", option,
                       strategies, parameter);
  };
  expect_one_line(run("grid", "new.json", "--strategy layerskip:exit=4 --strategy fs:exit=2 --exits 3"),
                  line("--exits", "layerskip:exit=4 and fs:exit=2", "exit"));
  expect_one_line(run("grid", "new.json", "--strategy dv:exit=4,gamma=2 --gammas 3"),
                  line("--gammas", "dv:exit=4,gamma=2", "gamma"));
  expect_one_line(run("grid", "new.json", "--strategy layerskip --thresholds 0.5"),
                  line("--thresholds", "layerskip", "threshold"));
  expect_success(run("grid", "new.json",
                     "--strategy layerskip:exit=4,gamma=2 --strategy layerskip:gamma=2 --exits 3 --rungs 1"));
  EXPECT_EQ(policy("new.json").trials.size(), 2U);
}

TEST_F(Tune, ShowsItsHistoryAsSeries) {
  expect_success(run("skip-set", "policy.json", "--trials 5"));
  const engine::Policy found = policy("policy.json");
  EXPECT_THAT(printed_text("report --decisions {}", path("policy.json")),
              HasSubstr("29 trials: single 24, probe 5"));
  const CommandResult series = run_line("report --decisions --json {}", path("policy.json"));
  ASSERT_EQ(series.exit_code, 0) << series.err;
  const json document = json::parse(series.out);
  EXPECT_EQ(document["trials"], found.trials.size());
  std::map<std::string, json> by_key;
  for (const json& one : document["series"]) by_key[one["key"]] = one["values"];
  double best = 0.0;
  for (std::size_t i = 0; i < found.trials.size(); ++i) {
    const engine::Trial& trial = found.trials[i];
    if (trial.prompts == 3) best = std::max(best, trial.measured.score);
    EXPECT_EQ(by_key["score"][i], trial.measured.score);
    EXPECT_EQ(by_key["best_score"][i], best);
    EXPECT_EQ(by_key["agreement"][i], *trial.agreement);
    EXPECT_EQ(document["setting"][i], trial.setting);
  }
  // Without --decisions a policy is no trace.
  EXPECT_EQ(run_line("report {}", path("policy.json")).exit_code, 1);
}

TEST_F(Tune, InterruptedAndResumedEqualsUninterrupted) {
  const ProcessResult interrupted =
      run_and_signal(arguments("skip-set", "cut.json", "--trials 8000"), SIGINT, [&] {
        const auto so_far = engine::read_policy(path("cut.json"));
        return so_far && so_far->trials.size() >= 2;
      });
  EXPECT_EQ(interrupted.exit_code, 130) << interrupted.err;
  const engine::Policy cut = policy("cut.json");
  EXPECT_FALSE(cut.finished);
  ASSERT_GE(cut.trials.size(), 2U);
  const std::string trials = std::to_string(cut.trials.size() + 2);
  expect_success(run("skip-set", "cut.json", "--trials {} --resume", trials));
  expect_success(run("skip-set", "whole.json", "--trials {}", trials));
  EXPECT_EQ(findings("cut.json"), findings("whole.json"));
}

TEST_F(Tune, MeasuresAgainstVanillaByTheClock) {
  const CommandResult tuned =
      run("grid", "timed.json", "--objective speedup --exits 7 --gammas 4 --strategy layerskip --json");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const json found = json::parse(tuned.out);
  // Whether the strategy is faster depends on the machine; if it is not, vanilla comes before it.
  EXPECT_EQ(found["finalists"].back()["setting"], "layerskip:exit=7,gamma=4");
  const bool pays = found["finalists"].back()["score"]["median"].get<double>() > 1.0;
  EXPECT_EQ(found["strategy"], pays ? "layerskip:exit=7,gamma=4" : "vanilla");
  EXPECT_EQ(found["score"]["repeats"].size(), 5U);
  for (const json& repeat : found["score"]["repeats"])
    EXPECT_DOUBLE_EQ(repeat["score"].get<double>(), repeat["tokens_per_second"].get<double>() /
                                                        repeat["vanilla_tokens_per_second"].get<double>());
  for (const char* key : {"processor", "threads", "kernels", "hostname"})
    EXPECT_TRUE(found["machine"].contains(key)) << key;
  EXPECT_EQ(found["prompts"]["questions"], 3);
}

TEST_F(Tune, RefusesBadInputInOneLine) {
  expect_success(run("skip-set", "there.json", "--trials 1"));
  expect_one_line(run("skip-set", "there.json", "--trials 1"), "exists already");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --seed 9"), "settings.seed");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --weights q8_0"),
                  "settings.weights is 'as-stored', expected 'q8_0'");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --score decoded"),
                  "settings.ranked_sublayers");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy mix:mask=skip-set,shape=tree"),
                  "--score decoded");
  expect_one_line(run("skip-set", "absent.json", "--trials 1 --resume"), "absent.json");
  expect_one_line(run("skip-set", "folder/new.json", "--trials 1"), "folder/new.json");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy layerskip"), "skip-attention");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy swift --strategy fs"), "expected one");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --probe {}", path("none.json")), "none.json");
  expect_one_line(run("grid", "new.json", "--exits 12"), "exit is '12'");
  expect_one_line(run("grid", "new.json", "--strategy turbo"), "turbo");
  std::ofstream(path("empty.jsonl")) << "\n";
  expect_one_line(run_line("tune --model {} --prompts {} --search grid -o {}",
                           in_source("/models/demo-layerskip"), path("empty.jsonl"), path("new.json")),
                  "found no question");
  expect_one_line(run_line("tune --model {} --prompts {} --search grid -o {}", path("nothing"),
                           in_source("/traces/prompts/demo.jsonl"), path("new.json")),
                  "nothing");
  EXPECT_FALSE(std::filesystem::exists(path("new.json")));
  std::ofstream(path("cut.json")) << R"({"draftscope_policy": 1, "finished")";
  expect_one_line(run("skip-set", "cut.json", "--trials 1 --resume"), "cut.json");
  expect_success(run("skip-set", "there.json", "--trials 1 --overwrite"));
  EXPECT_EQ(run("skip-set", "there.json", "--trials 1 --overwrite --resume").exit_code, 2);
}

}  // namespace
}  // namespace draftscope::cli
