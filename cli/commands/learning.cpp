// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/learning.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/published_models.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/prompt_file.h>

namespace draftscope::cli {

namespace {

/// Costs from specifications, for an imported recording; absent for a recording of this project.
Result<std::optional<simulator::CostModel>> specified_costs(const SimulateOptions& options,
                                                            const traces::Recording& recording) {
  if (!traces::is_imported(recording.meta)) return std::nullopt;
  simulator::Scenario unknown;
  if (options.model.empty()) {
    const std::string name = simulator::meta_value(recording.meta, "model");
    auto shape = simulator::recorded_shape(recording.meta);
    if (!shape) shape = speculation::find_model_shape(name);
    if (!shape)
      return fail("{}: is imported and names its model {}, whose shape is not known, expected --model",
                  options.file, quote(name));
    unknown.shape = *std::move(shape);
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<simulator::Machine> machines, swept_machines(options, unknown));
  for (const simulator::Machine& machine : machines)
    if (!machine.scenario.gpu && !machine.costs)
      return fail(
          "{}: is imported and has no times that costs could be learnt from, expected --gpu or --calibration",
          options.file);
  const simulator::Machine& first = machines.front();
  if (first.scenario.gpu)
    return simulator::cost_model_of(*first.scenario.gpu, first.scenario.shape, first.scenario.weights);
  simulator::CostModel costs = *first.costs;
  costs.from_trace = false;  // They were learnt from no recording, so that none is a recorded machine.
  return costs;
}

}  // namespace

Result<simulator::WhatIf> learn_from(const SimulateOptions& options, traces::Reader& reader,
                                     const traces::Recording& recording) {
  DRAFTSCOPE_TRY(simulator::check_can_be_asked(recording, options.file));
  simulator::WhatIfOptions learning;
  if (!options.recorded_gpu.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(learning.recorded_on, simulator::find_gpu(options.recorded_gpu));
  }
  DRAFTSCOPE_TRY_ASSIGN(learning.specified, specified_costs(options, recording));
  auto learnt = simulator::WhatIf::train(reader, recording, learning);
  if (!learnt) return fail("{}: {}", options.file, learnt.error().message);
  return learnt;
}

Result<std::optional<std::string>> other_kind_of_texts(const SimulateOptions& options,
                                                       const traces::Recording& recording) {
  if (!options.prompts) return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<traces::Question> questions,
                        traces::read_questions(*options.prompts));
  std::vector<std::string> texts;
  texts.reserve(questions.size());
  for (const traces::Question& question : questions) texts.push_back(question.turns.front());
  auto comparison = simulator::compare_prompts(recording, texts);
  if (!comparison) return fail("{}: {}", options.prompts->string(), comparison.error().message);
  if (!comparison->is_other_kind) return std::nullopt;
  return std::move(comparison->difference);
}

}  // namespace draftscope::cli
