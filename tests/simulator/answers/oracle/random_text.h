// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random texts with shadow tables, and random prices.

#include <draftscope/simulator/answers/waterfall.h>
#include <draftscope/simulator/prices/prices.h>

#include <cstdint>
#include <random>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

struct RandomTextShape {
  std::int32_t positions = 10;  ///< Positions that rounds draft.
  std::int32_t layers = 4;
  bool ended_at_eos = false;
};

/// Returns a random text. Deeper layers match more often; matches come in easy and hard sequences, and
/// confidences are informative.
ShadowTable random_text(std::mt19937& random, const RandomTextShape& shape);

/// The rounds of the text with one fixed setting.
RoundStatistics fixed_setting(const ShadowTable& table, FixedSetting setting);

struct RandomPriceShape {
  std::int32_t layers = 4;
  std::int32_t longest = 4;
  /// Whether all times are independent, so that wider passes can be cheaper; otherwise they grow with layers
  /// and rows.
  bool is_rough = false;
};

Prices random_prices(std::mt19937& random, const RandomPriceShape& shape);

double uniform(std::mt19937& random, double low, double high);

}  // namespace draftscope::simulator
