// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace draftscope::engine {

/// A random mix of strategies' parts with random parameters, for a model of at least three layers. Searches
/// are frequent, so that short texts reach many of them.
[[nodiscard]] std::string random_mix(std::mt19937& random, std::int32_t n_layers, bool takes_weights = false);

}  // namespace draftscope::engine
