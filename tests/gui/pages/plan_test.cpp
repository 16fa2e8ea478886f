// SPDX-License-Identifier: GPL-3.0-or-later
// Tests plans and command lines: the form's text means the same to the recorder's own parser and to a real
// shell.
#include <gmock/gmock.h>

#include <draftscope/base/shell_words.h>

#include <CLI/CLI.hpp>
#include <QProcess>
#include <random>

#include "commands/record_command.h"
#include "record/form/plan_problems.h"
#include "record/form/record_plan.h"
#include "record/form/strategy_text.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string pick(std::mt19937& random, const std::vector<std::string>& from) {
  return from[random() % from.size()];
}

/// Text that a shell would split, expand or take for an option.
std::string awkward_text(std::mt19937& random) {
  static constexpr std::string_view characters = "ab -'\"\\$`*?;&|<>()#~{}=\t\nä";
  std::string text;
  for (std::size_t length = random() % 8; text.size() < length;) text += characters[random() % 25];
  return text;
}

RecordPlan random_plan(std::mt19937& random) {
  const auto number = [&](std::int32_t usual) {
    return random() % 2 == 0 ? usual : static_cast<std::int32_t>(1 + random() % 500);
  };
  const RecordPlan usual;
  const auto levels = record_levels();
  RecordPlan plan{.model = pick(random, {"models/demo plain", "m", "synthetic:Llama-3.2-1B,layers=4"}),
                  .prompts = pick(random, {"p.jsonl", "it's a file.jsonl"}),
                  .strategies = {"vanilla"},
                  .output = pick(random, {"o.dstrace", "/tmp/$x.dstrace"}),
                  .max_tokens = number(usual.max_tokens),
                  .repeats = number(usual.repeats),
                  .limit = number(usual.limit),
                  .warmup = number(usual.warmup),
                  .level = std::string(levels[random() % levels.size()]),
                  .device = pick(random, {"cpu", "cuda", "cuda:1"}),
                  .device_trace = pick(random, {"auto", "off", "launches", "operations"}),
                  .weights = pick(random, record_weights()),
                  .threads = number(usual.threads),
                  .system = pick(random, {"", "Be brief.", "--chat", "-n"}),
                  .template_arguments = {},
                  .chat = random() % 2 == 0,
                  .skip_unfit = random() % 2 == 0,
                  .shadow = random() % 2 == 0,
                  .overwrite = random() % 2 == 0};
  if (random() % 2 == 0) plan.strategies.emplace_back("layerskip:exit=4,gamma=2");
  if (random() % 2 == 0) plan.template_arguments = {"enable_thinking=false", R"(date="1 May 'x'")"};
  if (random() % 2 == 0) plan.further = {"--temperature", "0.7", "--coupled"};
  return plan;
}

/// The plan as the command's own parser reads it.
cli::RecordOptions parsed_by_the_command(const RecordPlan& plan) {
  CLI::App app;
  cli::RecordOptions options;
  cli::add_recording_options(app, options);
  app.add_option("-s,--strategy", options.strategies);
  std::vector<std::string> words = record_arguments(plan);
  EXPECT_EQ(words.front(), "record");
  words.erase(words.begin());
  std::reverse(words.begin(), words.end());
  app.parse(words);
  return options;
}

TEST(RecordPlan, MeansToTheCommandWhatItSays) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const RecordPlan plan = random_plan(random);
    const cli::RecordOptions options = parsed_by_the_command(plan);
    EXPECT_EQ(options.model.model, plan.model);
    EXPECT_EQ(options.prompts.string(), plan.prompts);
    EXPECT_EQ(options.strategies, plan.strategies);
    EXPECT_EQ(options.output.string(), plan.output);
    EXPECT_EQ(options.decoding.max_tokens, plan.max_tokens);
    EXPECT_EQ(options.repeats, plan.repeats);
    EXPECT_EQ(options.limit, plan.limit);
    EXPECT_EQ(options.warmup, plan.warmup);
    EXPECT_EQ(options.level, plan.level);
    EXPECT_EQ(options.model.device, plan.device);
    EXPECT_EQ(options.device_trace.mode, plan.device_trace);
    EXPECT_EQ(options.model.weights, plan.weights);
    EXPECT_EQ(options.model.threads, plan.threads);
    EXPECT_EQ(options.model.template_arguments, plan.template_arguments);
    EXPECT_EQ(options.skip_unfit, plan.skip_unfit);
    EXPECT_EQ(options.chat.system, plan.system);
    EXPECT_EQ(options.chat.chat, plan.chat);
    EXPECT_EQ(options.shadow, plan.shadow);
    EXPECT_EQ(options.overwrite, plan.overwrite);
    EXPECT_EQ(options.decoding.sampling.coupled, !plan.further.empty());
  }
}

