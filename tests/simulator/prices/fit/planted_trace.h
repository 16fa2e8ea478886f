// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings with known costs: every time follows a given cost model, with noise and outliers.

#include <draftscope/simulator/prices/cost_model.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct PlantedSetting {
  std::int32_t exit = 0;  ///< 0 = vanilla
  std::int32_t gamma = 0;
  std::int32_t planned = 0;  ///< Planned draft tokens; 0 = gamma
};

struct PlantedTrace {
  CostModel truth;
  std::vector<PlantedSetting> settings;
  std::string device = "cpu";  ///< Any other value is a GPU, whose operations are kernels.
  bool with_operations = true;
  std::int64_t early_ns = 0;  ///< Time by which GPU kernels begin too early; they wait for the previous one.
  int rounds_per_setting = 300;
  double noise = 0.05;
  double outliers = 0.02;  ///< Share of times that are 1.5 to 4 times as long.
  /// Factors of passes that no parameter describes: of target passes by rows and of draft steps by exit.
  std::map<std::int32_t, double> of_rows, of_exit;
  std::string version;                ///< Version of the program that recorded it; empty = not recorded
  double interrupted_every_ns = 0.0;  ///< Period of interruptions by `interruption_ns`; 0 = never.
  double interruption_ns = 0.0;
};

/// Mean of times / time by the law, without interruptions.
[[nodiscard]] double mean_factor(const PlantedTrace& planted);

/// Writes the recording. The file must be writable.
void write_planted_trace(const PlantedTrace& planted, const std::filesystem::path& path);

/// A machine without a specification: 8 layers of a small model.
[[nodiscard]] CostModel planted_cpu();

}  // namespace draftscope::simulator
