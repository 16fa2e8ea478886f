// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <memory>

#include "options/numbers.h"
#include "report/validation/validate_published.h"
#include "report/validation/validate_recordings.h"

namespace draftscope::cli {

namespace {

struct Options {
  bool published = false;
  ValidateRecordingsOptions recordings;
};

Result<int> validate(const Options& options) {
  return options.published ? validate_published(options.recordings.json)
                           : validate_recordings(options.recordings);
}

}  // namespace

void add_validate_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<Options>();
  ValidateRecordingsOptions& recordings = options->recordings;
  CLI::App* command =
      app.add_subcommand("validate", "Compare the simulator's predictions with results and print the errors");
  command->footer(
      "One trace: every repeat, every run and every category of prompts is held out in turn and predicted "
      "from the\n"
      "rest. Several: the runs of the others are predicted from the first, or from --learn-from. The best "
      "traces are\n"
      "recorded with --shadow, several repeats and ten prompts or more a category.\n"
      "--published takes acceptance from the papers and predicts the speedups that they print, each from "
      "other\n"
      "tasks or models. Ends with exit code 1 if an error exceeds its bound.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "Example: draftscope validate run.dstrace --bound again=3 --bound length=5\n"
      "         draftscope validate a100.dstrace h100.dstrace --bound machine=15\n"
      "         draftscope validate --published");
  CLI::Option_group* modes = command->add_option_group("Results to compare with");
  modes->add_option("TRACE", recordings.files, "Recorded runs");
  CLI::Option* published =
      modes->add_flag("--published", options->published,
                      "The papers' tables and the LayerSkip blog's, which ship with the program");
  modes->require_option(1);
  command->add_option("--learn-from", recordings.learn_from, "Traces to predict the others' runs from")
      ->excludes(published);
  command->add_option("--bound", recordings.bounds, bound_help)->excludes(published);
  command
      ->add_option("--recorded-gpu", recordings.recorded_gpu,
                   "The GPU of the recording, whose specification fills in what the recording leaves open")
      ->excludes(published);
  add_number(*command, "--draws", recordings.draws, "Of requests and costs, for the intervals", {200, 100000})
      ->capture_default_str();
  add_number(*command, "--seed", recordings.seed, "Same seed, same intervals");
  CLI::Option* json = command->add_flag("--json", recordings.json, "Print JSON");
  command->add_flag("--csv", recordings.csv, "Print CSV, one line a question")
      ->excludes(json)
      ->excludes(published);
  command->add_flag("-q,--quiet", recordings.quiet, "No progress, no notes");
  command->callback([options, &outcome] { finish(outcome, validate(*options)); });
}

}  // namespace draftscope::cli
