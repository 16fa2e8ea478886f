// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/answers/sweep.h>
#include <memory>
#include <string>

#include "prices/costs/cost_prices.h"
#include "prices/costs/normal_draws.h"

namespace draftscope::simulator {

/// Mean prices and their draws, of which those of all sources are each made once, however often they are
/// asked for: speed and speedup at both ends ask for the same ones. `normals` are of the options' seed, and
/// of no other target that is drawn from at the same time; null: none are kept.
[[nodiscard]] SweepTarget cached_draws(const PriceMap& map, const std::string& name,
                                       const SweepOptions& options,
                                       std::shared_ptr<CachedNormals> normals = nullptr);

}  // namespace draftscope::simulator
