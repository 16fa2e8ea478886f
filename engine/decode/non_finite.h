// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Explains logits that form no distribution: which logits they are, the first layer whose output is not
// finite, and which of its tensors is not. The tokens are run again, layer boundary by layer boundary; this
// may be slow, since it only serves an error message.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <cstdint>
#include <span>
#include <string>

namespace draftscope::engine {

/// Tokens, the last of which has logits that form no distribution.
struct NonFiniteRow {
  std::span<const std::int32_t> tokens;
  std::int32_t first = 0;  ///< position and cache row of the first of `tokens`; K/V below it is in the cache
  std::int32_t row = -1;   ///< row of the last token in its verification; -1 = in the prefill
};

/// The error line for the row. Overwrites K/V of its tokens.
[[nodiscard]] Error non_finite(Backend& backend, const NonFiniteRow& row);

/// Describes logits that form no distribution: "3 of 32000 are not finite, first nan at token 5". It counts
/// those that are NaN or +∞ or, if none is, all of them. Empty if they form one.
[[nodiscard]] std::string non_finite_logits(std::span<const float> logits);

}  // namespace draftscope::engine
