// SPDX-License-Identifier: GPL-3.0-or-later
// draftscope tune on a demo model. Scores are predicted from acceptance and bytes, so they are the same every
// time. One test measures time, and only checks that it was measured.

#include <draftscope/engine/tuning/policy.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

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
  /// Runs tune on a few prompts. `values` are those of `more` (words_of()).
  template <typename... Values>
  [[nodiscard]] CommandResult run(const std::string& search, const std::string& output,
                                  const std::string& more, const Values&... values) const {
    const bool has_objective = more.find("--objective") != std::string::npos;
    return run_line("tune --model {} --prompts {} --limit 3 --max-tokens 8 --search {} --output {} " +
                        std::string(has_objective ? "" : "--objective acceptance-model ") + more,
                    in_source("/models/demo-layerskip"), in_source("/traces/prompts/demo.jsonl"), search,
                    path(output), values...);
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
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(Tune, GivesAPolicyThatDecodesVanillasText) {
  const CommandResult tuned = run("skip-set", "policy.json", "--trials 9");
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  ASSERT_NE(policy("policy.json").strategy, "vanilla");
  EXPECT_THAT(tuned.out, HasSubstr("--strategy tuned:policy=" + path("policy.json")));
  const auto text_of = [](const std::string& strategy) {
    return printed_text("generate --model {} --prompt {} --max-tokens 24 --strategy {} --quiet",
                        in_source("/models/demo-layerskip"), "def f(x):", strategy);
  };
  const std::string vanilla = text_of("vanilla");
  EXPECT_GT(vanilla.size(), 10U);
  EXPECT_EQ(text_of("tuned:policy=" + path("policy.json")), vanilla);
  EXPECT_EQ(text_of("draft-verify:skip-set=" + path("policy.json")), vanilla);
  EXPECT_EQ(text_of(policy("policy.json").strategy), vanilla);
}

TEST_F(Tune, GivesAPolicyWhoseUseWithAnotherCheckpointIsNotedInOneLine) {
  expect_success(run("skip-set", "policy.json", "--trials 1"));
  engine::Policy other = policy("policy.json");
  other.model.at("checkpoint_hash") = "0123";
  EXPECT_TRUE(engine::write_policy(path("other.json"), other));
  const auto notes = [&](const std::string& file, const std::string& name) {
    const std::string strategy = name + ":policy=" + path(file);
    const CommandResult generated =
        run_line("generate --model {} --prompt x --max-tokens 2 --quiet --strategy {}",
                 in_source("/models/demo-layerskip"), strategy);
    expect_success(generated);
    const CommandResult recorded = run_line(
        "record --model {} --prompts {} --limit 1 --max-tokens 2 --repeats 1 --quiet --overwrite --output {} "
        "--strategy {}",
        in_source("/models/demo-layerskip"), in_source("/traces/prompts/demo.jsonl"), path("run.dstrace"),
        strategy);
    expect_success(recorded);
    EXPECT_EQ(generated.err, recorded.err);
    return generated.err;
  };
  for (const std::string name : {"tuned", "auto"}) {
    EXPECT_EQ(notes("policy.json", name), "");
    EXPECT_EQ(notes("other.json", name),
              fmt::format("{}: was made for another checkpoint ({}, hash 0123), so another setting may be "
                          "faster here\n",
                          path("other.json"), other.model.at("name")));
  }
}

TEST_F(Tune, SaysVanillaWhereNothingPays) {
  // Each round has eight draft steps that read all weights but those of one attention sublayer.
  std::ofstream(path("probes.json")) << R"({"one": {"attention": [4], "mlp": []}})";
  const CommandResult tuned =
      run("skip-set", "policy.json", "--trials 1 --probe {} --strategy draft-verify:gamma=8,threshold=0",
          path("probes.json"));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const engine::Policy found = policy("policy.json");
  EXPECT_EQ(found.strategy, "vanilla");
  EXPECT_EQ(found.repeats.front().score, 1.0);
  EXPECT_LE(found.finalists.at(1).repeats.front().score, 1.0);
  EXPECT_FALSE(found.skip_set);
  EXPECT_THAT(tuned.out, HasSubstr("No setting that was tried decodes faster than vanilla"));
  EXPECT_THAT(tuned.out, ::testing::Not(HasSubstr("--strategy")));
  std::string texts[2];
  std::int32_t i = 0;
  for (const std::string& strategy : {std::string("vanilla"), "tuned:policy=" + path("policy.json")}) {
    texts[i++] = printed_text("generate --model {} --prompt {} --max-tokens 24 --strategy {} --quiet",
                              in_source("/models/demo-layerskip"), "def f(x):", strategy);
  }
  EXPECT_EQ(texts[0], texts[1]);
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
  for (const engine::Trial& trial : decoded.trials) {
    EXPECT_EQ(trial.scored_by, engine::ScoredBy::decoded);
    EXPECT_FALSE(trial.agreement);
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

TEST_F(Tune, FindsNoSetWorseThanAProbe) {
  expect_success(run("skip-set", "policy.json", "--trials 10 --score decoded"));
  const engine::Policy found = policy("policy.json");
  ASSERT_EQ(found.trials.size(), 10U);
  std::int32_t probes = 0;
  for (const engine::Trial& trial : found.trials) {
    EXPECT_LE(trial.measured.score, found.repeats.front().score) << trial.setting;
    if (trial.candidate->origin == engine::CandidateOrigin::probe) ++probes;
  }
  EXPECT_EQ(probes, 4);
}

TEST_F(Tune, InterruptedAndResumedEqualsUninterrupted) {
  const pid_t child = fork();
  if (child == 0) _exit(run("skip-set", "cut.json", "--trials 8000").exit_code);
  ASSERT_GT(child, 0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto so_far = engine::read_policy(path("cut.json"));
    if (so_far && so_far->trials.size() >= 2) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);

  const engine::Policy cut = policy("cut.json");
  EXPECT_FALSE(cut.finished);
  ASSERT_GE(cut.trials.size(), 2U);
  const std::string trials = std::to_string(cut.trials.size() + 2);
  expect_success(run("skip-set", "cut.json", "--trials {} --resume", trials));
  expect_success(run("skip-set", "whole.json", "--trials {}", trials));
  EXPECT_EQ(findings("cut.json"), findings("whole.json"));
}

TEST_F(Tune, GridFindsTheBestThatBruteForceFinds) {
  const std::string axes = "--strategy layerskip --strategy fs --exits 3,6,9 --gammas 2,4,8 --rungs ";
  expect_success(run("grid", "brute.json", axes + "1"));
  expect_success(run("grid", "halved.json", axes + "2"));
  const engine::Policy all = policy("brute.json");
  ASSERT_EQ(all.trials.size(), 18U);
  const auto best = std::max_element(
      all.trials.begin(), all.trials.end(),
      [](const engine::Trial& a, const engine::Trial& b) { return a.measured.score < b.measured.score; });
  EXPECT_EQ(all.strategy, best->setting);
  EXPECT_EQ(policy("halved.json").strategy, best->setting);
  EXPECT_EQ(policy("halved.json").repeats, all.repeats);
  EXPECT_FALSE(all.skip_set);
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

TEST_F(Tune, TakesProbesFromAFile) {
  std::ofstream(path("probes.json")) << R"({"one": {"attention": [4], "mlp": [5]}})";
  expect_success(run("skip-set", "policy.json", "--trials 1 --probe {}", path("probes.json")));
  const engine::Policy found = policy("policy.json");
  ASSERT_EQ(found.trials.size(), 1U);
  EXPECT_THAT(found.trials.front().setting, HasSubstr("skip-attention=4,skip-mlp=5"));
}

TEST_F(Tune, RefusesBadInputInOneLine) {
  expect_success(run("skip-set", "there.json", "--trials 1"));
  expect_one_line(run("skip-set", "there.json", "--trials 1"), "exists already");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --seed 9"), "settings.seed");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --weights q8_0"),
                  "settings.weights is 'as-stored', expected 'q8_0'");
  expect_one_line(run("skip-set", "there.json", "--trials 1 --resume --score decoded"),
                  "settings.ranked_sublayers");
  expect_usage_error(run("grid", "new.json", "--score teacher-forced"), "only with --search skip-set");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy mix:mask=skip-set,shape=tree"),
                  "--score decoded");
  expect_one_line(run("skip-set", "absent.json", "--trials 1 --resume"), "absent.json");
  expect_one_line(run("skip-set", "folder/new.json", "--trials 1"), "folder/new.json");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy layerskip"), "skip-attention");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --strategy swift --strategy fs"), "expected one");
  expect_usage_error(run("skip-set", "new.json", "--trials 1 --exits 3"), "only with --search grid");
  expect_one_line(run("skip-set", "new.json", "--trials 1 --probe {}", path("none.json")), "none.json");
  expect_usage_error(run("grid", "new.json", "--trials 1 --probe {}", path("none.json")),
                     "only with --search skip-set");
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
