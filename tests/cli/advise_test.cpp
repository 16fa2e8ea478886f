// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/tuning/policy.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "../simulator/answers/advice/shadowed_recording.h"
#include "../value_of.h"
#include "printed.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

/// Texts and times that follow a rule (shadowed_recording.h).
class Shadowed : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const simulator::ShadowedRecording& recording,
                                  const std::string& name = "run.dstrace") {
    const std::filesystem::path path = folder_ / name;
    write_shadowed_recording(recording, path);
    return path.string();
  }
  [[nodiscard]] static CommandResult run(const std::string& command, const std::string& path,
                                         Arguments more) {
    more.insert(more.begin(), {command, path});
    return run_command(more);
  }
  [[nodiscard]] static json parsed(const CommandResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.exit_code == 0 ? json::parse(result.out) : json::object();
  }

  TemporaryFolder folder_;
};

TEST_F(Shadowed, ClimbsTheLadderToTheAnswer) {
  const std::string path = write({});
  const Arguments asked{"-s", "layerskip:exit=3,gamma=4", "-s", "layerskip:exit=2,gamma=2,verify=above-exit"};
  Arguments more = asked;
  more.insert(more.end(), {"--ladder", "--quiet"});
  expect_golden("simulate_ladder.txt", run("simulate", path, more).out);
  more.emplace_back("--json");
  const json ladders = parsed(run("simulate", path, more))["ladders"];
  more = asked;
  more.insert(more.end(), {"--json", "--quiet"});
  const json answers = parsed(run("simulate", path, more))["answers"];
  ASSERT_EQ(ladders.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ladders[i]["strategy"], answers[i]["strategy"]);
    const json& rungs = ladders[i]["rungs"];
    ASSERT_EQ(rungs.size(), 7U);
    EXPECT_NEAR(rungs[6]["speedup"].get<double>(), answers[i]["speedup"].get<double>(), 1e-9);
    double share = 0.0;
    for (std::size_t rung = 1; rung < 7; ++rung) share += rungs[rung]["share"].get<double>();
    EXPECT_NEAR(share, 1.0, 1e-9);
  }
}

TEST_F(Shadowed, SaysWhatWasMeasuredWithTheSettingsThatWereAsked) {
  const std::string path = write({});
  const Arguments asked{"-s", "layerskip:exit=3,gamma=4", "-s", "layerskip:exit=2,gamma=3"};
  EXPECT_THAT(run("simulate", path, asked).out,
              HasSubstr("What was measured with the same settings\n  layerskip:exit=3,gamma=4: Measured "));
  Arguments more = asked;
  more.insert(more.end(), {"--json", "--quiet"});
  const json answers = parsed(run("simulate", path, more))["answers"];
  EXPECT_NEAR(answers[0]["measured"]["relative_error"].get<double>(),
              answers[0]["speedup"].get<double>() / answers[0]["measured"]["speedup"].get<double>() - 1.0,
              1e-12);
  EXPECT_TRUE(answers[1]["measured"].is_null()) << "that was not recorded";
  for (const Arguments& elsewhere :
       {Arguments{"--gpu", "L4"}, {"--batch", "2"}, {"--longer-context", "64"}}) {
    Arguments other = more;
    other.insert(other.end(), elsewhere.begin(), elsewhere.end());
    EXPECT_TRUE(parsed(run("simulate", path, other))["answers"][0]["measured"].is_null()) << elsewhere[0];
  }
}

TEST_F(Shadowed, ShowsTheWaterfallOfEachMachine) {
  const std::string path = write({});
  expect_golden("simulate_waterfall.txt",
                run("simulate", path, {"--waterfall", "-s", "layerskip:exit=3,gamma=4", "--quiet"}).out);
  const json found = parsed(
      run("simulate", path,
          {"--waterfall", "--gpu", "H200-SXM5-141GB", "--gpu", "L4", "--json", "--quiet"}))["waterfalls"];
  ASSERT_EQ(found.size(), 2U);
  for (const json& machine : found) {
    EXPECT_EQ(machine["levels"].size(), 11U);
    EXPECT_EQ(machine["strategies"].size(), 2U) << "the recorded runs";
    EXPECT_GT(machine["price_tokens_per_second"], 0.0);
    EXPECT_EQ(machine["levels"][0]["speedup"]["value"], 1.0);
  }
  EXPECT_GT(found[0]["price_tokens_per_second"], found[1]["price_tokens_per_second"]);
  expect_one_line(run("simulate", write({.with_shadow = false}, "bare.dstrace"), {"--waterfall"}),
                  "--shadow");
}

