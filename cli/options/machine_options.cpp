// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/machine_options.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/engine/gguf_sizes.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "options/numbers.h"
#include "options/unread_options.h"

namespace draftscope::cli {

namespace {

using simulator::CalibratedMachine;
using simulator::Machine;
using simulator::Scenario;

/// A machine without prices yet: specified, recorded, or measured separately.
struct AskedMachine {
  Scenario scenario;
  std::shared_ptr<const CalibratedMachine> calibrated;
};

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

Result<std::int32_t> to_integer(std::string_view text, std::string_view option) {
  const auto value = parse_number<std::int32_t>(text);
  if (!value) return fail("{}: found {}, expected an integer", option, quote(text));
  return *value;
}

/// Keys of a sweep that are the machine's; every other key is a strategy's parameter.
constexpr std::array<std::string_view, 7> machine_keys{"gpu",  "model", "weights",        "regime",
                                                       "host", "batch", "tensor-parallel"};

bool is_machine_key(std::string_view key) {
  return std::find(machine_keys.begin(), machine_keys.end(), key) != machine_keys.end();
}

/// Parses a sweep such as "exit=3,5,7" or "gamma=1..8".
Result<Axis> parse_axis(const std::string& text) {
  constexpr std::int32_t max_values = 10'000;
  const std::size_t equals = text.find('=');
  Axis axis{text.substr(0, equals), {}};
  if (equals == std::string::npos || equals == 0)
    return fail("--sweep {}: expected KEY=VALUES with a parameter of --strategy, or {}", text,
                fmt::join(machine_keys, ", "));
  std::string_view rest = std::string_view(text).substr(equals + 1);
  if (const std::size_t dots = rest.find(".."); dots != std::string_view::npos) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t first, to_integer(rest.substr(0, dots), "--sweep"));
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t last, to_integer(rest.substr(dots + 2), "--sweep"));
    if (last < first || last - first >= max_values)
      return fail("--sweep {}: expected a range from small to large of at most {} values", text, max_values);
    for (std::int32_t value = first; value <= last; ++value) axis.values.push_back(std::to_string(value));
    return axis;
  }
  while (true) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end == 0) return fail("--sweep {}: found an empty value, expected one between commas", text);
    axis.values.emplace_back(rest.substr(0, end));
    if (end == rest.size()) return axis;
    rest.remove_prefix(end + 1);
  }
}

/// Whether the strategy has a parameter of this name. A mix takes those of the parts that it names, and an
/// unknown strategy is refused where it is asked about.
bool takes(std::string_view strategy, std::string_view key) {
  const std::string_view name = speculation::strategy_name(strategy);
  const speculation::StrategyRow* row = speculation::strategy_catalogue().find(name);
  if (row == nullptr || row->chooses_parts) return true;
  const std::string_view current = speculation::current_parameter_name(name, key);
  return std::any_of(row->parameters.begin(), row->parameters.end(),
                     [&](const speculation::ParameterRow& parameter) { return parameter.name == current; });
}

/// Every value of the axis for a strategy that has the parameter; others stay as they are.
Result<std::vector<std::string>> swept(const std::vector<std::string>& strategies, const Axis& axis,
                                       const std::string& sweep) {
  std::vector<std::string> all;
  bool varied = false;
  for (const std::string& strategy : strategies) {
    if (!takes(strategy, axis.key)) {
      all.push_back(strategy);
      continue;
    }
    if (speculation::has_parameter(strategy, axis.key))
      return fail("--sweep {}: --strategy {} sets {} itself, expected one of them", sweep, strategy,
                  axis.key);
    varied = true;
    for (const std::string& value : axis.values)
      all.push_back(speculation::with_parameter(strategy, axis.key, value));
  }
  if (!varied)
    return fail("--sweep {}: no --strategy has {}, expected one that does, or a key of {}", sweep,
                quote(axis.key), fmt::join(machine_keys, ", "));
  return all;
}

