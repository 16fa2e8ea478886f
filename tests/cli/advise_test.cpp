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

/// Texts and times that follow a rule (shadowed_recording.h).
class Shadowed : public ::testing::Test {
 protected:
  [[nodiscard]] std::string write(const simulator::ShadowedRecording& recording,
                                  const std::string& name = "run.dstrace") {
    const std::filesystem::path path = folder_ / name;
    write_shadowed_recording(recording, path);
    return path.string();
  }
  /// The advice for one machine. `more` are further words of the command line.
  template <typename... Values>
  [[nodiscard]] static json advice_on(const std::string& path, const std::string& more = "",
                                      const Values&... values) {
    return printed_json("advise {} --json --quiet " + more, path, values...)["advice"][0];
  }

  TemporaryFolder folder_;
};

TEST_F(Shadowed, ClimbsTheLadderToTheAnswer) {
  const std::string path = write({});
  const std::string asked =
      "simulate {} --quiet -s layerskip:exit=3,gamma=4 -s layerskip:exit=2,gamma=2,verify=above-exit";
  expect_golden("simulate_ladder.txt", printed_text(asked + " --ladder", path));
  const json ladders = printed_json(asked + " --ladder --json", path)["ladders"];
  const json answers = printed_json(asked + " --json", path)["answers"];
  ASSERT_EQ(ladders.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ladders[i]["strategy"], answers[i]["strategy"]);
    const json& rungs = ladders[i]["rungs"];
    const bool is_recorded = answers[i]["rounds_source"] == "recorded";
    EXPECT_EQ(is_recorded, i == 0);
    ASSERT_EQ(rungs.size(), is_recorded ? 8U : 7U);
    EXPECT_EQ(rungs.back()["rung"], is_recorded ? "recorded run" : "overhead");
    EXPECT_NEAR(rungs.back()["speedup"].get<double>(), answers[i]["speedup"].get<double>(), 1e-9);
    double share = 0.0;
    for (std::size_t rung = 1; rung < rungs.size(); ++rung) share += rungs[rung]["share"].get<double>();
    EXPECT_NEAR(share, 1.0, 1e-9);
  }
}

TEST_F(Shadowed, HasTheReportsSpeedupOfEachCategoryOfARecordedRun) {
  const std::string path = write({.odd_draft_factor = 1.6});
  const json runs = printed_json("report {} --by category --json", path)["runs"];
  const json answers = printed_json("simulate {} --by category --json --quiet", path)["answers"];
  ASSERT_EQ(answers.size() + 1, runs.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const json& measured = runs[i + 1]["categories"];
    const json& predicted = answers[i]["categories"];
    ASSERT_EQ(measured.size(), 2U);
    ASSERT_EQ(predicted.size(), 2U);
    for (const json& part : measured)
      for (const json& own : predicted)
        if (own["category"] == part["category"]) {
          EXPECT_NEAR(own["speedup"].get<double>(), part["speedup"]["decode_value"].get<double>(), 1e-6);
        }
  }
}

TEST_F(Shadowed, SaysWhatWasMeasuredWithTheSettingsThatWereAsked) {
  const std::string path = write({});
  const std::string asked = "simulate {} -s layerskip:exit=3,gamma=4 -s layerskip:exit=2,gamma=3";
  EXPECT_THAT(printed_text(asked, path),
              HasSubstr("What was measured with the same settings\n  layerskip:exit=3,gamma=4: Measured "));
  const json answers = printed_json(asked + " --json --quiet", path)["answers"];
  EXPECT_NEAR(answers[0]["measured"]["relative_error"].get<double>(),
              answers[0]["speedup"].get<double>() / answers[0]["measured"]["speedup"].get<double>() - 1.0,
              1e-12);
  EXPECT_TRUE(answers[1]["measured"].is_null()) << "that was not recorded";
  for (const std::string elsewhere : {" --gpu L4", " --batch 2", " --longer-context 64"}) {
    const json other = printed_json(asked + " --json --quiet" + elsewhere, path)["answers"];
    EXPECT_TRUE(other[0]["measured"].is_null()) << elsewhere;
  }
}

