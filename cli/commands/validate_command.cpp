// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/text_file.h>

#include <fstream>
#include <memory>

#include "options/machine_options.h"
#include "report/answers/check_prediction.h"
#include "report/answers/validate_recordings.h"
#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

/// Whether the file begins as JSON does; false also if it can't be read.
bool is_json_file(const std::string& file) {
  if (!check_regular_file(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  char first = 0;
  stream >> first;
  return stream && first == '{';
}

/// Compares a prediction with the recording that was made to check it.
Result<int> validate_prediction(const ValidateRecordingsOptions& options, const CLI::App& command) {
  if (options.files.size() != 2)
    return fail("{}: is a prediction with {} recordings, expected one to compare it with",
                options.files.front(), options.files.size() - 1);
  for (const char* of_recordings : {"--learn-from", "--recorded-gpu", "--draws", "--seed"})
    if (command.count(of_recordings) > 0)
      return fail("{}: is a prediction, found {} with it, expected that only with recordings",
                  options.files.front(), of_recordings);
  DRAFTSCOPE_TRY_ASSIGN(const PredictionFile prediction, read_prediction(options.files.front()));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.files.back()));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording measured, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(const PredictionCheck check, check_prediction(prediction, measured));
  return print_out(options.json ? check_json(prediction, check)
                                : check_text(prediction, check, options.quiet, glyphs_for_stdout()));
}

Result<int> validate(const ValidateRecordingsOptions& options, const CLI::App& command) {
  return is_json_file(options.files.front()) ? validate_prediction(options, command)
                                             : validate_recordings(options);
}

}  // namespace

void add_validate_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<ValidateRecordingsOptions>();
  CLI::App* command = app.add_subcommand(
      "validate", "Compare the simulator's predictions with recordings and print the errors");
  command->footer(
      "One trace: every repeat, every run and every category of prompts is held out in turn and predicted "
      "from the\n"
      "rest. Several: the runs of the others are predicted from the first, or from --learn-from. The best "
      "traces are\n"
      "recorded with --shadow, several repeats and ten prompts or more a category.\n"
      "A prediction that simulate -o wrote, and a trace: each predicted speedup beside the measured one. A "
      "prediction\n"
      "that was changed after it was written is refused, and so is a recording that was begun before it.\n"
      "Keys of --json: cli/OUTPUT.md.\n"
      "Example: draftscope validate run.dstrace\n"
      "         draftscope validate a100.dstrace h100.dstrace\n"
      "         draftscope validate prediction.json measured.dstrace");
  command->add_option("FILE", options->files, "Recorded runs, or a prediction and its recording")->required();
  command->add_option("--learn-from", options->learn_from, "Traces to predict the others' runs from");
  command->add_option(
      "--recorded-gpu", options->recorded_gpu,
      "The GPU of the recording, whose specification fills in what the recording leaves open");
  add_draw_options(*command, options->draws);
  command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("-q,--quiet", options->quiet, "No progress, no notes");
  command->callback([options, command, &outcome] { finish(outcome, validate(*options, *command)); });
}

}  // namespace draftscope::cli
