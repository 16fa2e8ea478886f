// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "trace_files.h"

namespace draftscope::cli {
namespace {

using ::testing::HasSubstr;
using Strategies = std::vector<std::string>;

class Simulate : public ::testing::Test {
 protected:
  /// Records prompts of a file once. `options` name the strategies.
  [[nodiscard]] std::string record(const std::string& name, const std::string& options,
                                   const std::string& prompts = "demo") const {
    record_trace(folder_ / name, "--max-tokens 32 --repeats 1 --quiet " + options, prompts);
    return folder_ / name;
  }
  /// Records vanilla and an early exit.
  [[nodiscard]] std::string record_exit(const std::string& options = "") const {
    return record("run.dstrace", "-s vanilla -s layerskip:exit=5,gamma=4 " + options);
  }
  /// Records vanilla, an early exit, and another model that drafts: the target itself.
  [[nodiscard]] std::string record_two_models() const {
    std::vector<std::string> arguments =
        record_arguments(folder_ / "run.dstrace",
                         "--max-tokens 32 --repeats 1 --quiet -s vanilla -s layerskip:exit=5,gamma=4");
    arguments.insert(arguments.end(), {"--strategy", two_model_});
    expect_success(run_command(arguments));
    return folder_ / "run.dstrace";
  }
  template <typename... Values>
  [[nodiscard]] static nlohmann::json answers(const std::string& path, const std::string& more = "",
                                              const Values&... values) {
    const auto document = printed_json("simulate {} --json --quiet " + more, path, values...);
    return document.value("answers", nlohmann::json::array());
  }

