// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of `draftscope reproduce`: all of them as data, and one made whole with a demo model.

#include <draftscope/base/text_file.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/policy_file.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../temporary_folder.h"
#include "../value_of.h"
#include "process.h"
#include "reproduce/experiments.h"
#include "reproduce/published_rows.h"
#include "reproduce/searches.h"
#include "reproduce/steps.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// Settings with fictional files, and a model of `layers` layers.
PlanInputs inputs_for(std::int32_t layers) {
  return {{.model = "model",
           .draft_model = "draft",
           .prompts = "prompts.jsonl",
           .tune_prompts = "tune.jsonl",
           .folder = "folder"},
          {"coding", "prose"},
          [layers]() -> Result<std::int32_t> { return layers; }};
}

Plan plan_of(const ExperimentRow& experiment, std::int32_t layers = 12) {
  const PlanInputs inputs = inputs_for(layers);
  Plan plan = plan_searches(experiment, inputs);
  EXPECT_TRUE(plan_recording(experiment, inputs, plan)) << experiment.name;
  return plan;
}

const ExperimentRow& experiment_named(std::string_view name) {
  return *std::ranges::find(experiments(), name, &ExperimentRow::name);
}

/// A policy for a model of 12 layers.
speculation::PolicyFile policy_of(const std::string& strategy) {
  speculation::ModelShape shape;
  shape.name = "model";
  shape.n_layers = 12;
  speculation::PolicyFile policy;
  policy.model = speculation::model_facts(shape, "hash");
  policy.strategy = strategy;
  return policy;
}

TEST(Experiments, HaveNamesOfTheirOwnAndFiguresOfTheCatalogue) {
  std::set<std::string> names;
  for (const ExperimentRow& experiment : experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_FALSE(experiment.item.empty()) << experiment.name;
    EXPECT_TRUE(fs::exists(fs::path(DRAFTSCOPE_SOURCE_DIR) / experiment.model)) << experiment.name;
    for (const std::string& figure : experiment.figures)
      EXPECT_NE(simulator::find_figure(simulator::convention_figures(), figure), nullptr)
          << experiment.name << " " << figure;
    const bool has_figures = experiment.printer == Printer::table || experiment.printer == Printer::curve;
    EXPECT_EQ(!experiment.figures.empty(), has_figures) << experiment.name;
    EXPECT_EQ(!experiment.axis.key.empty(), experiment.printer == Printer::curve) << experiment.name;
  }
  EXPECT_GE(names.size(), 30U);
}

/// A place that a search fills in, as a file or a small number that every parameter takes.
std::string with_search_places(std::string strategy) {
  for (std::size_t open = strategy.find('{'); open != std::string::npos; open = strategy.find('{'))
    strategy.replace(open, strategy.find('}', open) + 1 - open, "3");
  return strategy;
}

TEST(Experiments, RecordStrategiesThatAnyModelTakes) {
  for (const std::int32_t layers : {12, 30, 80}) {
    for (const ExperimentRow& experiment : experiments())
      for (const FilledSetting& setting : plan_of(experiment, layers).settings) {
        const auto parsed = speculation::parse_strategy(with_search_places(setting.strategy), layers);
        EXPECT_TRUE(parsed) << experiment.name << ": " << (parsed ? "" : parsed.error().message);
      }
  }
}

