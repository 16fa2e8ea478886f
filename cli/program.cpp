// SPDX-License-Identifier: GPL-3.0-or-later
#include "program.h"

#include <draftscope/base/closest_names.h>
#include <draftscope/base/quote.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <sstream>

#include "commands/commands.h"
#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
  }
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// One line about the error in a command line. CLI11 prints two, and reports an unknown command like a
/// missing one.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  const std::vector<std::string> unknown = app.remaining(true);
  if (parsed.empty()) {
    const std::vector<std::string> known = command_names(app);
    if (unknown.empty()) return fmt::format("found no command, expected one of {}", fmt::join(known, ", "));
    return fmt::format("{} is no command, expected {}", quote(unknown.front()),
                       closest_names(unknown.front(), known));
  }
  const CLI::App& command = *parsed.front();
  const std::string name = command.get_name();
  if (unknown.empty()) {
    const std::string_view what = error.what();
    constexpr std::string_view excludes = " excludes ";
    if (const std::size_t middle = what.find(excludes); middle != std::string_view::npos)
      return fmt::format("{}: found {} with {}, expected one of them (draftscope {} --help)", name,
                         what.substr(0, middle), what.substr(middle + excludes.size()), name);
    constexpr std::string_view needs = " requires ";
    if (const std::size_t middle = what.find(needs); middle != std::string_view::npos)
      return fmt::format("{}: found {}, expected it only with {} (draftscope {} --help)", name,
                         what.substr(0, middle), what.substr(middle + needs.size()), name);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch))
      return fmt::format("{}: {}: {} (draftscope {} --help)", name, what.substr(0, what.find(':')),
                         what.find("At Most") == std::string_view::npos ? "found no value, expected one"
                                                                        : "found it twice, expected it once",
                         name);
    return fmt::format("{}: {} (draftscope {} --help)", name, what.substr(0, what.find('\n')), name);
  }
  if (!unknown.front().starts_with('-'))
    return fmt::format("{}: found {}, expected no further argument (draftscope {} --help)", name,
                       quote(unknown.front()), name);
  return fmt::format("{}: {} is no option, expected {} (draftscope {} --help)", name, quote(unknown.front()),
                     closest_names(unknown.front(), option_names(command)), name);
}

}  // namespace

void add_commands(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  app.require_subcommand(1);
  add_generate_command(app, outcome);
  add_record_command(app, outcome, command_line);
  add_serve_command(app, outcome, command_line);
  add_tune_command(app, outcome, command_line);
  add_report_command(app, outcome);
  add_explain_command(app, outcome);
  add_compare_command(app, outcome);
  add_export_command(app, outcome);
  add_import_command(app, outcome);
  add_merge_command(app, outcome);
  add_inspect_command(app, outcome);
  add_simulate_command(app, outcome, command_line);
  add_advise_command(app, outcome, command_line);
  add_calibrate_command(app, outcome);
  add_validate_command(app, outcome);
  add_reproduce_command(app, outcome);
  add_view_command(app, outcome);
  add_strategies_command(app, outcome);
}

int run_program(const std::vector<std::string>& arguments) {
  CLI::App app{"Records, explains and predicts self-speculative decoding of large language models",
               "draftscope"};
  app.set_version_flag("--version", DRAFTSCOPE_VERSION);
  Outcome outcome;
  add_commands(app, outcome, fmt::format("draftscope {}", fmt::join(arguments, " ")));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 wants reverse order.
    return outcome.exit_code;
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream ignored;
    if (app.exit(error, help, ignored) == 0) return print_out(help.str());
    print_error(usage_error(app, error));
    return exit_usage;
  }
}

}  // namespace draftscope::cli
