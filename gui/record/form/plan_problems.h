// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is wrong with a plan before anything runs: a line for each field, as the recorder would refuse it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "record/form/model_facts.h"
#include "record/form/record_plan.h"

namespace draftscope::gui {

enum class PlanField : std::uint8_t { model, prompts, strategies, system, output, further };

/// Knowledge beside the plan itself.
struct PlanContext {
  std::optional<ModelFacts> model;  ///< Facts of the plan's model.
  std::string model_problem;        ///< why there are no facts; empty: they are there or on their way
  std::string prompts_problem;      ///< why the prompt file can't be read; empty = it can
  std::string further_problem;      ///< why the further options can't be taken; empty = they can
};

/// Looks at the output's place on the disk. Empty: it can start.
[[nodiscard]] std::map<PlanField, std::string> problems_of(const RecordPlan& plan,
                                                           const PlanContext& context);

/// Why a strategy can't run on the model, whose facts may not be known yet; nothing if it can.
[[nodiscard]] std::optional<std::string> problem_on_model(const std::string& strategy,
                                                          const std::optional<ModelFacts>& model);

/// Whether a strategy of the plan is the baseline, without which there are no speedups.
[[nodiscard]] bool has_baseline(const RecordPlan& plan);

}  // namespace draftscope::gui
