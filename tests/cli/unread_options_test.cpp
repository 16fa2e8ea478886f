// SPDX-License-Identifier: GPL-3.0-or-later
// Options that the asked work reads nothing of are refused.
#include "options/unread_options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

#include "options/machine_options.h"
#include "report/answers/simulate_text.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

/// A command with options of each form.
struct SmallCommand {
  SmallCommand() {
    app.add_option("--kind", kind)->capture_default_str();
    app.add_option("--vary", vary);
    app.add_flag("--one", one);
    app.add_flag("--two", two);
    app.add_option("--number", number);
  }

  /// The refusal; empty if the command line is taken.
  std::string refusal(std::vector<std::string> words) {
    app.clear();
    try {
      app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& error) {
      return error.what();
    }
    return {};
  }

  CLI::App app;
  std::string kind = "plain";
  std::vector<std::string> vary;
  bool one = false;
  bool two = false;
  int number = 0;
};

TEST(UnreadOptions, AreRefusedExactlyWithAllThatTheWorkNames) {
  for (const bool is_default : {true, false})
    for (const std::string& kind : {std::string("plain"), std::string("other")})
      for (const bool one : {true, false})
        for (const bool number : {true, false}) {
          std::vector<std::string> words;
          if (!is_default) words = {"--kind", kind};
          if (one) words.emplace_back("--one");
          if (number) words.insert(words.end(), {"--number", "3"});
          SmallCommand with;
          unread_with(with.app, "--kind plain --one", {"--two", "--number"}, "none");
          const bool is_plain = is_default || kind == "plain";
          EXPECT_EQ(with.refusal(words),
                    is_plain && one && number ? "found --number with --kind plain --one, expected none" : "");
          SmallCommand only;
          read_only_with(only.app, {"--one", "--kind other"}, {"--number", "--two"});
          EXPECT_EQ(only.refusal(words), number && !one && is_plain
                                             ? "found --number, expected it only with --one or --kind other"
                                             : "");
        }
}

TEST(UnreadOptions, AreToldByOneOfTheirValuesToo) {
  SmallCommand command;
  unread_with(command.app, "--vary size=", {"--number", "--kind other"});
  EXPECT_EQ(command.refusal({"--vary", "sizes=3", "--number", "3"}), "");
  EXPECT_EQ(command.refusal({"--vary", "a=3", "--vary", "size=3", "--number", "3"}),
            "found --number with --vary size=, expected one of them");
  EXPECT_EQ(command.refusal({"--vary", "size=3", "--kind", "plain"}), "");
  EXPECT_EQ(command.refusal({"--vary", "size=3", "--kind", "other"}),
            "found --kind other with --vary size=, expected one of them");
}