TEST(Experiments, BeginWithVanillaAndPredictOnlyWhatIsRecordedLater) {
  for (const ExperimentRow& experiment : experiments()) {
    const Plan plan = plan_of(experiment);
    const bool is_search = experiment.printer == Printer::trials || experiment.printer == Printer::sets;
    EXPECT_EQ(plan.settings.empty(), is_search || experiment.printer == Printer::closed_form)
        << experiment.name;
    if (plan.settings.empty()) {
      EXPECT_EQ(plan.searches.size(), is_search ? 1U : 0U) << experiment.name;
      continue;
    }
    EXPECT_EQ(plan.settings.front().strategy, "vanilla") << experiment.name;
    ASSERT_EQ(plan.recording.size(), 1U) << experiment.name;
    const std::vector<std::string>& recorded = plan.recording.front().arguments;
    for (const FilledSetting& setting : plan.settings)
      EXPECT_EQ(std::count(recorded.begin(), recorded.end(), setting.strategy), 1) << setting.strategy;
    if (plan.prediction.empty()) continue;
    ASSERT_EQ(plan.prediction.size(), 2U) << experiment.name;
    const std::vector<std::string>& learnt = plan.prediction[0].arguments;
    const std::vector<std::string>& asked = plan.prediction[1].arguments;
    for (const FilledSetting& setting : plan.settings) {
      const auto in_learnt = std::count(learnt.begin(), learnt.end(), setting.strategy);
      EXPECT_EQ(std::count(asked.begin(), asked.end(), setting.strategy), 1 - in_learnt) << setting.strategy;
    }
  }
}

TEST(Experiments, FindTheirPublishedFigures) {
  for (const ExperimentRow& experiment : experiments()) {
    const auto rows = value_of(published_rows(experiment));
    EXPECT_EQ(rows.empty(), experiment.sources.empty()) << experiment.name;
    for (const std::string& source : experiment.sources)
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                              [&](const PublishedRow& row) { return row.source.starts_with(source); }))
          << experiment.name << ": " << source;
    for (const SettingRow& setting : experiment.settings)
      EXPECT_TRUE(setting.published.empty() || std::any_of(rows.begin(), rows.end(),
                                                           [&](const PublishedRow& row) {
                                                             return is_of_setting(row, setting,
                                                                                  experiment.axis, "");
                                                           }))
          << experiment.name << ": " << setting.published;
  }
}

TEST(PublishedRows, AreFoundByTheWholeValueOfTheAxis) {
  const AxisRow axis{"omega", {}, "omega="};
  const SettingRow setting{"DEL", "del", "DEL"};
  PublishedRow row;
  row.method = "DEL";
  row.setting = "T=0; omega=0.9; tok_s=92.75";
  EXPECT_TRUE(is_of_setting(row, setting, axis, "0.9"));
  EXPECT_FALSE(is_of_setting(row, setting, axis, "0.95"));
  row.setting = "T=0; omega=0.95";
  EXPECT_TRUE(is_of_setting(row, setting, axis, "0.95"));
  EXPECT_FALSE(is_of_setting(row, setting, axis, "0.9"));
  row.method = "LS(E7-g6)";
  EXPECT_FALSE(is_of_setting(row, setting, axis, "0.95"));
  EXPECT_TRUE(is_of_setting(row, {"LS", "layerskip", "LS(*"}, axis, ""));
  row.method = "DEL without something";
  EXPECT_FALSE(is_of_setting(row, setting, axis, ""));
}

class Reproduce : public ::testing::Test {
 protected:
  [[nodiscard]] CommandResult reproduce(const std::string& words) const {
    const std::string source = DRAFTSCOPE_SOURCE_DIR;
    return run_line("reproduce " + words + " --model {} --prompts {} --threads 1 --limit 4 -o {}",
                    source + "/models/demo-plain", source + "/traces/prompts/demo.jsonl", folder_ / "made");
  }

  /// Arguments of a call for the program itself, which records for long.
  [[nodiscard]] std::vector<std::string> long_call(const std::string& experiment) const {
    const std::string source = DRAFTSCOPE_SOURCE_DIR;
    return words_of(
        "reproduce {} --model {} --prompts {} --threads 1 -n 200 --repeats 50 -q -o {}",
        {experiment, source + "/models/demo-plain", source + "/traces/prompts/demo.jsonl", folder_ / "made"});
  }

