// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Problems of a plan before anything runs: one line per field, in the recorder's words.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/form/model_facts.h"
#include "record/form/record_plan.h"

namespace draftscope::gui {

enum class PlanField : std::uint8_t {
  model,
  prompts,
  strategies,
  device,
  device_trace,
  weights,
  system,
  template_arguments,
  output,
  further
};

/// Facts about the plan's surroundings.
struct PlanContext {
  std::optional<ModelFacts> model;
  std::string model_problem;    ///< Why there are no facts; empty = they are there or on their way.
  std::string prompts_problem;  ///< Why the prompt file can't be read; empty = it can.
  std::string template_arguments_problem;  ///< Why they can't be used; empty = they can.
  std::string further_problem;             ///< Why the further options can't be used; empty = they can.
};

/// Problems of a plan by field; empty if it can start. Looks at the output's place on the disk.
[[nodiscard]] std::map<PlanField, std::string> problems_of(const RecordPlan& plan,
                                                           const PlanContext& context);

/// Why a strategy can't run on the model; nullopt if it can. The model's facts may still be unknown.
[[nodiscard]] std::optional<std::string> problem_on_model(const std::string& strategy,
                                                          const std::optional<ModelFacts>& model);

/// Whether a strategy of the plan is the baseline, without which there are no speedups.
[[nodiscard]] bool has_baseline(const RecordPlan& plan);

}  // namespace draftscope::gui