TEST_F(Shadowed, ShowsTheWaterfallOfEachMachine) {
  const std::string path = write({});
  expect_golden("simulate_waterfall.txt",
                printed_text("simulate {} --waterfall -s layerskip:exit=3,gamma=4 --quiet", path));
  const json found = printed_json("simulate {} --waterfall --gpu H200-SXM5-141GB --gpu L4 --json --quiet",
                                  path)["waterfalls"];
  ASSERT_EQ(found.size(), 2U);
  for (const json& machine : found) {
    EXPECT_EQ(machine["levels"].size(), 11U);
    EXPECT_EQ(machine["strategies"].size(), 2U) << "the recorded runs";
    EXPECT_GT(machine["price_tokens_per_second"], 0.0);
    EXPECT_EQ(machine["levels"][0]["speedup"]["value"], 1.0);
  }
  EXPECT_GT(found[0]["price_tokens_per_second"], found[1]["price_tokens_per_second"]);
  expect_one_line(run_line("simulate {} --waterfall", write({.with_shadow = false}, "bare.dstrace")),
                  "--shadow");
}

TEST_F(Shadowed, AdvisesInElevenLines) {
  expect_golden("advise.txt", printed_text("advise {} --quiet", write({.skill = 1.1})));
}

TEST_F(Shadowed, AdvisesWhatSimulatePrints) {
  const std::string path = write({.skill = 1.1});
  const json advice = advice_on(path);
  EXPECT_EQ(advice["verdict"], "speculate");
  const std::string strategy = advice["strategy"];
  const json answer = printed_json("simulate {} -s {} --json --quiet", path, strategy)["answers"][0];
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
       {printed_json("simulate {} -s layerskip:exit=3 --json --quiet", path),
        printed_json("simulate {} --ladder --json --quiet", path),
        printed_json("simulate {} --waterfall -s layerskip:exit=3 --json --quiet", path),
        printed_json("advise {} --json --quiet", path)}) {
    EXPECT_EQ(printed.at("format"), 2);
    keys.merge(keys_of(printed));
  }
  EXPECT_GT(keys.size(), 70U);
  expect_documented(keys);
}

TEST_F(Shadowed, WritesAPolicyWithWhereItComesFrom) {
  const std::string path = write({.skill = 1.1});
  const std::string file = folder_ / "policy.json";
  const json advice = advice_on(path, "-o {}", file);
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
  expect_success(run_line("advise {} -o {} --overwrite --quiet", path, file));
}

TEST_F(Shadowed, WritesNoPolicyBeforeItIsSure) {
  const std::string file = folder_ / "policy.json";
  const std::string few = write({.prompts = 3, .skill = 1.1}, "few.dstrace");
  expect_one_line(run_line("advise {} -o {} --quiet", few, file), "measure first");
  const std::string path = write({.skill = 1.1});
  expect_one_line(run_line("advise {} -o {} --quiet --gpu L4 --gpu A100-SXM4-80GB", path, file),
                  "2 machines");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Shadowed, AdvisesVanillaWhereNothingPays) {
  const std::string path = write({.skill = 0.2});
  const std::string file = folder_ / "policy.json";
  const json advice = advice_on(path, "-o {}", file);
  EXPECT_EQ(advice["verdict"], "do not speculate");
  EXPECT_EQ(advice["strategy"], "vanilla");
  EXPECT_EQ(engine::read_policy(file).value().strategy, "vanilla");
}

TEST_F(Shadowed, NamesOnStderrWhatHasNoAnswerWhereNothingElseDoes) {
  const std::string path = write({});
  for (const char* line : {"simulate {} --quiet -s layerskip:exit=3,gamma=4 -s nonsense",
                           "simulate {} --csv -s layerskip:exit=3,gamma=4 -s nonsense",
                           "simulate {} --waterfall --quiet -s layerskip:exit=3,gamma=4 -s nonsense"}) {
    const CommandResult result = run_line(line, path);
    EXPECT_EQ(result.exit_code, 1) << line;
    EXPECT_THAT(result.out, HasSubstr("layerskip:exit=3,gamma=4")) << line;
    EXPECT_THAT(result.err, HasSubstr("nonsense")) << line;
  }
}

