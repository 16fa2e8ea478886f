// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shadow tokens: the prediction of every layer at every position of a text, from one pass over the text after
// it was decoded. For exits these are the draft's own predictions, bit for bit (batch invariance), so that
// other exits, lengths and thresholds can be replayed from them.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <functional>
#include <span>

namespace draftscope::engine {

/// Predicts every token of a text from every layer. Visits positions [first, text.size()) for every layer,
/// layer by layer within a run of positions; the visitor sets `request`. The backend must have just decoded
/// `text`, so that K/V of all but its last token is in the cache; it stays there. Fails on a first position
/// below 1 or past the end, on logits that form no distribution, and as the backend does.
[[nodiscard]] Result<void> shadow_tokens(Backend& backend, std::span<const std::int32_t> text,
                                         std::int32_t first,
                                         const std::function<void(const traces::ShadowToken&)>& visit);

}  // namespace draftscope::engine