/// Sets the model by its name, or from a config.json or GGUF file.
Result<void> set_model_of(Scenario& scenario, const std::string& value) {
  if (!value.ends_with(".gguf")) return simulator::set_model(scenario, value);
  DRAFTSCOPE_TRY_ASSIGN(const std::string sizes, engine::gguf_sizes(value));
  DRAFTSCOPE_TRY_ASSIGN(simulator::PlannedModel model, simulator::parse_gguf_model(sizes, value));
  scenario.shape = std::move(model.shape);
  scenario.plan = std::move(model.plan);
  scenario.has_next_token_layer = false;
  return {};
}

/// Sets one property of the scenario, by the name of its option.
Result<void> set(Scenario& scenario, std::string_view key, const std::string& value) {
  if (key == "gpu") {
    DRAFTSCOPE_TRY_ASSIGN(scenario.gpu, simulator::find_gpu(value));
  } else if (key == "model") {
    DRAFTSCOPE_TRY(set_model_of(scenario, value));
  } else if (key == "weights") {
    DRAFTSCOPE_TRY_ASSIGN(scenario.weights, simulator::parse_weight_type(value));
  } else if (key == "regime") {
    DRAFTSCOPE_TRY_ASSIGN(scenario.regime, simulator::parse_regime(value));
  } else if (key == "host") {
    DRAFTSCOPE_TRY_ASSIGN(scenario.host, simulator::host_time_of(value));
  } else if (key == "batch") {
    DRAFTSCOPE_TRY_ASSIGN(scenario.batch, to_integer(value, "batch"));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(scenario.tensor_parallel, to_integer(value, "tensor-parallel"));
  }
  return {};
}

Result<std::optional<simulator::DraftCostInput>> draft_cost_of(const SimulateOptions& options) {
  if (options.draft_cost.empty()) return std::nullopt;
  auto cost = simulator::parse_draft_cost(options.draft_cost, options.draft_vocabulary);
  if (!cost) return fail("--draft-cost: {}", cost.error().message);
  return *cost;
}

}  // namespace

void add_draw_options(CLI::App& command, simulator::PredictionOptions& draws) {
  add_number(command, "--draws", draws.draws, "Of requests and costs, for the intervals", {200, 100000});
  add_unset_number(command, "--seed", draws.seed, "Same seed, same intervals");
}

void add_machine_options(CLI::App& command, SimulateOptions& options) {
  command.add_option("--gpu", options.gpus, "Another GPU, by name");
  command.add_option("--gpu-spec", options.gpu_specifications,
                     "A GPU of one's own: a JSON or CSV file with the columns of simulator/data/gpus.csv");
  command.add_option("--calibration", options.calibrations,
                     "A machine measured by draftscope calibrate: its file");
  command.add_option(
      "--recorded-gpu", options.recorded_gpu,
      "The GPU of the recording, if its driver's name does not say: its specification fills in what the "
      "recording leaves open");
  command.add_option("--model", options.model,
                     "Another model: a name of models/models.csv, a config.json or a GGUF file");
  command.add_option("--weights", options.weights,
                     "Another number type of the layers: " + simulator::weight_type_names());
  command.add_option("--regime", options.regime,
                     "How kernels are launched: eager-python, eager-cpp, graph, device-loop, persistent");
  command.add_option(
      "--host", options.host,
      "The engine on a specified GPU: graph, serving, eager, draftscope, draftscope-0.2, or a JSON file "
      "(docs/predicting.md)");
  CLI::Option* draft_cost = command.add_option("--draft-cost", options.draft_cost,
                                               "Cost of a draft step as an input, for heads that are not run "
                                               "here: a share of a vanilla step, free, "
                                               "one-layer, or mtp for the model's next-token layer");
  add_unset_number(command, "--draft-vocabulary", options.draft_vocabulary,
                   "Rows of the head of --draft-cost one-layer or mtp, if not the target's", {.min = 1})
      ->needs(draft_cost);
  command.add_option(
      "--prompts", options.prompts,
      "Prompts that are asked about (as of record): if of another kind than the recorded ones, "
      "intervals widen");
  add_number(command, "--batch", options.batch, "Requests decoded together", {.min = 1});
  add_number(command, "--tensor-parallel", options.tensor_parallel, "GPUs that share the model", {.min = 1});
  command.add_option(
      "--sweep", options.sweeps,
      "KEY=V1,V2,… or KEY=FIRST..LAST of any parameter of --strategy, or of gpu, model, weights, regime, "
      "host, batch, tensor-parallel; several make a grid");
  for (const std::string_view key : machine_keys)
    unread_with(command, fmt::format("--sweep {}=", key), {fmt::format("--{}", key)});
  unread_with(command, "--sweep gpu=", {"--gpu-spec"});
}

