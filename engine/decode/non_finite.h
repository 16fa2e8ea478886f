// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What can be told of logits that make no distribution: which they are, which layer is the first whose output
// is not finite, and which of its tensors. Known by running the tokens again, layer boundary by layer
// boundary: an error's line may take its time.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <cstdint>
#include <span>
#include <string>

namespace draftscope::engine {

/// Tokens of which the last one's logits make no distribution.
struct NonFiniteRow {
  std::span<const std::int32_t> tokens;
  std::int32_t first = 0;  ///< position and cache row of the first of `tokens`; K/V below it is there
  std::int32_t row = -1;   ///< row of the last token in its verification; -1 = in the prefill
};

/// The line for it. Writes K/V of its tokens.
[[nodiscard]] Error non_finite(Backend& backend, const NonFiniteRow& row);

/// "3 of 32000 are not finite, first nan at token 5", of logits that make no distribution: those that are NaN
/// or +∞, or, if none is, all of them. Empty if they make one.
[[nodiscard]] std::string non_finite_logits(std::span<const float> logits);

}  // namespace draftscope::engine
