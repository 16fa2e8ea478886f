// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recordings whose costs are known: every time is what a given cost model says, with noise and outliers.

#include <draftscope/simulator/cost_model.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct PlantedSetting {
  std::int32_t exit = 0;  ///< 0: vanilla
  std::int32_t gamma = 0;
};

struct PlantedTrace {
  CostModel truth;
  std::vector<PlantedSetting> settings;
  std::string device = "cpu";  ///< anything else is a GPU, whose operations are kernels
  bool with_operations = true;
  int rounds_a_setting = 60;
  double noise = 0.05;
  double outliers = 0.02;  ///< share of times that are 1.5 to 4 times as long
};

/// Expects that the file can be written.
void write_planted_trace(const PlantedTrace& planted, const std::filesystem::path& path);

/// A machine without a specification: 8 layers of a small model.
[[nodiscard]] CostModel planted_cpu();

}  // namespace draftscope::simulator
