// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calibrations of machines with known costs: every sample follows a given cost model, with noise and
// outliers.

#include <draftscope/simulator/prices/calibration.h>
#include <cstdint>

namespace draftscope::simulator {

struct PlantedCalibration {
  CostModel truth;
  bool with_operations = true;  ///< As on a CPU; else passes without some sublayers, as on a GPU.
  int samples = 200;            ///< Samples per kernel.
  double noise = 0.05;
  double outliers = 0.02;  ///< Share of samples that are 1.5 to 4 times as long.
  std::uint64_t seed = 11;
};

/// A calibration of the model's own shape, with the kernels that `draftscope calibrate` measures.
[[nodiscard]] MachineCalibration planted_calibration(const PlantedCalibration& planted);

/// A processor that reads weights at 40 GB/s and adds 50 µs to every product; 8 layers.
[[nodiscard]] CostModel planted_processor();

/// An H200 whose engine has launches half as fast again as specified and four fifths of the bandwidth.
[[nodiscard]] CostModel planted_gpu();

}  // namespace draftscope::simulator
