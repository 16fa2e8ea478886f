// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prices/asked_machine.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace draftscope::simulator {

Result<CalibratedMachine::Costs> CalibratedMachine::costs(const ModelShape& shape, WeightType weights) const {
  const std::scoped_lock lock(mutex_);
  for (const Known& known : known_)
    if (known.shape == shape && known.weights == weights) return known.costs;
  DRAFTSCOPE_TRY_ASSIGN(CostModel model, calibrated_model(calibration_, shape, weights));
  DRAFTSCOPE_TRY_ASSIGN(std::vector<CostNote> notes, calibration_notes(calibration_, shape, weights));
  known_.push_back({shape, weights, {std::make_shared<const CostModel>(std::move(model)), std::move(notes)}});
  return known_.back().costs;
}

Result<Machine> asked_machine(Scenario scenario, const Scenario& recorded,
                              const CalibratedMachine* calibrated) {
  DRAFTSCOPE_TRY(check_scenario(scenario));
  std::string name = scenario_name(scenario, recorded, calibrated != nullptr ? calibrated->name() : "");
  Machine machine{.name = std::move(name), .scenario = std::move(scenario)};
  if (calibrated == nullptr) return machine;
  DRAFTSCOPE_TRY_ASSIGN(CalibratedMachine::Costs costs,
                        calibrated->costs(machine.scenario.shape, machine.scenario.weights));
  machine.costs = std::move(costs.model);
  machine.cost_notes = std::move(costs.notes);
  return machine;
}

Result<MachineCalibration> read_calibration(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_settings_bytes));
  return parse_calibration(text, path.string());
}

Result<GpuSpecification> read_gpu_specification(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_settings_bytes));
  return parse_gpu_specification(text, path.string());
}

Result<MachineFile> read_machine_file(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(path, max_settings_bytes));
  MachineFile file{.path = path, .gpu = {}, .calibrated = {}};
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("format")) {
    DRAFTSCOPE_TRY_ASSIGN(MachineCalibration calibration, parse_calibration(text, path.string()));
    file.calibrated = std::make_shared<const CalibratedMachine>(std::move(calibration));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(file.gpu, parse_gpu_specification(text, path.string()));
  }
  return file;
}

Result<HostTime> host_time_of(const std::string& name_or_file) {
  if (!name_or_file.ends_with(".json")) return find_host_time(name_or_file);
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(name_or_file, max_settings_bytes));
  return parse_host_time(text, name_or_file);
}

Result<ModelShape> model_shape_of(const std::string& name_or_file) {
  DRAFTSCOPE_TRY_ASSIGN(PlannedModel model, planned_model_of(name_or_file));
  return std::move(model.shape);
}

Result<void> set_model(Scenario& scenario, const std::string& name_or_file) {
  DRAFTSCOPE_TRY_ASSIGN(PlannedModel model, planned_model_of(name_or_file));
  scenario.shape = std::move(model.shape);
  scenario.plan = std::move(model.plan);
  scenario.has_next_token_layer = false;
  return {};
}

}  // namespace draftscope::simulator
