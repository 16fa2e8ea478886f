// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The commands that make an experiment again, in their order: each could be typed by hand.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "reproduce/experiments.h"

namespace draftscope::cli {

/// Settings that a row leaves open.
struct ReproduceSettings {
  std::string model;                 ///< As `record --model` takes it.
  std::string draft_model;           ///< For settings in which another model drafts.
  std::string prompts;               ///< File of the prompts that are measured.
  std::string tune_prompts;          ///< File of the prompts that searches decode.
  std::vector<std::string> machine;  ///< More options of `record` and `tune`, as --device and --threads.
  std::int32_t max_tokens = 64;
  std::int32_t repeats = 2;
  std::int32_t limit = 0;  ///< Number of prompts that are measured; 0 = all.
  std::filesystem::path folder;
};

/// A setting with its places filled in.
struct FilledSetting {
  SettingRow row;
  std::string value;     ///< Value on the axis; empty if it is no point of a curve.
  std::string strategy;  ///< As `--strategy` takes it.
};

/// Prompts of one category in a file of their own.
struct CategoryPrompts {
  std::string category;
  std::filesystem::path file;
};

struct Step {
  std::vector<std::string> arguments;  ///< Arguments of `draftscope`.
  std::filesystem::path output;        ///< The file that it makes.
};

/// The steps of an experiment, in this order.
struct Plan {
  std::vector<CategoryPrompts> category_prompts;
  std::vector<Step> searches;
  std::vector<FilledSetting> settings;
  std::vector<Step> prediction;  ///< Recording of what is learnt, then the simulation; empty = none.
  std::vector<Step> recording;   ///< One step, or none for a search alone or a closed form.
};

/// Number of the model's layers. Errors: those of opening it.
using LayersOfModel = std::function<Result<std::int32_t>()>;

struct PlanInputs {
  ReproduceSettings settings;
  std::vector<std::string> categories;  ///< Categories of the searches' prompts.
  LayersOfModel layers;
  bool has_policies = false;  ///< Whether the searches have ended; else their places stay as they are.
};

/// Appends the text unless it is there.
void insert_once(std::vector<std::string>& all, const std::string& text);

/// Strategies of the settings in the order of the recording's runs, each once.
[[nodiscard]] std::vector<std::string> strategies_of(const std::vector<FilledSetting>& settings);

/// Whether the setting takes the result of a search that each category has.
[[nodiscard]] bool is_by_category(const ExperimentRow& experiment, const SettingRow& setting);

/// Searches of an experiment, with their prompts.
[[nodiscard]] Plan plan_searches(const ExperimentRow& experiment, const PlanInputs& inputs);

/// Writes a skip set into each policy of a search for one that kept none, as where no set beats vanilla: the
/// set of the best-scored trial that skips something. Errors: those of reading and writing policies.
[[nodiscard]] Result<void> keep_skip_sets(const Plan& plan);

/// Replaces settings, prediction and recording. Errors: those of `layers` and of reading policies.
[[nodiscard]] Result<void> plan_recording(const ExperimentRow& experiment, const PlanInputs& inputs,
                                          Plan& plan);

/// The plan as commands of a shell, one a line.
[[nodiscard]] std::string plan_text(const Plan& plan, const ReproduceSettings& settings);

}  // namespace draftscope::cli
