// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/output_file.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>

#include <memory>
#include <optional>

#include "commands/learning.h"
#include "options/machine_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "report/answers/advise_text.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

struct AdviseOptions {
  SimulateOptions asked;                        ///< The machine, and the recording to read.
  std::optional<std::filesystem::path> output;  ///< File for a policy; none = not written.
  std::vector<std::filesystem::path> inputs;    ///< Paths that the command line names.
  bool overwrite = false;
  std::string command_line;
  simulator::Considered considered = simulator::Considered::everything;
};

Result<Advices> advise_all(const SimulateOptions& asked, simulator::Considered considered,
                           const simulator::WhatIf& what_if, const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<simulator::Machine> machines,
                        swept_machines(asked, what_if.recorded_scenario()));
  ProgressBar progress("advising", asked.quiet);
  // Replaying the candidates takes about as long as judging them on one machine.
  const auto parts = static_cast<std::int64_t>(machines.size()) + 1;
  simulator::CandidateOptions grid{.considered = considered};
  DRAFTSCOPE_TRY_ASSIGN(grid.strategies, swept_strategies(asked));
  grid.progress = [&](std::int64_t done, std::int64_t all) {
    progress.update(done, all * parts);
    return true;
  };
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Candidates found, simulator::candidates(what_if, recording, grid));
  simulator::AdviceOptions options;
  options.longer_context = asked.longer_context;
  options.draws = asked.draws;
  DRAFTSCOPE_TRY_ASSIGN(options.other_texts, other_kind_of_texts(asked, recording));
  Advices advices{.recording = &recording, .machines = {}, .refusals = {}};
  for (const simulator::Machine& machine : machines) {
    auto advice = simulator::advise(what_if, recording, found, machine, options);
    if (advice)
      advices.machines.push_back(*std::move(advice));
    else
      advices.refusals.push_back({"", machine.name, advice.error().message});
    progress.update(static_cast<std::int64_t>(&machine - machines.data()) + 2, parts);
  }
  if (advices.machines.empty()) return fail("{}", advices.refusals.front().reason);
  return advices;
}

Result<void> write_advice(const AdviseOptions& options, const std::filesystem::path& output,
                          const Advices& advices) {
  if (advices.machines.size() != 1 || !advices.refusals.empty())
    return fail("{}: found {} machines, expected one for a policy", output.string(),
                advices.machines.size() + advices.refusals.size());
  auto policy = simulator::advised_policy(advices.machines.front(), *advices.recording,
                                          {.trace = options.asked.file,
                                           .command_line = options.command_line,
                                           .tool_version = DRAFTSCOPE_VERSION});
  if (!policy) return fail("{}: {}", output.string(), policy.error().message);
  return speculation::write_policy(output, *policy);
}

Result<int> advise(const AdviseOptions& options) {
  if (options.output) DRAFTSCOPE_TRY(check_output_file(*options.output, {options.inputs, options.overwrite}));
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.asked.file));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  DRAFTSCOPE_TRY(simulator::check_can_be_advised_on(recording, options.asked.file));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::WhatIf what_if, learn_from(options.asked, reader, recording));
  const auto advices = advise_all(options.asked, options.considered, what_if, recording);
  if (!advices) return fail("{}: {}", options.asked.file, advices.error().message);
  const int printed = options.asked.json
                          ? print_out(advise_json(*advices))
                          : print_out(advise_text(*advices, options.asked.quiet, glyphs_for_stdout()));
  if (printed != 0) return printed;
  print_refusals(options.asked, advices->refusals);
  if (options.output) DRAFTSCOPE_TRY(write_advice(options, *options.output, *advices));
  return advices->refusals.empty() ? 0 : exit_failure;
}

}  // namespace

void add_advise_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  const auto options = std::make_shared<AdviseOptions>();
  options->command_line = command_line;
  SimulateOptions& asked = options->asked;
  CLI::App* command =
      app.add_subcommand("advise", "Say what to set on a machine, what it will bring, and how sure that is");
  command->footer(
      "Chooses among early exits of every layer, lengths and confidence thresholds, prompt lookup, suffix\n"
      "decoding, auto, the recorded runs, other lengths of theirs, and what --strategy adds. Takes a\n"
      "recording with a vanilla run, best of 20 prompts or more, and with --shadow, without which exits "
      "that\n"
      "were not recorded are unknown.\n"
      "What is chosen on some prompts is judged on others. Keys of --json: cli/OUTPUT.md.\n"
      "Example: draftscope advise run.dstrace -o policy.json\n"
      "         draftscope generate --model MODEL --strategy tuned:policy=policy.json --prompt TEXT");
  command->add_option("FILE", asked.file, "Trace to learn from")->required();
  command->add_option("-s,--strategy", asked.strategies, "name:key=value,… to consider besides");
  std::vector<std::string> kinds;
  kinds.reserve(simulator::all_considered.size());
  for (const simulator::Considered kind : simulator::all_considered)
    kinds.emplace_back(considered_name(kind));
  command
      ->add_option_function<std::string>(
          "--consider",
          [options](const std::string& word) {
            for (const simulator::Considered kind : simulator::all_considered)
              if (considered_name(kind) == word) options->considered = kind;
          },
          "What to choose among: everything, early-exits, recorded-runs")
      ->check(one_of(kinds));
  add_machine_options(*command, asked);
  add_unset_number(*command, "--longer-context", asked.longer_context,
                   "As if every prompt had so many tokens more before it", {.min = 0});
  CLI::Option* output = add_optional_output(*command, "-o,--output", options->output,
                                            "Policy file to write, for --strategy tuned:policy=FILE");
  command->add_flag("--overwrite", options->overwrite, "Replace the policy file")->needs(output);
  add_draw_options(*command, asked.draws);
  command->add_flag("--json", asked.json, "Print JSON");
  command->add_flag("-q,--quiet", asked.quiet, "No progress, no notes");
  run_with_inputs(*command, options, outcome, advise);
}

}  // namespace draftscope::cli
