// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Models that a calibration measures: those that --model names, or shapes for this machine.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/simulator/prices/calibration.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "options/model_options.h"

namespace draftscope::cli {

/// Bytes of the processor's last cache; 0 = unknown.
[[nodiscard]] double last_cache_bytes();

/// Models to open, as open_calibration_model() takes them: the names given, or where there are none a model
/// that is streamed from memory and, on a processor whose cache is known, one that stays in it.
[[nodiscard]] std::vector<std::string> calibration_models(const std::vector<std::string>& named,
                                                          const std::string& device);

/// A folder, "synthetic:NAME[,…]", the name of a published model, or "cached": weights that take half of the
/// last cache. Errors: as open_model().
[[nodiscard]] Result<LoadedModel> open_calibration_model(const std::string& name,
                                                         const ModelOptions& options);

/// The simulator's words for a checkpoint on a backend.
[[nodiscard]] Result<simulator::CalibratedShape> calibrated_shape(const engine::Checkpoint& checkpoint,
                                                                  const ModelOptions& options);

}  // namespace draftscope::cli
