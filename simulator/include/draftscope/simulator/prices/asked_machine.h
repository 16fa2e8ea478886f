// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The machine of a question: a scenario on the recorded machine, on a specified GPU, or on a calibrated
// machine (calibration.h). Users may describe machines and models by files.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/calibration.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::simulator {

/// A machine, with a name that tables can show.
struct Machine {
  std::string name;
  Scenario scenario;
  /// Costs that were measured on this machine (calibration.h); null = those of the recording.
  std::shared_ptr<const CostModel> costs;
  std::vector<CostNote> cost_notes;      ///< Basis of `costs`; these notes come before the notes of prices.
  std::optional<double> price_per_hour;  ///< Price of all its GPUs, in any currency; absent if not given.
  std::optional<double> power_watts;     ///< Total power while it decodes; absent if not given.

  [[nodiscard]] const CostModel& costs_or(const CostModel& trained) const { return costs ? *costs : trained; }
};

/// A calibration, with the cost models for each shape and number type that was asked about. Each is fitted
/// once, which takes longer than an answer. Thread-safe.
class CalibratedMachine {
 public:
  struct Costs {
    std::shared_ptr<const CostModel> model;
    std::vector<CostNote> notes;
  };

  explicit CalibratedMachine(MachineCalibration calibration) : calibration_(std::move(calibration)) {}

  [[nodiscard]] const MachineCalibration& calibration() const { return calibration_; }
  /// "AMD EPYC, 2 threads (calibrated)".
  [[nodiscard]] std::string name() const { return calibration_.name() + " (calibrated)"; }
  /// Errors: those of calibrated_model().
  [[nodiscard]] Result<Costs> costs(const ModelShape& shape, WeightType weights) const;

 private:
  struct Known {
    ModelShape shape;
    WeightType weights = WeightType::bf16;
    Costs costs;
  };

  MachineCalibration calibration_;
  mutable std::mutex mutex_;
  mutable std::vector<Known> known_;
};

/// Machine of a scenario; its name says what differs from `recorded`. With a calibrated machine the scenario
/// must not name a GPU. Errors: a scenario that contradicts itself, those of the calibration.
[[nodiscard]] Result<Machine> asked_machine(Scenario scenario, const Scenario& recorded,
                                            const CalibratedMachine* calibrated = nullptr);

/// A machine that a file describes, by specification or calibration.
struct MachineFile {
  std::filesystem::path path;
  std::optional<GpuSpecification> gpu;                  ///< A user-defined specification.
  std::shared_ptr<const CalibratedMachine> calibrated;  ///< Otherwise the result of `draftscope calibrate`.
};

/// Reads a file of `draftscope calibrate -o` (a JSON object with a `format`), or a GPU specification. Errors:
/// those of parse_calibration() and parse_gpu_specification(), or a file that can't be read.
[[nodiscard]] Result<MachineFile> read_machine_file(const std::filesystem::path& path);
[[nodiscard]] Result<MachineCalibration> read_calibration(const std::filesystem::path& path);
[[nodiscard]] Result<GpuSpecification> read_gpu_specification(const std::filesystem::path& path);

/// Host time of an engine by its name, or from a file if the text ends in ".json". Errors: those of
/// find_host_time() and parse_host_time(), or a file that can't be read.
[[nodiscard]] Result<HostTime> host_time_of(const std::string& name_or_file);

/// Shape of a model by its published name, or from a config.json if the text ends in ".json". Errors: those
/// of planned_model_of() (layer_plan.h).
[[nodiscard]] Result<ModelShape> model_shape_of(const std::string& name_or_file);

/// Sets a scenario's shape and plan. Errors: those of planned_model_of().
[[nodiscard]] Result<void> set_model(Scenario& scenario, const std::string& name_or_file);

}  // namespace draftscope::simulator