Result<std::vector<std::string>> swept_strategies(const SimulateOptions& options) {
  std::vector<std::string> all = options.strategies;
  for (const std::string& sweep : options.sweeps) {
    DRAFTSCOPE_TRY_ASSIGN(const Axis axis, parse_axis(sweep));
    if (is_machine_key(axis.key)) continue;
    if (options.strategies.empty())
      return fail("--sweep {}: found no --strategy, expected one whose {} it varies, or a key of {}", sweep,
                  quote(axis.key), fmt::join(machine_keys, ", "));
    DRAFTSCOPE_TRY_ASSIGN(all, swept(all, axis, sweep));
  }
  return all;
}

Result<std::vector<Machine>> swept_machines(const SimulateOptions& options, const Scenario& recorded) {
  Scenario base = recorded;
  base.batch = options.batch;
  base.tensor_parallel = options.tensor_parallel;
  if (!options.model.empty()) DRAFTSCOPE_TRY(set(base, "model", options.model));
  if (!options.weights.empty()) DRAFTSCOPE_TRY(set(base, "weights", options.weights));
  if (!options.regime.empty()) DRAFTSCOPE_TRY(set(base, "regime", options.regime));
  if (!options.host.empty()) DRAFTSCOPE_TRY(set(base, "host", options.host));
  DRAFTSCOPE_TRY_ASSIGN(base.draft_cost, draft_cost_of(options));
  std::vector<AskedMachine> all;
  for (const std::string& gpu : options.gpus) {
    all.push_back({base, nullptr});
    DRAFTSCOPE_TRY(set(all.back().scenario, "gpu", gpu));
  }
  for (const std::string& path : options.gpu_specifications) {
    all.push_back({base, nullptr});
    DRAFTSCOPE_TRY_ASSIGN(all.back().scenario.gpu, simulator::read_gpu_specification(path));
  }
  for (const std::string& path : options.calibrations) {
    DRAFTSCOPE_TRY_ASSIGN(simulator::MachineCalibration calibration, simulator::read_calibration(path));
    all.push_back({base, std::make_shared<const CalibratedMachine>(std::move(calibration))});
  }
  if (all.empty()) all.push_back({base, nullptr});
  std::vector<std::string> swept_keys;
  for (const std::string& sweep : options.sweeps) {
    DRAFTSCOPE_TRY_ASSIGN(const Axis axis, parse_axis(sweep));
    if (!is_machine_key(axis.key)) continue;
    if (std::find(swept_keys.begin(), swept_keys.end(), axis.key) != swept_keys.end())
      return fail("--sweep {}: found another --sweep of {}, expected one", sweep, axis.key);
    swept_keys.push_back(axis.key);
    if (axis.key == "gpu" && !options.calibrations.empty())
      return fail("--sweep {}: found --calibration, which is of one machine, expected one of them", sweep);
    std::vector<AskedMachine> more;
    for (const AskedMachine& asked : all)
      for (const std::string& value : axis.values) {
        more.push_back(asked);
        DRAFTSCOPE_TRY(set(more.back().scenario, axis.key, value));
      }
    all = std::move(more);
  }
  std::vector<Machine> machines;
  for (AskedMachine& asked : all) {
    DRAFTSCOPE_TRY_ASSIGN(Machine machine, simulator::asked_machine(std::move(asked.scenario), recorded,
                                                                    asked.calibrated.get()));
    machine.price_per_hour = options.price;
    machine.power_watts = options.power;
    machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace draftscope::cli