  const std::string two_model_ = "two-model:model=" DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip,gamma=2";
  TemporaryFolder folder_;
};

TEST_F(Simulate, TellsTheRoundsOfSettingsThatWereNotRecorded) {
  const Strategies asked{"layerskip:exit=3,gamma=2", "layerskip:exit=5,gamma=6",
                         "fs:exit=7,verify=above-exit"};
  const std::string known = record("all.dstrace", fmt::format("-s vanilla -s {}", fmt::join(asked, " -s ")));
  const std::string unknown = record("vanilla.dstrace", "-s vanilla --shadow");
  const auto runs = printed_json("report {} --json", known)["runs"];
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto answer = answers(unknown, "--strategy {}", asked[i]);
    ASSERT_EQ(answer.size(), 1U);
    EXPECT_EQ(answer[0]["rounds_source"], "replayed");
    EXPECT_EQ(answer[0]["status"], "exact");
    const auto& run = runs[i + 1];
    ASSERT_EQ(run["specification"], asked[i]);
    EXPECT_DOUBLE_EQ(answer[0]["acceptance_rate"], run["acceptance_rate"]) << asked[i];
    EXPECT_DOUBLE_EQ(answer[0]["tokens_per_round"], run["tokens_per_round"]) << asked[i];
    EXPECT_DOUBLE_EQ(answer[0]["draft_steps_per_round"], run["draft_steps_per_round"]) << asked[i];
  }
}

/// One law for report and simulate: the speedup is M / (γ̄·c + v + o) of the figures that are printed.
TEST_F(Simulate, HasTheReportsCostsOfRecordedRunsAndTheirSpeedup) {
  const std::string path = record(
      "run.dstrace", "-s vanilla -s layerskip:exit=5,gamma=4 -s clasp:interval=8 -s prompt-lookup -s swift");
  const auto runs = printed_json("report {} --json", path)["runs"];
  const auto found = answers(path);
  ASSERT_EQ(found.size() + 1, runs.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& run = runs[i + 1];
    const auto& answer = found[i];
    ASSERT_EQ(answer["strategy"], run["specification"]);
    const auto law = [](const nlohmann::json& of) {
      const double steps = of["draft_steps_per_round"].get<double>();
      const double drafting = steps > 0.0 ? steps * of["draft_cost"].get<double>() : 0.0;
      return of["mean_accepted_length"].get<double>() /
             (drafting + of["verify_cost"].get<double>() + of["overhead"].get<double>());
    };
    EXPECT_NEAR(law(run), run["closed_form_speedup"].get<double>(), 1e-9) << run["specification"];
    EXPECT_NEAR(law(answer), answer["speedup"].get<double>(), 1e-9) << run["specification"];
    // Tokens that no model drafts have no step in an answer: their time is in its overhead.
    std::vector<std::string> figures{"mean_accepted_length", "verify_cost"};
    if (answer["draft_steps_per_round"] > 0.0)
      figures.insert(figures.end(), {"draft_steps_per_round", "draft_cost", "overhead"});
    for (const std::string& figure : figures)
      EXPECT_NEAR(answer[figure].get<double>(), run[figure].get<double>(), 1e-4)
          << figure << " of " << run["specification"];
  }
}

TEST_F(Simulate, HasTheMeasuredTimesOfARunOnSomeOfThePromptsAlone) {
  const std::string path = record_exit("--limit 6");
  change_rows(path,
              "CREATE TEMP TABLE gone AS SELECT id FROM requests WHERE run = 2 AND prompt > 3;"
              "DELETE FROM draft_tokens WHERE round IN (SELECT id FROM rounds WHERE request IN gone);"
              "DELETE FROM spans WHERE request IN gone; DELETE FROM rounds WHERE request IN gone;"
              "DELETE FROM requests WHERE id IN gone");
  const auto answer = answers(path).at(0);
  const double measured = answer["measured"]["decode_tokens_per_second"].get<double>();
  EXPECT_NEAR(answer["decode_tokens_per_second"].get<double>() / measured, 1.0, 1e-6);
  EXPECT_NEAR(answer["speedup"].get<double>(), answer["measured"]["speedup"].get<double>(), 1e-6);
  EXPECT_NEAR(answer["decode_tokens_per_second"].get<double>() /
                  answer["vanilla_decode_tokens_per_second"].get<double>(),
              answer["speedup"].get<double>(), 1e-9);

  const CommandResult twice =
      run_line("simulate {} --output {} --write {}", path, folder_ / "x", folder_ / "." / "x");
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_THAT(twice.err, HasSubstr("which --output names, too"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  expect_success(run_line("simulate {} --quiet --write {}", path, folder_ / "predicted.dstrace"));
  const auto written = printed_json("report {} --json", folder_ / "predicted.dstrace")["runs"][1];
  EXPECT_NEAR(written["decode_tokens_per_second"].get<double>() / measured, 1.0, 1e-6);
}

TEST_F(Simulate, SaysThatOnlyTheStretchesOfAnAnswerAreMissing) {
  const std::string path = record("searched.dstrace", "-s vanilla -s clasp:interval=8");
  const CommandResult result = run_line("simulate {} -s clasp:interval=8 --by stretch", path);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("no stretches: "));
  EXPECT_EQ(result.out.find("no answer"), std::string::npos) << result.out;
}

/// A model of acceptance replaces shadow tokens that were not recorded, but not those that can't be read.
TEST_F(Simulate, RefusesShadowTokensThatCannotBeRead) {
  const std::string path = record("broken.dstrace", "-s vanilla --shadow");
  change_rows(path, "UPDATE shadow_tokens SET token = token + 5000000000 WHERE layer = 2");
  expect_one_line(run_line("simulate {} -s layerskip:exit=3,gamma=2", path), "shadow_tokens");
}

TEST_F(Simulate, AsksRecordedRunsAboutOtherMachines) {
  const std::string path = record("run.dstrace", "-s vanilla -s swift:window=4 -s prompt-lookup");
  const auto found = answers(path, "--gpu H200 --gpu L4 --model Llama-3-8B");
  ASSERT_EQ(found.size(), 4U);
  for (const auto& answer : found) {
    EXPECT_EQ(answer["rounds_source"], "recorded");
    EXPECT_EQ(answer["status"], "approximate");  // another model's acceptance is not in the recording
    EXPECT_GT(answer["decode_tokens_per_second"], 0.0);
    EXPECT_FALSE(answer["notes"].empty());
  }
  EXPECT_GT(found[0]["vanilla_decode_tokens_per_second"], found[1]["vanilla_decode_tokens_per_second"]);
}

TEST_F(Simulate, RefusesWhatDoesNotFitAndAnswersTheOthers) {
  const std::string path = record_exit();
  const CommandResult result = run_line(
      "simulate {} --json --quiet --gpu {} --gpu H200 --model Llama-3-70B --weights fp8", path, "RTX 4090");
  const auto document = nlohmann::json::parse(result.out);
  ASSERT_EQ(document["answers"].size(), 1U);
  ASSERT_EQ(document["refusals"].size(), 1U);
  EXPECT_THAT(document["refusals"][0]["reason"].get<std::string>(), HasSubstr("does not fit RTX 4090"));
  const auto& answer = document["answers"][0];
  EXPECT_GT(answer["memory_need_bytes"].get<double>(), 70e9);
  EXPECT_LT(answer["memory_need_bytes"].get<double>(), answer["memory_usable_bytes"].get<double>());
  expect_one_line(run_line("simulate {} --quiet --gpu A100-SXM4-80GB --weights fp8", path),
                  "has no fp8 arithmetic");
  // The recorded machine's own answer needs no check.
  const auto own = answers(path);
  EXPECT_TRUE(own[0]["memory_need_bytes"].is_null());
}

TEST_F(Simulate, PricesTokensAndTheirEnergy) {
  const std::string path = record_exit();
  const auto found = answers(path, "--gpu H200 --model Llama-3-8B --price 3.6 --power 700");
  ASSERT_EQ(found.size(), 1U);
  for (const std::string kind : {"", "vanilla_"}) {
    const double rate = found[0][kind + "decode_tokens_per_second"];
    EXPECT_NEAR(found[0][kind + "cost_per_million_tokens"].get<double>() * rate * 3600.0, 3.6e6, 1e-3);
    EXPECT_NEAR(found[0][kind + "joules_per_token"].get<double>() * rate, 700.0, 1e-6);
  }
  const auto free = answers(path, "--gpu H200 --model Llama-3-8B");
  EXPECT_TRUE(free[0]["cost_per_million_tokens"].is_null());
  const std::string text = run_line("simulate {} --gpu H200 --price 2 --quiet", path).out;
  EXPECT_THAT(text, HasSubstr("cost/1M tokens"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("J/token")));
}

TEST_F(Simulate, TakesAnEnginesTimeBesidePasses) {
  const std::string path = record_exit();
  const auto found = answers(path, "--gpu H200 --model Llama-3-8B --sweep host=graph,serving,eager");
  ASSERT_EQ(found.size(), 3U);
  double before = 1e9;
  for (const auto& answer : found) {
    EXPECT_LT(answer["vanilla_decode_tokens_per_second"].get<double>(), before);
    before = answer["vanilla_decode_tokens_per_second"];
  }
  expect_one_line(run_line("simulate {} --quiet --host serving", path), "own time was recorded");
}

TEST_F(Simulate, SaysWhichExitBecameWhichAndTakesTheTargetsOwn) {
  const std::string path = record("run.dstrace", "-s vanilla --shadow");
  const auto ask = [&](const std::string& more) {
    return answers(path, "--gpu H200 --model Llama-3-8B --strategy " + more);
  };
  const auto relative = ask("layerskip:exit=3,gamma=4,verify=all-layers");
  ASSERT_EQ(relative.size(), 1U);
  EXPECT_THAT(relative[0]["notes"].dump(), HasSubstr("exit 3 of 12 layers → 8 of 32"));
  const auto own = ask("layerskip:exit=8,gamma=4,verify=all-layers --target-exits");
  ASSERT_EQ(own.size(), 1U);
  EXPECT_EQ(own[0]["strategy"], "layerskip:exit=8,gamma=4,verify=all-layers");
  EXPECT_EQ(own[0]["speedup"], relative[0]["speedup"]);
  const auto deeper = ask("layerskip:exit=20,gamma=4,verify=all-layers --target-exits");
  EXPECT_THAT(deeper[0]["notes"].dump(), HasSubstr("→ 20 of 32"));
  EXPECT_GT(deeper[0]["draft_cost"].get<double>(), own[0]["draft_cost"].get<double>());
  expect_one_line(
      run_line(
          "simulate {} --quiet --gpu H200 --model Llama-3-8B --target-exits --strategy layerskip:exit=32",
          path),
      "from 1 to 31");
}

TEST_F(Simulate, TakesADraftsCostAsAnInput) {
  const std::string path = record_exit();
  const auto with = [&](const std::string& more) {
    return answers(path, "--gpu H200 --model Llama-3-8B " + more)[0];
  };
  const auto share = with("--draft-cost 0.05");
  EXPECT_NEAR(share["draft_cost"].get<double>(), 0.05, 0.002);
  EXPECT_THAT(share["cost_notes"].dump(), HasSubstr("an input"));
  EXPECT_EQ(with("--draft-cost free")["draft_cost"], 0.0);
  const double whole = with("--draft-cost one-layer")["draft_cost"];
  EXPECT_LT(with("--draft-cost one-layer --draft-vocabulary 32000")["draft_cost"].get<double>(), whole);
  expect_one_line(run_line("simulate {} --quiet --draft-cost cheap", path), "free or one-layer");
}

TEST_F(Simulate, ModelsAcceptanceWhereNothingWasShadowed) {
  const std::string path = record_exit();
  const auto found = answers(path, "--strategy layerskip:exit=5 --sweep gamma=2,6");
  ASSERT_EQ(found.size(), 2U);
  for (const auto& answer : found) {
    EXPECT_EQ(answer["rounds_source"], "modelled");
    const bool is_drawn = answer["notes"].dump().find("drawn from a model") != std::string::npos;
    EXPECT_EQ(answer["status"], is_drawn ? "approximate" : "exact");
  }
  expect_one_line(run_line("simulate {} --quiet --strategy layerskip:exit=4", path), "exit 4");
  expect_one_line(run_line("simulate {} --quiet --strategy del", path), "shadow");
}

TEST_F(Simulate, WidensIntervalsForPromptsOfAnotherKind) {
  const std::string prompts = DRAFTSCOPE_SOURCE_DIR "/traces/prompts/";
  const std::string path = record("one.dstrace", "-s vanilla -s layerskip:exit=3,gamma=2", "code");
  const auto width = [](const nlohmann::json& found) {
    const nlohmann::json& interval = found["interval_95"];
    return interval[1].get<double>() - interval[0].get<double>();
  };
  const nlohmann::json recorded = answers(path).at(0);
  EXPECT_EQ(answers(path, "--prompts {}", prompts + "code.jsonl").at(0), recorded);
  const nlohmann::json other = answers(path, "--prompts {}", prompts + "prose.jsonl").at(0);
  EXPECT_EQ(other["status"], "approximate");
  EXPECT_GT(width(other), width(recorded));
  EXPECT_THAT(other["notes"].dump(), HasSubstr("texts of another kind"));
  expect_one_line(run_line("simulate {} --prompts {}", path, path), path);
}

TEST_F(Simulate, PricesAnotherModelThatDraftsAndNotesRecordedRunsThatHaveNoAnswer) {
  const std::string path = record_two_models();
  const auto here = answers(path);
  ASSERT_EQ(here.size(), 2U);
  EXPECT_EQ(here[1]["status"], "exact");
  // The draft is the target itself, so a draft step costs about one.
  EXPECT_GT(here[1]["draft_cost"].get<double>(), 0.3);
  EXPECT_EQ(answers(path, "--gpu H100-SXM").size(), 2U);
  change_rows(path, "DELETE FROM meta WHERE key = 'draft_model_shapes'");
  EXPECT_EQ(answers(path).size(), 2U);
  const auto json = printed_json("simulate {} --gpu H100-SXM --json --quiet", path);
  EXPECT_EQ(json["answers"].size(), 1U);
  ASSERT_EQ(json["refusals"].size(), 1U);
  EXPECT_THAT(json["refusals"][0]["reason"].get<std::string>(), HasSubstr("shape of the model that drafts"));
  EXPECT_THAT(run_line("simulate {} --gpu H100-SXM", path).out, HasSubstr("strategy two-model"));
  expect_one_line(run_line("simulate {} --gpu H100-SXM --strategy {}", path, two_model_),
                  "shape of the model that drafts");
  EXPECT_EQ(run_line("simulate {} --quiet --gpu H100-SXM --strategy {} --strategy layerskip:exit=5,gamma=4",
                     path, two_model_)
                .exit_code,
            1);
}

TEST_F(Simulate, KnowsLayersInFp8) {
  const std::string path = record_exit();
  EXPECT_EQ(answers(path, "--weights bf16")[0]["machine"], "as recorded");
  change_rows(path, "UPDATE meta SET value = 'fp8' WHERE key = 'weights'");
  EXPECT_EQ(answers(path, "--weights bf16")[0]["machine"], "as recorded bf16");
  EXPECT_EQ(answers(path, "--weights fp8")[0]["machine"], "as recorded");
  EXPECT_THAT(run_line("report {}", path).out, HasSubstr("layers in fp8"));
}

/// Accepted lengths of drafts of 5 tokens, each accepted with probability 0.7.
std::string answers_file(const std::filesystem::path& path) {
  std::mt19937 random(3);
  std::bernoulli_distribution is_accepted(0.7);
  std::ofstream file(path);
  for (int question = 0; question < 30; ++question) {
    nlohmann::json lengths = nlohmann::json::array();
    for (int round = 0; round < 200; ++round) {
      int accepted = 0;
      while (accepted < 5 && is_accepted(random)) ++accepted;
      lengths.push_back(accepted);
    }
    file << nlohmann::json{{"question_id", question}, {"accepted", lengths}} << '\n';
  }
  return path.string();
}

TEST_F(Simulate, RunsAutosRuleOnEachMachinesTimes) {
  const std::string path = record_exit("--shadow");
  for (const char* const strategy :
       {"auto:exits=3+5,formats=none", "layerskip:exit=5,gamma=4,guard=0.9", "prompt-lookup:guard=0.9"}) {
    const auto found = answers(path, "--gpu H200 --gpu L4 --strategy {}", strategy);
    ASSERT_EQ(found.size(), 2U) << strategy;
    for (const auto& answer : found) {
      EXPECT_EQ(answer["rounds_source"], "modelled");
      EXPECT_EQ(answer["status"], "approximate");
      EXPECT_GT(answer["speedup"].get<double>(), 0.8) << strategy;
    }
    EXPECT_NE(found[0]["machine"], found[1]["machine"]);
  }
  expect_one_line(run_line("simulate {} -s auto:formats=q8_0", path), "quantised:weights=q8_0");
}

TEST_F(Simulate, ModelsTheAcceptanceOfImportedAnswers) {
  const std::string file = answers_file(folder_ / "answers.jsonl");
  const std::string path = (folder_ / "answers.dstrace").string();
  expect_success(run_line("import {} -q -o {}", file, path));
  const std::string elsewhere = "--gpu H200 --model Llama-2-7B ";
  const auto found = answers(path, elsewhere + "-s layerskip:exit=8,gamma=3 -s layerskip:exit=16,gamma=7");
  ASSERT_EQ(found.size(), 2U);
  for (const auto& answer : found) {
    EXPECT_EQ(answer["rounds_source"], "modelled");
    EXPECT_EQ(answer["status"], "approximate");
    EXPECT_THAT(answer["notes"].dump(), HasSubstr("does not say which layers drafted"));
    EXPECT_THAT(answer["notes"].dump(), HasSubstr("imported without draft lengths"));
  }
  // The expected value is (1 − 0.7^(γ + 1)) / 0.3.
  EXPECT_NEAR(found[0]["tokens_per_round"].get<double>(), 2.533, 0.06);
  EXPECT_NEAR(found[1]["tokens_per_round"].get<double>(), 3.141, 0.12);

  // A calibrated machine has prices, too: here a step takes 8 ms and a pass of 4 rows 9 ms.
  simulator::MachineCalibration machine{.device = "cpu", .processor = "planted", .shapes = {}};
  machine.shapes.push_back({.shape = speculation::find_model_shape("Llama-2-7B").value(), .kernels = {}});
  for (const auto& [layers, rows, ns] :
       {std::tuple{32, 1, 8e6}, std::tuple{32, 4, 9e6}, std::tuple{8, 1, 2.5e6}})
    machine.shapes[0].kernels.push_back(
        {{.kind = layers == 8 ? speculation::KernelKind::draft_step : speculation::KernelKind::target_pass,
          .sublayers = {layers, layers},
          .rows = rows,
          .context = 64.0},
         {ns, ns, ns, 100}});
  const std::string calibration = (folder_ / "machine.json").string();
  std::ofstream(calibration) << simulator::calibration_json(machine);
  const auto calibrated = answers(
      path, "--calibration {} --model Llama-2-7B -s layerskip:exit=8,gamma=3,verify=all-layers", calibration);
  ASSERT_EQ(calibrated.size(), 1U);
  EXPECT_NEAR(calibrated[0]["draft_cost"].get<double>(), 2.5 / 8.0, 0.02);
  EXPECT_NEAR(calibrated[0]["verify_cost"].get<double>(), 9.0 / 8.0, 0.03);

  expect_one_line(run_line("simulate {} --model Llama-2-7B", path), "expected --gpu or --calibration");
  expect_one_line(run_line("simulate {} --gpu H200", path), "expected --model");
  expect_one_line(run_line("simulate {} " + elsewhere, path),
                  "the imported file does not say which layers drafted");
  expect_one_line(run_line("simulate {} -s del " + elsewhere, path), "no predictions of layers");
}

TEST_F(Simulate, TakesTheShapeThatImportedRoundsState) {
  const std::string rounds = (folder_ / "rounds.jsonl").string();
  const std::string path = (folder_ / "again.dstrace").string();
  expect_success(run_line("export {} --to jsonl -o {}", record_exit(), rounds));
  expect_success(run_line("import {} -q -o {}", rounds, path));
  const auto found = answers(path, "--gpu H200 -s layerskip:exit=5,gamma=4");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found[0]["speedup"].get<double>(), 0.0);
  expect_one_line(run_line("simulate {}", path), "expected --gpu or --calibration");
}

TEST_F(Simulate, PricesImportedRoundsWhoseDraftIsNamed) {
  const std::string file = answers_file(folder_ / "answers.jsonl");
  const std::string path = (folder_ / "answers.dstrace").string();
  expect_success(
      run_line("import {} -q -o {} --strategy layerskip:exit=8,gamma=5 --draft-length 5", file, path));
  const auto report = printed_json("report {} --json", path)["runs"][0];
  const auto answer = answers(path, "--gpu H200 --model Llama-2-7B")[0];
  EXPECT_EQ(answer["rounds_source"], "recorded");
  EXPECT_DOUBLE_EQ(answer["acceptance_rate"], report["acceptance_rate"]);
  EXPECT_DOUBLE_EQ(answer["tokens_per_round"], report["tokens_per_round"]);
  expect_one_line(
      run_line("simulate {} --gpu H200 --model Llama-2-7B --write {}", path, folder_ / "predicted.dstrace"),
      "is imported");
}

TEST_F(Simulate, TakesTheRateThatABenchmarkStates) {
  std::ofstream(folder_ / "benchmark.json")
      << R"({"generation_strategy":"self_speculative","exit_layer":8,"num_speculations":4})"
      << R"({"acceptance_rate":{"mean":0.6}})";
  const std::string path = (folder_ / "benchmark.dstrace").string();
  expect_success(run_line("import {} -q -o {}", folder_ / "benchmark.json", path));
  const auto answer = answers(path, "--gpu H200 --model Llama-2-7B")[0];
  EXPECT_EQ(answer["strategy"], "layerskip:exit=8,gamma=4");
  EXPECT_EQ(answer["rounds_source"], "modelled");
  EXPECT_NEAR(answer["tokens_per_round"].get<double>(), 1.0 + 4 * 0.6, 0.02);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("states"));
}