TEST_F(Shadowed, AdvisesInElevenLines) {
  const CommandResult result = run("advise", write({.skill = 1.1}), {"--quiet"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 11) << result.out;
  expect_golden("advise.txt", result.out);
}

TEST_F(Shadowed, AdvisesWhatSimulatePrints) {
  const std::string path = write({.skill = 1.1});
  const json advice = parsed(run("advise", path, {"--json", "--quiet"}))["advice"][0];
  EXPECT_EQ(advice["verdict"], "speculate");
  const std::string strategy = advice["strategy"];
  const json answer = parsed(run("simulate", path, {"-s", strategy, "--json", "--quiet"}))["answers"][0];
  EXPECT_EQ(advice["fastest"]["interval_95"], answer["interval_95"]);
  const json& most = answer["speedup_max_drafted"];
  const double speedup = answer["speedup"];
  EXPECT_EQ(advice["fastest"]["speedup"], most.is_null() ? speedup : std::min(speedup, most.get<double>()));
  EXPECT_EQ(advice["fastest"]["tokens_per_round"], answer["tokens_per_round"]);
}

TEST_F(Shadowed, DocumentsEveryKey) {
  const std::string path = write({.skill = 1.1});
  std::set<std::string> keys;
  for (const json& printed :
       {parsed(run("simulate", path, {"-s", "layerskip:exit=3", "--json", "--quiet"})),
        parsed(run("simulate", path, {"--ladder", "--json", "--quiet"})),
        parsed(run("simulate", path, {"--waterfall", "-s", "layerskip:exit=3", "--json", "--quiet"})),
        parsed(run("advise", path, {"--json", "--quiet"}))}) {
    EXPECT_EQ(printed.at("format"), 2);
    keys.merge(keys_of(printed));
  }
  EXPECT_GT(keys.size(), 70U);
  expect_documented(keys);
}

TEST_F(Shadowed, WritesAPolicyWithWhereItComesFrom) {
  const std::string path = write({.skill = 1.1});
  const std::string file = (folder_ / "policy.json").string();
  const json advice = parsed(run("advise", path, {"-o", file, "--json", "--quiet"}))["advice"][0];
  const auto policy = value_of(engine::read_policy(file));
  EXPECT_TRUE(policy.finished);
  EXPECT_EQ(policy.strategy, advice["strategy"].get<std::string>());
  ASSERT_EQ(policy.repeats.size(), 1U);
  EXPECT_EQ(policy.repeats[0].score, advice["fastest"]["speedup"]);
  EXPECT_EQ(policy.settings.at("trace"), path);
  EXPECT_TRUE(policy.settings.at("trace_hash").starts_with("sha256:"));
  EXPECT_EQ(policy.settings.at("objective"), "predicted");
  EXPECT_EQ(policy.machine.at("advised_for"), "as recorded");
  EXPECT_EQ(policy.machine.at("processor"), "planted");
  EXPECT_FALSE(policy.date.empty());
  expect_one_line(run("advise", path, {"-o", file, "--quiet"}), "exists already");
  EXPECT_EQ(run("advise", path, {"-o", file, "--overwrite", "--quiet"}).exit_code, 0);
}

TEST_F(Shadowed, WritesNoPolicyBeforeItIsSure) {
  const std::string file = (folder_ / "policy.json").string();
  const std::string few = write({.prompts = 3, .skill = 1.1}, "few.dstrace");
  expect_one_line(run("advise", few, {"-o", file, "--quiet"}), "measure first");
  const std::string path = write({.skill = 1.1});
  expect_one_line(run("advise", path, {"-o", file, "--quiet", "--gpu", "L4", "--gpu", "A100-SXM4-80GB"}),
                  "2 machines");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Shadowed, AdvisesVanillaWhereNothingPays) {
  const std::string path = write({.skill = 0.2});
  const std::string file = (folder_ / "policy.json").string();
  const json advice = parsed(run("advise", path, {"-o", file, "--json", "--quiet"}))["advice"][0];
  EXPECT_EQ(advice["verdict"], "do not speculate");
  EXPECT_EQ(advice["strategy"], "vanilla");
  EXPECT_EQ(engine::read_policy(file).value().strategy, "vanilla");
}

TEST_F(Shadowed, IsAdvisedOnWithoutShadowTokensToo) {
  const json advice =
      parsed(run("advise", write({.with_shadow = false}), {"--json", "--quiet"}))["advice"][0];
  EXPECT_TRUE(advice["limits"]["gaps"].is_null());
  EXPECT_THAT(advice["to_record"].dump(), HasSubstr("--shadow"));
  EXPECT_GT(advice["considered"], 2);
  const CommandResult text = run("advise", write({.with_shadow = false}, "again.dstrace"), {"--quiet"});
  EXPECT_THAT(text.out, HasSubstr("not known without shadow tokens"));
}

TEST_F(Shadowed, IsRefusedWithWhatToRecordInstead) {
  EXPECT_THAT(run_command({"advise", "any.dstrace", "--consider", "dream"}).err,
              HasSubstr("found 'dream', expected one of everything, early-exits, recorded-runs"));
  expect_one_line(run("advise", write({.strategies = {"layerskip:exit=3,gamma=4"}}), {"--quiet"}),
                  "--strategy vanilla");
  const std::string answers = (folder_ / "answers.jsonl").string();
  std::ofstream(answers)
      << R"({"question_id": 1, "category": "qa", "choices": [{"turns": ["a"], "new_tokens": [4], "wall_time": [0.5], "idxs": [3], "accept_lengths": [2, 2]}]})"
      << '\n';
  const std::string imported = (folder_ / "imported.dstrace").string();
  ASSERT_EQ(run_command({"import", answers, "-o", imported}).exit_code, 0);
  expect_one_line(run("advise", imported, {"--quiet"}), "imported");
  const CommandResult one = run("advise", write({.prompts = 1, .skill = 1.1}, "one.dstrace"), {"--quiet"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("measure first"));
  EXPECT_THAT(one.out, HasSubstr("at least 10 prompts"));
  expect_one_line(run("advise", (folder_ / "none.dstrace").string(), {}), "none.dstrace");
}

// The engine decodes with the file's strategy, to the same text as vanilla decoding.
TEST(AdvisedPolicy, IsRunByTheEngineToVanillasText) {
  const TemporaryFolder folder;
  const std::string source = DRAFTSCOPE_SOURCE_DIR;
  const std::string model = source + "/models/demo-layerskip";
  const std::string trace = (folder / "run.dstrace").string();
  const CommandResult recorded = run_command(
      record_arguments(trace,
                       "--limit 12 --max-tokens 24 --repeats 1 --quiet --shadow --strategy vanilla "
                       "--strategy layerskip:exit=5,gamma=4",
                       "code"));
  ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
  const std::string file = (folder / "policy.json").string();
  CommandResult advised = run_command({"advise", trace, "-o", file, "--quiet"});
  if (advised.exit_code != 0) {
    // With the times of a busy machine, it may remain open whether any strategy pays.
    EXPECT_THAT(advised.err, HasSubstr("measure first"));
    advised = run_command({"advise", trace, "-o", file, "--quiet", "--gpu", "H200-SXM5-141GB"});
  }
  ASSERT_EQ(advised.exit_code, 0) << advised.err;
  const auto generate = [&](const std::string& strategy) {
    const CommandResult result =
        run_command({"generate", "--model", model, "--prompt", "def read_file(path):", "--max-tokens", "40",
                     "--threads", "1", "--quiet", "--strategy", strategy});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(generate("tuned:policy=" + file), generate("vanilla"));
}

}  // namespace
}  // namespace draftscope::cli
