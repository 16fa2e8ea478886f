// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An objective with a known best set: the losses of sublayers are independent, so that skipping the cheapest
// ones is best.

#include <draftscope/speculation/sublayer_mask.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace draftscope::engine {

inline std::int32_t skipped_of(const speculation::SublayerMask& mask) {
  std::int32_t skipped = 0;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer)
    skipped += (mask.runs_attention(layer) ? 0 : 1) + (mask.runs_mlp(layer) ? 0 : 1);
  return skipped;
}

/// Cost of skipping sublayer 2ℓ (attention) or 2ℓ + 1 (MLP). The costs are irregular, so that no order of
/// layers helps.
inline double loss(std::int32_t sublayer) {
  return (1.0 + (7 * sublayer) % 23) / 460.0;
}

/// Score in (0, 1], which is higher where less is lost.
inline double worth(const speculation::SublayerMask& mask) {
  double sum = 0.0;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    if (!mask.runs_attention(layer)) sum += loss(2 * layer);
    if (!mask.runs_mlp(layer)) sum += loss(2 * layer + 1);
  }
  return 1.0 / (1.0 + sum);
}

/// The nine sublayers of layers 1 … 10 that cost least.
inline speculation::SublayerMask best_of_twelve() {
  std::vector<std::int32_t> sublayers;
  for (std::int32_t sublayer = 2; sublayer < 22; ++sublayer) sublayers.push_back(sublayer);
  std::sort(sublayers.begin(), sublayers.end(),
            [](std::int32_t a, std::int32_t b) { return loss(a) < loss(b); });
  speculation::SublayerMask mask(12);
  for (std::size_t i = 0; i < 9; ++i) {
    if (sublayers[i] % 2 == 0)
      mask.skip_attention(sublayers[i] / 2);
    else
      mask.skip_mlp(sublayers[i] / 2);
  }
  return mask;
}

}  // namespace draftscope::engine