TEST_F(Simulate, RefusesTimelinesWithoutAcceptedLengths) {
  std::ofstream(folder_ / "trace.json")
      << R"({"traceEvents":[{"ph":"X","name":"k","ts":1,"dur":5,"pid":1,"tid":1,"cat":"kernel"}]})";
  const std::string path = (folder_ / "trace.dstrace").string();
  expect_success(run_line("import {} -q -o {}", folder_ / "trace.json", path));
  expect_one_line(run_line("simulate {} --gpu H200 --model Llama-2-7B", path),
                  "chrome timeline without accepted lengths, expected a recording");
}

TEST_F(Simulate, SweepsAnyParameterOfAStrategy) {
  const std::string path = record_exit("--shadow");
  const auto asked = [&](const std::string& more) {
    std::vector<std::string> strategies;
    for (const auto& answer : answers(path, more)) strategies.push_back(answer["strategy"]);
    return strategies;
  };
  EXPECT_EQ(asked("-s del --sweep omega=0.5,0.95"), (Strategies{"del:omega=0.5", "del:omega=0.95"}));
  EXPECT_EQ(asked("-s auto --sweep loss=0.01,0.05 --sweep max-gamma=4..5"),
            (Strategies{"auto:loss=0.01,max-gamma=4", "auto:loss=0.01,max-gamma=5",
                        "auto:loss=0.05,max-gamma=4", "auto:loss=0.05,max-gamma=5"}));
  EXPECT_EQ(asked("-s layerskip -s prompt-lookup --sweep exit=4,6"),
            (Strategies{"layerskip:exit=4", "layerskip:exit=6", "prompt-lookup"}))
      << "what lacks the parameter is asked about once";
}

