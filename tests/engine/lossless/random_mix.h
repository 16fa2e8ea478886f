// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace draftscope::engine {

/// Any mix of strategies' parts with any parameters, for a model of at least three layers. Searches are
/// frequent, so that short texts meet many.
[[nodiscard]] std::string random_mix(std::mt19937& random, std::int32_t n_layers, bool takes_weights = false);

}  // namespace draftscope::engine