  /// Names of the folder's files, without its commands and what they print.
  [[nodiscard]] std::set<std::string> made_files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_ / "made"))
      names.insert(entry.path().filename().string());
    names.erase("commands.sh");
    names.erase("output.txt");
    return names;
  }

  /// Puts a search into the folder as the only step of draft-verify-figure-4.
  void put_search(bool is_finished) const {
    speculation::PolicyFile policy = policy_of("draft-verify");
    policy.finished = is_finished;
    if (is_finished) policy.repeats = {{.score = 1.5}};
    policy.machine = {{"device", "cpu"}, {"processor", "Processor 9"}};
    policy.prompts = {{"file", "tune.jsonl"}, {"questions", "7"}};
    policy.settings = {{"max_tokens", "31"}};
    policy.trials = {{.setting = "draft-verify",
                      .prompts = 7,
                      .measured = {.score = 1.5},
                      .candidate = speculation::Candidate{
                          .mask = speculation::SublayerMask::early_exit(12, 8), .point = {}}}};
    fs::create_directories(folder_ / "made");
    ASSERT_TRUE(speculation::write_policy(folder_ / "made/sets.json", policy));
  }

  TemporaryFolder folder_;
};

TEST_F(Reproduce, MakesACurveWithItsPredictionOnceAndPrintsItAgain) {
  const std::string call = "clasp-figure-4c -n 12 --repeats 1 -q";
  const CommandResult first = reproduce(call + " --json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const json document = json::parse(first.out);
  EXPECT_EQ(document["axis"], "threshold");
  const std::string picture =
      value_of(read_text_file(fs::path(document["figure"].get<std::string>()), 1 << 20));
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture.substr(0, 80);
  EXPECT_THAT(picture, HasSubstr("predicted without prefill"));
  EXPECT_THAT(picture, HasSubstr(">0.8</text>"));
  ASSERT_EQ(document["settings"].size(), 7U);
  EXPECT_EQ(document["settings"][0]["strategy"], "vanilla");
  std::set<std::string> values;
  for (const json& setting : document["settings"]) {
    if (setting["value"].is_null()) continue;
    const std::string value = setting["value"];
    values.insert(value);
    EXPECT_EQ(setting["strategy"], "clasp:threshold=" + value);
    EXPECT_GT(setting["figures"]["speedup"].get<double>(), 0.0);
    EXPECT_EQ(setting["predicted"].is_null(), value == "0.7") << "0.7 is what was learnt from";
    double samples = 0.0;
    for (const json& part : setting["categories"]) samples += part["figures"]["samples"].get<double>();
    EXPECT_EQ(samples, setting["figures"]["samples"].get<double>());
  }
  EXPECT_EQ(values, (std::set<std::string>{"0.5", "0.6", "0.7", "0.8", "0.9"}));
  // `validate` refuses a recording that was begun before the prediction.
  EXPECT_EQ(printed_json("validate {} {} --json", folder_ / "made/prediction.json",
                         folder_ / "made/recording.dstrace")["answers"]
                .size(),
            4U);

  EXPECT_EQ(reproduce(call + " --json").out, first.out) << "nothing is recorded anew";
  const CommandResult text = reproduce(call);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("Figure 4(c)"));
  EXPECT_THAT(text.out, HasSubstr("What differs from the publication"));
}

TEST_F(Reproduce, RunsAStepAgainWhoseFileIsNotWhole) {
  const std::string call = "clasp-figure-4c -n 12 --repeats 1 -q";
  expect_success(reproduce(call));
  const auto closed_cleanly = [](const std::string& file) {
    traces::Reader reader = value_of(traces::Reader::open(fs::path(file)));
    return value_of(reader.outline()).closed_cleanly;
  };
  for (const char* const name : {"made/learnt.dstrace", "made/recording.dstrace"}) {
    const std::string file = folder_ / name;
    for (const char* const change : {"UPDATE meta SET value = '0' WHERE key = 'closed_cleanly'",
                                     "INSERT INTO meta VALUES ('requests_planned', '1000')"}) {
      change_rows(file, change);
      const CommandResult not_ended = reproduce(call);
      expect_success(not_ended);
      EXPECT_THAT(not_ended.err, HasSubstr(file + ": found a recording that had not ended; made again"));
      EXPECT_TRUE(closed_cleanly(file));
    }
    fs::resize_file(file, 0);
    const CommandResult empty = reproduce(call);
    expect_success(empty);
    EXPECT_THAT(empty.err, HasSubstr("; made again"));
    EXPECT_TRUE(closed_cleanly(file));
  }
  EXPECT_EQ(reproduce(call).err, "") << "nothing is left to run";

  // A prediction from a recording that is gone is none.
  fs::remove(folder_ / "made/learnt.dstrace");
  EXPECT_THAT(reproduce(call).err, HasSubstr("prediction.json: rests on a step that runs again"));
}

