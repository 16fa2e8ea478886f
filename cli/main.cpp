// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "compare_command.h"
#include "export_command.h"
#include "generate_command.h"
#include "import_command.h"
#include "inspect_command.h"
#include "outcome.h"
#include "record_command.h"
#include "report_command.h"
#include "strategies_command.h"
#include "tune_command.h"

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
  app.require_subcommand(1);
  Outcome outcome;
  add_generate_command(app, outcome);
  add_record_command(app, outcome, joined(argc, argv));
  add_tune_command(app, outcome, joined(argc, argv));
  add_report_command(app, outcome);
  add_compare_command(app, outcome);
  add_export_command(app, outcome);
  add_import_command(app, outcome);
  add_inspect_command(app, outcome);
  add_strategies_command(app, outcome);
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
