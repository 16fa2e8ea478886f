// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/prices/calibration.h>
#include <vector>

namespace draftscope::simulator {

/// The shapes whose kernels price `shape`: those that are on its side of the last cache; all of them if none
/// is or nobody knows the cache.
[[nodiscard]] std::vector<const CalibratedShape*> pricing_shapes(const MachineCalibration& calibration,
                                                                 const ModelShape& shape, WeightType weights);

/// Whether a step's weights stay in the last cache; false where that is unknown.
[[nodiscard]] bool stays_in_cache(const MachineCalibration& calibration, const ModelShape& shape,
                                  WeightType weights);

/// The fit without one kernel, or with all if `without` is null. Errors: as fit_calibration().
[[nodiscard]] Result<CostFit> fit_kernels(const MachineCalibration& calibration,
                                          const std::vector<const CalibratedShape*>& shapes,
                                          const speculation::MeasuredKernel* without);

}  // namespace draftscope::simulator