TEST_F(Reproduce, GoesOnWithASearchThatHasNotEnded) {
  put_search(true);
  const ProcessResult finished = run_process(long_call("draft-verify-figure-4"));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  put_search(false);
  // The test's policy is of another checkpoint than the shipped model, as only its continuation tells.
  const ProcessResult resumed = run_process(long_call("draft-verify-figure-4"));
  EXPECT_EQ(resumed.exit_code, 1);
  EXPECT_THAT(resumed.err, HasSubstr("(a search goes on as it began)"));
  EXPECT_THAT(resumed.err, HasSubstr("sets.json: found a search that has not ended; it goes on"));
  EXPECT_EQ(made_files().count("sets.json"), 1U) << "its trials are kept";
}

TEST_F(Reproduce, SaysOfASearchAloneWhatItRanOn) {
  put_search(true);
  const std::vector<std::string> lines{"model: model, 12 layers",
                                       "texts: 7 prompts of tune.jsonl; at most 31 tokens",
                                       "machine: Processor 9, cpu; the publication names its own"};
  const CommandResult text = reproduce("draft-verify-figure-4 -q");
  expect_success(text);
  const CommandResult document = reproduce("draft-verify-figure-4 -q --json");
  expect_success(document);
  const std::vector<std::string> differs = json::parse(document.out)["differs"];
  ASSERT_GE(differs.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(differs[i], lines[i]);
    EXPECT_THAT(text.out, HasSubstr("  " + lines[i] + "\n"));
  }
}

TEST_F(Reproduce, TakesOtherCommandsAsLongAsNothingIsMade) {
  const std::string source = DRAFTSCOPE_SOURCE_DIR;
  const CommandResult failed =
      run_line("reproduce clasp-figure-4c -n 4 --model {} --prompts {} --threads 1 -q -o {}",
               folder_ / "no-model", source + "/traces/prompts/demo.jsonl", folder_ / "made");
  expect_one_line(failed, "no-model");
  ASSERT_TRUE(fs::exists(folder_ / "made/commands.sh"));
  expect_success(reproduce("clasp-figure-4c -n 4 --repeats 1 -q"));
  expect_one_line(reproduce("clasp-figure-4c -n 5 --repeats 1 -q"), "found the commands of another call");
  expect_success(reproduce("clasp-figure-4c -n 5 --repeats 1 -q --overwrite"));
}

TEST_F(Reproduce, RemovesAnInterruptedRecordingKeepsAnInterruptedSearchAndSaysSo) {
  const auto interrupted = [&](const std::string& experiment, const std::string& file) {
    const ProcessResult result =
        run_and_signal(long_call(experiment), SIGINT, [&] { return fs::exists(folder_ / file); });
    EXPECT_EQ(result.exit_code, 130) << result.err;
    return result.err;
  };
  EXPECT_THAT(interrupted("clasp-figure-4c", "made/learnt.dstrace"),
              HasSubstr("learnt.dstrace was removed, since it is not whole; the same call records "
                        "it again\n"));
  EXPECT_EQ(made_files(), std::set<std::string>{});
  EXPECT_THAT(interrupted("draft-verify-figure-4", "made/sets.json"),
              HasSubstr("the same call goes on with " + (folder_ / "made/sets.json").string() + "\n"));
  EXPECT_FALSE(value_of(speculation::read_policy(folder_ / "made/sets.json")).finished);
}

