// SPDX-License-Identifier: GPL-3.0-or-later
// Every option of every command that takes numbers, found by walking the commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "commands/commands.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using ::testing::HasSubstr;

struct NumericOption {
  std::string command;
  std::string name;
  bool is_whole;
};

std::vector<NumericOption> numeric_options() {
  CLI::App app;
  Outcome outcome;
  add_commands(app, outcome, "");
  std::vector<NumericOption> found;
  for (const CLI::App* command : app.get_subcommands({}))
    for (const CLI::Option* option : command->get_options()) {
      const std::string type = option->get_type_name();
      const bool is_whole = type.starts_with("INT") || type.starts_with("UINT");
      if (is_whole || type.starts_with("FLOAT"))
        found.push_back({command->get_name(), "--" + option->get_lnames().front(), is_whole});
    }
  return found;
}

TEST(NumericOptions, RefuseWhatIsNoNumberOrDoesNotFit) {
  const std::vector<NumericOption> options = numeric_options();
  EXPECT_GE(options.size(), 40U);
  for (const NumericOption& option : options) {
    std::vector<std::string> refused{
        "x", "nan", "inf", "1e999", "0x10", "1 ", "+1", "-99999999999999999999", "99999999999999999999999",
        "-3"};  // Two penalties go down to -2.
    if (option.is_whole) refused.insert(refused.end(), {"1.5", "1e2", "18446744073709551616"});
    for (const std::string& text : refused) {
      const CommandResult result = run_line("{} {}", option.command, option.name + "=" + text);
      EXPECT_EQ(result.exit_code, 2) << option.command << " " << option.name << "=" << text;
      EXPECT_THAT(result.err, HasSubstr(option.name)) << option.command << " " << text;
      EXPECT_THAT(result.err, HasSubstr("found '" + text + "', expected a")) << option.command << option.name;
      EXPECT_LT(result.err.size(), 300U);
    }
  }
}

TEST(NumericOptions, AreDecimal) {
  const std::string model = DRAFTSCOPE_SOURCE_DIR "/models/demo-layerskip";
  const CommandResult ten = run_line("generate -m {} -p one -n 10 -q", model);
  const CommandResult with_zero = run_line("generate -m {} -p one -n 010 -q", model);
  EXPECT_EQ(ten.exit_code, 0) << ten.err;
  EXPECT_EQ(ten.out, with_zero.out);
}

}  // namespace
}  // namespace draftscope::cli
