// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the target gave the tokens of a drawn draft, those behind the first rejected one included: what the
// law of another acceptance needs (docs/methods.md, Exact acceptance), and a round that goes token by token
// has not looked at.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/engine/sampling.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// The target's probability of each token of the chain, behind the text up to the root and the tokens before,
/// warped as draws are; the chain ends early where its logits make no distribution. The cache holds the K/V
/// of the text before the root; rows from the root on are written over. Sampling without a repetition
/// penalty. Errors: as Backend::forward().
[[nodiscard]] Result<std::vector<double>> target_probabilities(Backend& backend,
                                                               std::span<const std::int32_t> text,
                                                               const DrawnChain& chain,
                                                               const SamplingOptions& sampling);

}  // namespace draftscope::engine