TEST_F(Reproduce, LeavesNothingOfARecordingThatDoesNotFit) {
  fs::create_directories(folder_ / "made");
  for (const rlim_t bytes : {rlim_t{4096}, rlim_t{65536}, rlim_t{262144}}) {
    // The log that a full disk left of an earlier call.
    for (const char* const suffix : {"-wal", "-shm"})
      test::write_bytes(folder_ / (std::string("made/learnt.dstrace") + suffix), "log");
    const ProcessResult result = run_process(long_call("clasp-figure-4c"), [bytes] {
      const struct rlimit limit { bytes, bytes };
      ::setrlimit(RLIMIT_FSIZE, &limit);
    });
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("File too large"));
    EXPECT_EQ(made_files(), std::set<std::string>{}) << bytes;
  }
}

TEST_F(Reproduce, TakesTheSearchesBestSettingsCategoryByCategory) {
  const CommandResult dry = reproduce("del-figure-1a --dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("grid-1-coding.json"));
  EXPECT_THAT(dry.out, HasSubstr("grid-2-prose.json"));
  EXPECT_THAT(dry.out, HasSubstr("layerskip:exit={grid-1-coding.exit},gamma={grid-1-coding.gamma}"));
  EXPECT_THAT(dry.out, HasSubstr("layerskip:exit={grid-2-prose.exit},gamma={grid-2-prose.gamma}"));
  EXPECT_FALSE(fs::exists(folder_ / "made"));

  const ExperimentRow& experiment = experiment_named("del-figure-1a");
  PlanInputs inputs = inputs_for(12);
  inputs.settings.folder = folder_ / "";
  inputs.has_policies = true;
  speculation::PolicyFile policy = policy_of("layerskip:exit=7,gamma=4");
  ASSERT_TRUE(speculation::write_policy(folder_ / "grid-1-coding.json", policy));
  policy.strategy = "vanilla";  // No setting won; the best trial that drafts is taken.
  policy.trials = {{.setting = "layerskip:exit=3,gamma=2", .prompts = 1, .measured = {.score = 0.5}},
                   {.setting = "layerskip:exit=5,gamma=1", .prompts = 1, .measured = {.score = 0.9}},
                   {.setting = "vanilla", .prompts = 1, .measured = {.score = 1.0}}};
  ASSERT_TRUE(speculation::write_policy(folder_ / "grid-2-prose.json", policy));
  Plan plan = plan_searches(experiment, inputs);
  const auto planned = plan_recording(experiment, inputs, plan);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_EQ(plan.settings.size(), 4U);
  EXPECT_EQ(plan.settings[2].strategy, "layerskip:exit=7,gamma=4");
  EXPECT_EQ(plan.settings[3].strategy, "layerskip:exit=5,gamma=1");
}

TEST_F(Reproduce, TakesTheBestSetThatSkipsWhereNoneBeatsVanilla) {
  const ExperimentRow& experiment = experiment_named("draft-verify-table-1");
  PlanInputs inputs = inputs_for(12);
  inputs.settings.folder = folder_ / "";
  const Plan plan = plan_searches(experiment, inputs);
  ASSERT_EQ(plan.searches.size(), 1U);
  const auto trial = [&](std::int32_t exit, double score) {
    const auto mask = speculation::SublayerMask::early_exit(12, exit);
    return speculation::Trial{.setting = "draft-verify",
                              .prompts = 1,
                              .measured = {.score = score},
                              .candidate = speculation::Candidate{.mask = mask, .point = {}}};
  };
  speculation::PolicyFile policy = policy_of("vanilla");
  policy.trials = {trial(6, 0.5), trial(8, 0.9), trial(12, 1.0), trial(10, 0.7)};
  ASSERT_TRUE(speculation::write_policy(plan.searches[0].output, policy));
  const auto kept = keep_skip_sets(plan);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(value_of(speculation::read_policy(plan.searches[0].output)).skip_set,
            speculation::SublayerMask::early_exit(12, 8));
  // A set that the search kept stays.
  policy.skip_set = speculation::SublayerMask::early_exit(12, 10);
  ASSERT_TRUE(speculation::write_policy(plan.searches[0].output, policy));
  ASSERT_TRUE(keep_skip_sets(plan));
  EXPECT_EQ(value_of(speculation::read_policy(plan.searches[0].output)).skip_set, policy.skip_set);
}

TEST_F(Reproduce, ComputesAClosedFormWithoutAModel) {
  const CommandResult made = reproduce("draft-verify-figure-2 --json");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json document = json::parse(made.out);
  const json& form = document["closed_form"];
  EXPECT_TRUE(fs::exists(fs::path(document["figure"].get<std::string>())));
  // The publication (section 1): one draft token is best below an acceptance of 80 %, more above.
  for (std::size_t i = 0; i < form["acceptance_rates"].size(); ++i) {
    const std::vector<double> speedup = form["speedup"][i];
    const auto best = std::max_element(speedup.begin(), speedup.end()) - speedup.begin() + 1;
    const double acceptance = form["acceptance_rates"][i];
    EXPECT_NEAR(speedup[0], (1.0 + acceptance) / 1.5, 1e-12);
    EXPECT_EQ(best == 1, acceptance < 0.75) << acceptance;
  }
}

TEST(Searches, KeepTheBestOfEachNumberAndOfEverMoreTrials) {
  std::mt19937 random(3);
  std::uniform_int_distribution<int> any(0, 11);
  for (int round = 0; round < 50; ++round) {
    speculation::PolicyFile policy = policy_of("draft-verify");
    double highest = 0.0;
    for (int i = 0; i < 20; ++i) {
      speculation::SublayerMask mask(12);
      for (int skipped = any(random); skipped > 0; --skipped)
        any(random) % 2 == 0 ? mask.skip_attention(any(random)) : mask.skip_mlp(any(random));
      const bool is_first_look = any(random) == 0 && i > 0;
      const double score = 0.1 * any(random) + (is_first_look ? 9.0 : 0.0);
      if (!is_first_look) highest = std::max(highest, score);
      policy.trials.push_back({.setting = "draft-verify",
                               .prompts = is_first_look ? 1 : 8,
                               .measured = {.score = score},
                               .candidate = speculation::Candidate{.mask = mask, .point = {}}});
    }
    double best = 0.0;
    std::size_t trials = 0;
    for (const TrialsBySkipped& row : trials_by_skipped(policy)) {
      EXPECT_EQ(row.trials.front()->prompts, 8) << "a first look is no score";
      for (const speculation::Trial* trial : row.trials)
        EXPECT_LE(trial->measured.score, row.trials.front()->measured.score);
      best = std::max(best, row.trials.front()->measured.score);
      trials += row.trials.size();
    }
    EXPECT_EQ(best, highest);
    const auto sets = sets_after_trials(policy);
    ASSERT_FALSE(sets.empty());
    EXPECT_EQ(sets.back().trials, trials);
    EXPECT_EQ(sets.back().best->measured.score, highest);
    for (std::size_t i = 1; i < sets.size(); ++i) {
      EXPECT_GT(sets[i].trials, sets[i - 1].trials);
      EXPECT_GE(sets[i].best->measured.score, sets[i - 1].best->measured.score);
    }
  }
}

TEST_F(Reproduce, ListsEveryRowAndPrintsWhatItWouldRun) {
  const std::string list = printed_text("reproduce --list");
  for (const ExperimentRow& experiment : experiments()) {
    EXPECT_THAT(list, HasSubstr(experiment.name));
    const CommandResult dry = reproduce(experiment.name + " --dry-run");
    EXPECT_EQ(dry.exit_code, 0) << experiment.name << dry.err;
    const bool is_closed_form = experiment.printer == Printer::closed_form;
    EXPECT_EQ(dry.out.find("draftscope ") == std::string::npos, is_closed_form) << experiment.name;
    const std::string unread = is_closed_form                ? "--model, --threads, --prompts, --limit"
                               : experiment.settings.empty() ? "--limit"
                                                             : "";
    EXPECT_EQ(dry.err, unread.empty() ? "" : experiment.name + " reads nothing of " + unread + '\n');
  }
}

TEST_F(Reproduce, RefusesInOneLine) {
  expect_one_line(reproduce("del-table-9"), "'del-table-9' is no experiment");
  expect_usage_error(run_line("reproduce"), "found no NAME");
}

}  // namespace
}  // namespace draftscope::cli
