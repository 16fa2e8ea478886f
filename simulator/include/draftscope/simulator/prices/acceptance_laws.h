// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How many tokens of a drawn chain stay, by what target and draft give them. `ratios` has p(x) / q(x) of each
// token in order: the target's probability of the token over the draft's, which is above 0. Means over drafts
// that are drawn from q are the expected accepted lengths of a round. Pure, safe from any thread.

#include <span>

namespace draftscope::simulator {

/// Token by token (Leviathan et al. 2023): Σ over i of Π min(r₁, 1) … min(rᵢ, 1).
[[nodiscard]] double accepted_by_token(std::span<const double> ratios);

/// As a block (Sun et al. 2025, Block Verification): given the first i tokens they all stay with probability
/// pᵢ = min(pᵢ₋₁·rᵢ, 1), p₀ = 1, whatever length the chain has; Σ pᵢ. Never below accepted_by_token().
[[nodiscard]] double accepted_by_block(std::span<const double> ratios);

}  // namespace draftscope::simulator
