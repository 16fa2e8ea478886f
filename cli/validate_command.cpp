// SPDX-License-Identifier: GPL-3.0-or-later
#include "validate_command.h"

#include <memory>

#include "validate_published.h"

namespace draftscope::cli {

namespace {

struct Options {
  bool published = false;
  bool json = false;
};

}  // namespace

void add_validate_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("validate", "Compare the simulator's predictions with results and print the errors");
  command->footer(
      "--published takes acceptance from the papers and predicts the speedups that they print, each from "
      "other\n"
      "tasks or models. Ends with exit code 1 if an error exceeds its bound.\n"
      "Keys of --json: cli/OUTPUT.md.\n"
      "Example: draftscope validate --published");
  CLI::Option_group* modes = command->add_option_group("Results to compare with");
  modes->add_flag("--published", options->published,
                  "The papers' tables and the LayerSkip blog's, which ship with the program");
  modes->require_option(1);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &outcome] { finish(outcome, validate_published(options->json)); });
}

}  // namespace draftscope::cli
