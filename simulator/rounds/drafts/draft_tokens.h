// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/reader.h>
#include <span>

namespace draftscope::simulator {

/// Draft tokens of the round, in the order of their indices; empty if the recording has none.
/// O(log(draft tokens)).
[[nodiscard]] std::span<const traces::DraftToken> draft_tokens_of(const traces::Recording& recording,
                                                                  traces::RoundId round_id);

}  // namespace draftscope::simulator
