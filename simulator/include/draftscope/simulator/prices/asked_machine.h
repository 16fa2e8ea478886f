// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The machine of a question: a scenario on the recorded machine or a specified GPU, or on one that was
// measured (calibration.h). Machines and models may be described by files of the user's.

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
  /// Costs that were measured there (calibration.h); null: those of the recording.
  std::shared_ptr<const CostModel> costs;
  std::vector<CostNote> cost_notes;      ///< what `costs` rest on, before the notes of prices
  std::optional<double> price_per_hour;  ///< of all its GPUs, in whatever currency; absent: not given
  std::optional<double> power_watts;     ///< that all of it draws while it decodes; absent: not given

  [[nodiscard]] const CostModel& costs_or(const CostModel& trained) const { return costs ? *costs : trained; }
};

/// A calibration, with the costs that follow from it for each shape and number type that was asked about:
/// fitted once, which takes longer than an answer. Thread-safe.
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
  /// Errors: as calibrated_model().
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

/// The machine of a scenario; its name says what differs from `recorded`. With a calibrated machine the
/// scenario names no GPU. Errors: a scenario that contradicts itself, those of the calibration.
[[nodiscard]] Result<Machine> asked_machine(Scenario scenario, const Scenario& recorded,
                                            const CalibratedMachine* calibrated = nullptr);

/// A machine that a file describes, one way or the other.
struct MachineFile {
  std::filesystem::path path;
  std::optional<GpuSpecification> gpu;                  ///< a specification of one's own
  std::shared_ptr<const CalibratedMachine> calibrated;  ///< else what `draftscope calibrate` measured
};

/// Reads what `draftscope calibrate -o` wrote (a JSON object with a `format`), or a GPU specification.
/// Errors: as parse_calibration() and parse_gpu_specification(), or a file that can't be read.
[[nodiscard]] Result<MachineFile> read_machine_file(const std::filesystem::path& path);
[[nodiscard]] Result<MachineCalibration> read_calibration(const std::filesystem::path& path);
[[nodiscard]] Result<GpuSpecification> read_gpu_specification(const std::filesystem::path& path);

/// Time of an engine beside passes by its name, or by a file if it ends in ".json". Errors: as
/// find_host_time() and parse_host_time(), or a file that can't be read.
[[nodiscard]] Result<HostTime> host_time_of(const std::string& name_or_file);

/// Shape of a model by its published name, or by a config.json if it ends in ".json". Errors: as
/// speculation::find_model_shape() and parse_model_sizes(), or a file that can't be read.
[[nodiscard]] Result<ModelShape> model_shape_of(const std::string& name_or_file);

}  // namespace draftscope::simulator
