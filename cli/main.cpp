// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "commands/commands.h"

namespace {

std::string joined(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + std::string(argv[i]);
  return line;
}

int run(int argc, char** argv) {
  using namespace draftscope::cli;
  CLI::App app{"Records, explains and predicts self-speculative decoding of large language models",
               "draftscope"};
  app.set_version_flag("--version", DRAFTSCOPE_VERSION);
  Outcome outcome;
  add_commands(app, outcome, joined(argc, argv));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : exit_usage;
  }
  return outcome.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // The libraries return errors as values; what is caught here is the standard library's (no memory) or a
  // defect.
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    return draftscope::cli::fail_with({error.what()});
  }
}