TEST(UnreadOptions, OfEveryCommandAreRefusedInOneLine) {
  const std::vector<std::string> of_answers{"--seed 1", "--draws 200", "--budget", "--price 1", "--power 1"};
  struct Work {
    std::string command;
    std::string work;
    std::vector<std::string> options;
    std::string expected;
  };
  for (const Work& one :
       {Work{"tune",
             "--search skip-set",
             {"--rungs 2", "--exits 3", "--gammas 3", "--thresholds 0.5", "--from-shards x", "--shard 1/2"},
             "it only with --search grid"},
        {"simulate x", "--waterfall", of_answers, "one of them"},
        {"simulate x", "--ladder --json", of_answers, "it without --json"}})
    for (const std::string& option : one.options)
      expect_usage_error(run_line(fmt::format("{} {} {}", one.command, one.work, option)),
                         fmt::format("found {} with {}, expected {}", option.substr(0, option.find(' ')),
                                     one.work, one.expected));
  const std::vector<std::pair<const char*, const char*>> refused{
      {"tune --search grid --probe x", "found --probe with --search grid, expected it only with --search"},
      {"tune --search grid --score teacher-forced", "found --score teacher-forced with --search grid"},
      {"tune --search grid --objective acceptance-model --finalists 2",
       "found --finalists with --objective acceptance-model --search grid, expected it only with "
       "--objective"},
      {"tune --search skip-set --score decoded --objective acceptance-model --finalists 2",
       "found --finalists with --objective acceptance-model --score decoded"},
      {"tune --search skip-set --objective acceptance-model --repeats 5",
       "found --repeats with --objective acceptance-model, expected it only with --objective speedup"},
      {"simulate x --waterfall --target-exits", "found --target-exits with --waterfall"},
      {"simulate x --overwrite", "found --overwrite, expected it only with --write or --output"},
      {"simulate x --sweep gpu=L4 --gpu L4", "found --gpu with --sweep gpu=, expected one of them"},
      {"simulate x --sweep gpu=L4 --gpu-spec x", "found --gpu-spec with --sweep gpu="},
      {"simulate x --sweep batch=2 --batch 1", "found --batch with --sweep batch="},
      {"advise x --sweep model=a --model b", "advise: found --model with --sweep model="},
      {"advise x --overwrite", "found --overwrite, expected it only with --output"},
      {"simulate x --draft-vocabulary 9", "found --draft-vocabulary, expected it only with --draft-cost"},
      {"calibrate -o x --gpu L4", "found --gpu with --device cpu, expected it only with --device cuda"},
      {"calibrate -o x --weights fp8",
       "calibrate: found --weights fp8 with --device cpu, expected it only with --device cuda"},
      {"report x --over gamma -q", "found --over with --quiet"},
      {"report x --decisions -q", "--quiet"},
      {"report x --brief -q", "--quiet"},
      {"report x --svg", "found --svg, expected it only with --over"},
      {"report x --run y", "found --run, expected it only with --device"},
      {"generate -m x --chat", "found --chat, expected it only with --prompt or --prompt-file"},
      {"generate -m x -p y --colour always -q", "found --colour always with --quiet, expected one of them"},
      {"reproduce --list --limit 3", "found --limit with --list"},
      {"reproduce del-table-1 --list", "found NAME with --list"},
      {"reproduce del-table-1 --dry-run --json", "found --json with --dry-run"},
      {"serve -m x --shadow", "found --shadow, expected it only with --output"},
  };
  for (const auto& [line, says] : refused) expect_usage_error(run_line(line), says);
}

TEST(UnreadOptions, OfGreedyDecodingAreThoseOfSampling) {
  for (const char* command :
       {"record -m /absent --prompts x -o y -s vanilla ", "generate -m /absent -p x ", "chat -m /absent "})
    for (const char* option : {"--top-k 5", "--top-p 0.5", "--min-p 0.5", "--coupled"})
      for (const char* temperature : {"", " --temperature 0", " --temperature 0.0", " --temperature 0.5"}) {
        const CommandResult result = run_line(std::string(command) + option + temperature);
        const std::string name = std::string(option).substr(0, std::string(option).find(' '));
        const std::string refusal =
            "found " + name + " with --temperature 0, expected it only with a temperature above 0";
        if (temperature == std::string(" --temperature 0.5"))
          EXPECT_THAT(result.err, testing::Not(testing::HasSubstr("found " + name)));
        else
          expect_usage_error(result, refusal);
      }
}

TEST(Refusals, StandOnStderrWhereNoDocumentListsThem) {
  for (const bool json : {false, true})
    for (const bool csv : {false, true})
      for (const bool quiet : {false, true}) {
        SimulateOptions options;
        options.json = json;
        options.csv = csv;
        options.quiet = quiet;
        testing::internal::CaptureStderr();
        print_refusals(options, {{"auto", "", "no texts"}, {"del", "L4", "no room"}});
        EXPECT_EQ(testing::internal::GetCapturedStderr(),
                  json || (!csv && !quiet) ? "" : "draftscope: no texts\ndraftscope: L4: no room\n");
      }
}

}  // namespace
}  // namespace draftscope::cli