TEST_F(Simulate, AnswersForEachCategoryAndPromptWhatAddsUpToTheWhole) {
  const std::string path = record_exit("--shadow");
  const std::string strategies = "-s layerskip:exit=5,gamma=4 -s layerskip:exit=7,gamma=3";
  for (const auto& [by, list, count] : {std::tuple{"category", "categories", 2}, {"prompt", "prompts", 6}}) {
    const auto whole = answers(path, strategies);
    const auto found = answers(path, strategies + " --by " + by);
    ASSERT_EQ(found.size(), 2U);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i]["speedup"], whole[i]["speedup"]) << "the split changes no answer";
      ASSERT_EQ(found[i][list].size(), static_cast<std::size_t>(count));
      double tokens = 0.0, seconds = 0.0, vanilla_seconds = 0.0;
      for (const auto& part : found[i][list]) {
        EXPECT_FALSE(part[by].get<std::string>().empty());
        const double own = part["output_tokens"];
        tokens += own;
        seconds += own / part["decode_tokens_per_second"].get<double>();
        vanilla_seconds += own / part["vanilla_decode_tokens_per_second"].get<double>();
      }
      EXPECT_EQ(tokens, found[i]["output_tokens"].get<double>());
      EXPECT_NEAR(vanilla_seconds / seconds, found[i]["speedup"].get<double>(), 1e-9);
    }
  }
  EXPECT_THAT(printed_text("simulate {} --by category --quiet " + strategies, path),
              HasSubstr("The fastest of these on each category"));
}

