// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The settings of a grid: each base strategy with every combination of those axes that it has and does not
// set.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace draftscope::engine {

struct Grid {
  std::vector<std::string> bases;
  std::vector<std::int32_t> exits;
  std::vector<std::int32_t> gammas;
  std::vector<double> thresholds;
};

/// LayerSkip, FS, DV and a fixed threshold over six exits from L/8 to 3L/4. Adds drafts by all layers on
/// 8-bit and 4-bit weights, if the backend makes them (BackendDescription::draft_formats).
[[nodiscard]] Grid default_grid(std::int32_t n_layers, std::span<const speculation::WeightFormat> formats);

/// Names of the parameters that a base strategy has and does not set. Fails on a strategy that is impossible
/// for the model.
[[nodiscard]] Result<std::set<std::string>> open_parameters(const std::string& base,
                                                            const speculation::ModelShape& shape);

/// Strategy specifications without duplicates. Fails on a setting that is impossible for the model.
[[nodiscard]] Result<std::vector<std::string>> grid_settings(const Grid& grid,
                                                             const speculation::ModelShape& shape);

/// Draws `count` of the settings without replacement and returns them in the grid's order; all if there are
/// no more. A seed gives the same settings on every machine.
[[nodiscard]] std::vector<std::string> sample_settings(std::vector<std::string> settings, std::size_t count,
                                                       std::uint64_t seed);

}  // namespace draftscope::engine
