// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calibrations of machines whose costs are known: every sample is what a given cost model says, with noise
// and outliers.

#include <draftscope/simulator/prices/calibration.h>
#include <cstdint>

namespace draftscope::simulator {

struct PlantedCalibration {
  CostModel truth;
  bool with_operations = true;  ///< as on a CPU; else passes with sublayers left out, as on a GPU
  int samples = 200;            ///< a kernel
  double noise = 0.05;
  double outliers = 0.02;  ///< share of samples that are 1.5 to 4 times as long
  std::uint64_t seed = 11;
};

/// A calibration of the model's own shape, with the kernels that `draftscope calibrate` measures.
[[nodiscard]] MachineCalibration planted_calibration(const PlantedCalibration& planted);

/// A processor that reads weights at 40 GB/s and takes 50 µs a product beside, all of them alike; 8 layers.
[[nodiscard]] CostModel planted_processor();

/// An H200 whose engine launches half as fast again as the specification says and streams at four fifths.
[[nodiscard]] CostModel planted_gpu();

}  // namespace draftscope::simulator
