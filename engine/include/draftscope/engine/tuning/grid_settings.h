// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The settings of a grid: each base strategy with every combination of the axes that it has and leaves open.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
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

/// LayerSkip, FS, DV and a fixed threshold over six exits from L/8 to 3L/4, and drafts by all layers on
/// weights of eight bits and of four, as far as the backend makes them (BackendDescription::draft_formats).
[[nodiscard]] Grid default_grid(std::int32_t n_layers, std::span<const speculation::WeightFormat> formats);

/// Strategy specifications, each once. Fails on a setting that the model can't have.
[[nodiscard]] Result<std::vector<std::string>> grid_settings(const Grid& grid,
                                                             const speculation::ModelShape& shape);

/// `count` of the settings, drawn without replacement, in the grid's order; all if there are no more. A seed
/// gives the same settings everywhere.
[[nodiscard]] std::vector<std::string> sample_settings(std::vector<std::string> settings, std::size_t count,
                                                       std::uint64_t seed);

}  // namespace draftscope::engine
