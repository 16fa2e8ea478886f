// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Facts about a model that the form needs, as `draftscope inspect MODEL --json` prints it (cli/OUTPUT.md).

#include <draftscope/base/result.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/form/record_plan.h"

namespace draftscope::gui {

/// A GPU of this machine.
struct GpuFacts {
  std::string device;  ///< Value of --device.
  std::string name;    ///< Name that the driver gives it.
};

struct ModelFacts {
  std::string name;
  std::int32_t n_layers = 0;
  std::int64_t context_tokens = 0;
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::string dtype;
  bool synthetic = false;
  bool has_chat_template = false;
  std::string chat_template_problem;         ///< Why the chat template can't be rendered; empty = it can.
  std::string tokenizer_problem;             ///< Why no text can be decoded; empty = it can.
  std::map<std::string, std::string> lacks;  ///< Reason [strategy] why it can't decode with its defaults.
  std::vector<GpuFacts> gpus;
  std::string gpus_problem;  ///< Why there is no GPU; empty = there is one.
};

/// Reads the facts from JSON. Errors: other text, with the field.
[[nodiscard]] Result<ModelFacts> model_facts_of(std::string_view json);

// Problems of a plan before anything runs: one line per field, in the recorder's words.

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
