// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts with shadow tables, and prices, drawn at random.

#include <draftscope/simulator/prices/prices.h>

#include <cstdint>
#include <random>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

struct RandomTextShape {
  std::int32_t positions = 10;  ///< that rounds draft
  std::int32_t layers = 4;
  bool ended_at_eos = false;
};

/// Deeper layers match more often; matches come in easy and hard stretches, and confidences tell something.
ShadowTable random_text(std::mt19937& random, const RandomTextShape& shape);

struct RandomPriceShape {
  std::int32_t layers = 4;
  std::int32_t longest = 4;
  /// Every time on its own, so that wider passes can be cheaper; otherwise what more layers and rows cost.
  bool is_rough = false;
};

Prices random_prices(std::mt19937& random, const RandomPriceShape& shape);

double uniform(std::mt19937& random, double low, double high);

}  // namespace draftscope::simulator