TEST_F(Shadowed, IsAdvisedOnAmongAKindAndWhatWasAdded) {
  const std::string path = write({.skill = 1.1});
  const std::string kind = "advise {} --quiet --consider recorded-runs";
  const std::string added = " -s layerskip:exit=2,gamma=3";
  EXPECT_THAT(printed_text(kind, path), HasSubstr("of recorded runs alone: "));
  EXPECT_THAT(printed_text(kind + " -s layerskip:exit=3,gamma=4", path),
              HasSubstr("of recorded runs alone: "));
  EXPECT_THAT(printed_text(kind + added, path), HasSubstr("of recorded runs and layerskip:exit=2,gamma=3: "));
  const json advice = printed_json(kind + added + " --json", path)["advice"][0];
  EXPECT_EQ(advice["among"], "recorded-runs");
  EXPECT_EQ(advice["besides"], json{"layerskip:exit=2,gamma=3"});
  EXPECT_EQ(advice["considered"], 3);
}

TEST_F(Shadowed, IsAdvisedOnWithoutShadowTokensToo) {
  const std::string path = write({.with_shadow = false});
  const json advice = advice_on(path);
  EXPECT_TRUE(advice["limits"]["gaps"].is_null());
  EXPECT_THAT(advice["to_record"].dump(), HasSubstr("--shadow"));
  EXPECT_GT(advice["considered"], 2);
  EXPECT_THAT(printed_text("advise {} --quiet", path), HasSubstr("not known without shadow tokens"));
}

TEST_F(Shadowed, IsRefusedWithWhatToRecordInstead) {
  EXPECT_THAT(run_line("advise any.dstrace --consider dream").err,
              HasSubstr("found 'dream', expected one of everything, early-exits, recorded-runs"));
  expect_one_line(run_line("advise {} --quiet", write({.strategies = {"layerskip:exit=3,gamma=4"}})),
                  "--strategy vanilla");
  const std::string answers = (folder_ / "answers.jsonl").string();
  std::ofstream(answers)
      << R"({"question_id": 1, "category": "qa", "choices": [{"turns": ["a"], "new_tokens": [4], "wall_time": [0.5], "idxs": [3], "accept_lengths": [2, 2]}]})"
      << '\n';
  const std::string imported = (folder_ / "imported.dstrace").string();
  expect_success(run_line("import {} -o {}", answers, imported));
  expect_one_line(run_line("advise {} --quiet", imported), "imported");
  const std::string one =
      printed_text("advise {} --quiet", write({.prompts = 1, .skill = 1.1}, "one.dstrace"));
  EXPECT_THAT(one, HasSubstr("measure first"));
  EXPECT_THAT(one, HasSubstr("at least 10 prompts"));
  expect_one_line(run_line("advise {}", folder_ / "none.dstrace"), "none.dstrace");
}

// A verification over 7 rows takes 0.93 vanilla steps of this recording.
TEST(AdviceOnAnH200, BlamesTheBaselineForAGainAboveTheTokensOfARound) {
  const std::string path = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-llama-1b-operations.dstrace";
  const json advice = printed_json("advise {} --json --quiet", path)["advice"][0];
  const json& fastest = advice["fastest"];
  ASSERT_GT(fastest["speedup"], fastest["tokens_per_round"]);
  EXPECT_EQ(advice["verdict"], "measure first");
  EXPECT_THAT(advice["reason"], HasSubstr("vanilla steps are slow here"));
  EXPECT_THAT(printed_text("simulate {} -s {}", path, fastest["strategy"].get<std::string>()),
              HasSubstr("vanilla steps are slow here"));
}

}  // namespace
}  // namespace draftscope::cli