TEST_F(Simulate, RefusesInOneLine) {
  const std::string path = record_exit();
  const auto refused = [&](const std::string& more, const std::string& says) {
    expect_one_line(run_line("simulate {} --quiet " + more, path), says);
  };
  refused("--gpu H100", "H100-SXM5-80GB");
  refused("--model Llama-9", "Llama-9");
  refused("--strategy turbo", "turbo");
  refused("--sweep exit=3", "--sweep exit=3");
  refused("--sweep colour=3", "colour");
  refused("--strategy layerskip --sweep omega=0.5", "no --strategy has 'omega'");
  refused("--strategy layerskip --sweep =0.5", "expected KEY=VALUES");
  refused("--strategy layerskip --sweep gamma=8..1", "gamma=8..1");
  refused("--sweep batch=1,2 --sweep batch=4", "--sweep batch=4: found another --sweep of batch");
  for (const std::string cost : {"free", "0.25"})
    refused("--draft-cost " + cost + " --draft-vocabulary 32000",
            "--draft-cost: found '" + cost + "' with a head of 32000 rows, expected that only with mtp");
  refused("--tensor-parallel 2", "tensor_parallel is 2, expected 1 without a GPU's specification");
  refused("--regime graph", "regime");
  expect_one_line(run_line("simulate {} --quiet --gpu-spec {}", path, path), "run.dstrace");
  refused("--weights int3", "int3");
  expect_one_line(run_line("simulate {}", folder_ / "none.dstrace"), "none.dstrace");
}

}  // namespace
}  // namespace draftscope::cli
