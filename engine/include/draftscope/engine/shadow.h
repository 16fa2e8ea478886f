// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shadow tokens: what every layer would have predicted at every position of a text, from one pass over it
// after it was decoded. For exits these are the draft's own predictions, bit for bit (batch-invariance), so
// that other exits, lengths and thresholds can be replayed from them.

#include <draftscope/engine/backend.h>
#include <draftscope/result.h>
#include <cstdint>
#include <functional>
#include <span>

namespace draftscope::engine {

struct ShadowToken {
  std::int32_t position = 0;   ///< of the token that is predicted
  std::int32_t layer = 0;      ///< boundary, 1 … n_layers; n_layers = the target itself
  std::int32_t token = -1;     ///< the best one, ties to the lower id
  double probability = 0.0;    ///< its, at temperature 1
  double margin = 0.0;         ///< best logit minus the second best
  std::int32_t true_rank = 0;  ///< of the text's own token: how many are better, ties to the lower id
};

/// Visits positions [first, text.size()) for every layer, layer by layer within a run of positions. Expects
/// that the backend has just decoded `text`, so that K/V of all but its last token is in the cache, and
/// leaves it there. 1 ≤ first.
[[nodiscard]] Result<void> shadow_tokens(Backend& backend, std::span<const std::int32_t> text,
                                         std::int32_t first,
                                         const std::function<void(const ShadowToken&)>& visit);

}  // namespace draftscope::engine