TEST(RecordPlan, HasTheCommandsDefaults) {
  const cli::RecordOptions options;
  const RecordPlan plan;
  EXPECT_EQ(options.decoding.max_tokens, plan.max_tokens);
  EXPECT_EQ(options.repeats, plan.repeats);
  EXPECT_EQ(options.limit, plan.limit);
  EXPECT_EQ(options.warmup, plan.warmup);
  EXPECT_EQ(options.level, plan.level);
  EXPECT_EQ(options.model.device, plan.device);
  EXPECT_EQ(options.device_trace.mode, plan.device_trace);
  EXPECT_EQ(options.model.weights, plan.weights);
  EXPECT_EQ(options.model.threads, plan.threads);
}

TEST(RecordPlan, ComesBackFromItsCommandLine) {
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const RecordPlan plan = random_plan(random);
    const auto again = plan_of_command_line(command_line_of(plan));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, plan) << command_line_of(plan);
  }
}

TEST(RecordPlan, ReadsTheSpellingsThatPeoplePaste) {
  const auto plan = plan_of_command_line(
      "build/release/cli/draftscope record --model=m --prompts p.jsonl \\\n -s vanilla layerskip:exit=4 -n64 "
      "-o o.dstrace "
      "--seed -1 --stop 'a b' --shadow");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->model, "m");
  EXPECT_THAT(plan->strategies, ElementsAre("vanilla", "layerskip:exit=4"));
  EXPECT_EQ(plan->max_tokens, 64);
  EXPECT_TRUE(plan->shadow);
  EXPECT_THAT(plan->further, ElementsAre("--seed", "-1", "--stop", "a b"));
}

TEST(RecordPlan, RefusesInOneLineWhatIsNoCommandLine) {
  for (const char* line : {"record --repeats", "record --repeats x", "record --repeats 0", "--threads 2000",
                           "--level fine", "--weights q9", "--device-trace node", "--shadow=yes",
                           "tune --model m", "record 'm", "record m\\", "draftscope inspect m"}) {
    const auto plan = plan_of_command_line(line);
    ASSERT_FALSE(plan) << line;
    EXPECT_THAT(plan.error().message, HasSubstr("expected")) << line;
    EXPECT_EQ(plan.error().message.find('\n'), std::string::npos) << line;
  }
  EXPECT_FALSE(further_options("--repeats 2"));
  EXPECT_FALSE(further_options("words"));
  EXPECT_TRUE(further_options(" "));
}

TEST(RecordPlan, NoWordsAreTooMuchForAnyCommandLine) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const auto plan = plan_of_command_line(awkward_text(random) + " -" + awkward_text(random));
    if (!plan) {
      EXPECT_EQ(plan.error().message.find('\n'), std::string::npos);
    }
  }
}

TEST(ShellWords, AreThoseOfAShell) {
  std::mt19937 random(4);
  std::vector<std::string> words;
  for (int i = 0; i < 300; ++i) words.push_back(awkward_text(random));
  QProcess shell;
  shell.start(QStringLiteral("sh"), {QStringLiteral("-c"), QStringLiteral("printf '%s\\0' ") +
                                                               QString::fromStdString(shell_line(words))});
  ASSERT_TRUE(shell.waitForFinished());
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(shell.readAllStandardOutput().toStdString(), expected);
  const auto again = shell_words(shell_line(words));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, words);
  const auto mixed = shell_words(R"(a\ b "c \" \$ \n" 'd'"e"  f)");
  ASSERT_TRUE(mixed);
  EXPECT_THAT(*mixed, ElementsAre("a b", R"(c " $ \n)", "de", "f"));
}

