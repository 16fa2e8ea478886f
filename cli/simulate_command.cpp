// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulate_command.h"

#include <draftscope/traces/reader.h>

#include <memory>

#include <draftscope/simulator/rounds_elsewhere.h>

#include "progress_bar.h"
#include "simulate_machines.h"
#include "simulate_text.h"

namespace draftscope::cli {

namespace {

/// The runs as they were recorded, but for the baseline.
std::vector<std::string> recorded_strategies(const traces::Recording& recording) {
  std::vector<std::string> strategies;
  for (const traces::Run& run : recording.runs)
    if (!run.is_baseline) strategies.push_back(run.specification);
  return strategies;
}

Result<int> simulate(const SimulateOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(options.file));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  simulator::WhatIfOptions learning;
  if (!options.recorded_gpu.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(learning.recorded_on, simulator::find_gpu(options.recorded_gpu));
  }
  auto learnt = simulator::WhatIf::learn(reader, recording, learning);
  if (!learnt) return fail("{}: {}", options.file, learnt.error().message);
  const simulator::WhatIf& what_if = *learnt;

  DRAFTSCOPE_TRY_ASSIGN(std::vector<std::string> strategies, swept_strategies(options));
  if (strategies.empty()) strategies = recorded_strategies(recording);
  if (strategies.empty())
    return fail("{}: found no run but vanilla, expected --strategy to say what to ask about", options.file);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<simulator::Machine> machines,
                        swept_machines(options, what_if.recorded_scenario()));

  Simulation simulation{.recording = &recording, .fit = &what_if.costs().report};
  ProgressBar progress("simulating", options.quiet);
  const auto questions = static_cast<std::int64_t>(strategies.size() * machines.size());
  std::int64_t asked = 0;
  const simulator::SweepOptions draws{.draws = options.draws, .seed = options.seed};
  for (const std::string& strategy : strategies) {
    auto rounds = what_if.rounds(strategy);
    if (!rounds) {
      simulation.refusals.push_back({strategy, "", rounds.error().message});
      asked += static_cast<std::int64_t>(machines.size());
      continue;
    }
    if (options.longer_context > 0) simulator::lengthen_context(*rounds, options.longer_context);
    for (const simulator::Machine& machine : machines) {
      const simulator::StrategyRounds fitting =
          simulator::for_shape(*rounds, what_if.recorded_scenario().shape, machine.scenario.shape);
      auto answer = what_if.ask(fitting, machine, draws, options.budget);
      if (answer)
        simulation.answers.push_back(*std::move(answer));
      else
        simulation.refusals.push_back({strategy, machine.name, answer.error().message});
      progress.update(++asked, questions);
    }
  }
  // A question that has no answer is no success, however many others have one.
  const int exit_code = simulation.refusals.empty() ? 0 : exit_failure;
  if (simulation.answers.empty()) return fail("{}", simulation.refusals.front().reason);
  const int printed = options.json ? print_out(simulate_json(simulation))
                      : options.csv
                          ? print_out(simulate_csv(simulation))
                          : print_out(simulate_text(simulation, options.quiet, glyphs_for_stdout()));
  return printed != 0 ? printed : exit_code;
}

}  // namespace

void add_simulate_command(CLI::App& app, Outcome& outcome) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Predict other strategies, machines and models from a recording");
  command->footer(
      "Rounds of early exits are replayed exactly from a recording with --shadow; recorded runs are asked "
      "about as\n"
      "they are. Costs are fitted to the recording (best at --level ops) or, for another GPU, come from its\n"
      "specification. Every answer says what it rests on.\n"
      "Keys of --json and columns of --csv: cli/OUTPUT.md.\n"
      "Example: draftscope simulate run.dstrace -s layerskip --sweep exit=3..8 --sweep gamma=1..8\n"
      "         draftscope simulate run.dstrace --gpu H100-SXM --gpu L4 --model Llama-3-8B\n"
      "         draftscope simulate run.dstrace --calibration machine.json");
  command->add_option("FILE", options->file, "Trace to learn from")->required();
  command->add_option("-s,--strategy", options->strategies,
                      "name:key=value,… to ask about; default: the recorded runs");
  command->add_option("--gpu", options->gpus, "Another GPU, by name");
  command->add_option("--gpu-spec", options->gpu_specifications,
                      "A GPU of one's own: a JSON or CSV file with the columns of simulator/data/gpus.csv");
  command->add_option("--calibration", options->calibrations,
                      "A machine measured by draftscope calibrate: its file");
  command->add_option(
      "--recorded-gpu", options->recorded_gpu,
      "The GPU of the recording, whose specification fills in what the recording leaves open");
  command->add_option("--model", options->model,
                      "Another model: a name of models/models.csv, or a config.json");
  command->add_option("--weights", options->weights, "Another number type: bf16, fp16, fp32, fp8");
  command->add_option("--regime", options->regime,
                      "How kernels are launched: eager-python, eager-cpp, graph, device-loop, persistent");
  command->add_option("--batch", options->batch, "Requests decoded together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--tensor-parallel", options->tensor_parallel, "GPUs that share the model")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--longer-context", options->longer_context,
                   "As if every prompt had so many tokens more before it")
      ->check(CLI::NonNegativeNumber);
  command->add_option(
      "--sweep", options->sweeps,
      "KEY=V1,V2,… or KEY=FIRST..LAST of exit, gamma, threshold, gpu, model, weights, regime, batch, "
      "tensor-parallel; several make a grid");
  command->add_option("--draws", options->draws, "Of requests and costs, for the intervals")
      ->check(CLI::Range(200, 100000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Same seed, same intervals");
  command->add_flag("--budget", options->budget, "Say where the uncertainty comes from");
  CLI::Option* json = command->add_flag("--json", options->json, "Print JSON");
  command->add_flag("--csv", options->csv, "Print CSV, one line an answer")->excludes(json);
  command->add_flag("-q,--quiet", options->quiet, "No progress, no notes");
  command->callback([options, &outcome] { finish(outcome, simulate(*options)); });
}

}  // namespace draftscope::cli