TEST(PlanProblems, NameEachFieldThatTheRecorderWouldRefuse) {
  const traces::TestFolder folder;
  PlanContext context;
  const auto all = problems_of({}, context);
  for (const PlanField field :
       {PlanField::model, PlanField::prompts, PlanField::strategies, PlanField::output})
    EXPECT_TRUE(all.contains(field)) << static_cast<int>(field);
  RecordPlan plan{.model = "m",
                  .prompts = "p.jsonl",
                  .strategies = {"vanilla", "layerskip:exit=3"},
                  .output = (folder / "o.dstrace").string()};
  context.model = ModelFacts{.name = "m", .n_layers = 12};
  EXPECT_TRUE(problems_of(plan, context).empty());
  const auto expect_problem = [&](PlanField field, const char* words) {
    const auto problems = problems_of(plan, context);
    ASSERT_EQ(problems.size(), 1U) << words;
    ASSERT_TRUE(problems.contains(field)) << words;
    EXPECT_THAT(problems.at(field), HasSubstr(words));
    EXPECT_EQ(problems.at(field).find('\n'), std::string::npos);
  };
  plan.strategies[1] = "layerskip:exit=12";
  expect_problem(PlanField::strategies, "from 1 to 11");
  plan.strategies[1] = "layerskip:exit=3,gamma=6";
  plan.strategies.push_back("layerskip");
  expect_problem(PlanField::strategies, "twice");
  plan.strategies = {"vanilla", "two-model"};
  context.model->lacks = {{"two-model", "model is missing, expected a folder"}};
  expect_problem(PlanField::strategies, "model is missing");
  plan.strategies[1] = "two-model:model=models/demo-draft";
  EXPECT_TRUE(problems_of(plan, context).empty());
  plan.chat = true;
  expect_problem(PlanField::model, "chat template");
  plan.chat = false;
  plan.system = "Be brief.";
  expect_problem(PlanField::system, "chat template");
  plan.system.clear();
  context.template_arguments_problem = template_arguments_of("a").error().message;
  expect_problem(PlanField::template_arguments, "expected NAME=JSON");
  context.template_arguments_problem.clear();
  plan.template_arguments = {"enable_thinking=false"};
  expect_problem(PlanField::template_arguments, "without the chat template");
  plan.template_arguments.clear();
  // The device and what only some devices can do.
  context.model->gpus_problem = "cuda backend: no CUDA device";
  plan.device = "cuda:0";
  expect_problem(PlanField::device, "no CUDA device");
  context.model->gpus_problem.clear();
  context.model->gpus = {{"cuda:0", "A"}, {"cuda:1", "B"}};
  plan.device_trace = "operations";
  plan.weights = "fp8";
  EXPECT_TRUE(problems_of(plan, context).empty());
  plan.threads = 2;
  expect_problem(PlanField::device, "threads");
  plan.threads = 0;
  for (const char* device : {"cuda:2", "cuda:", "cuda:-1", "gpu"}) {
    plan.device = device;
    expect_problem(PlanField::device, "expected cpu");
  }
  plan.device = "cuda:1";
  plan.weights = "q5_1";
  expect_problem(PlanField::weights, "for device cuda:1, expected one of as-stored");
  plan.device = "cpu";
  expect_problem(PlanField::device_trace, "expected auto or off");
  plan.device_trace = "auto";
  EXPECT_TRUE(problems_of(plan, context).empty());
  traces::write_file(plan.output, "here");
  expect_problem(PlanField::output, "o.dstrace");
  plan.output = (folder / "nowhere/o.dstrace").string();
  expect_problem(PlanField::output, "nowhere");
}

TEST(ModelFacts, SayInOneLineWhatIsNotThere) {
  for (const char* text :
       {"", "[]", "{}", R"({"model": 1})", R"({"model": "m", "model_shape": {"n_layers": 0}})"}) {
    const auto facts = model_facts_of(text);
    ASSERT_FALSE(facts) << text;
    EXPECT_EQ(facts.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace draftscope::gui
