// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Closed forms from papers for tokens per round and speedup, and their inverses. Rates and ratios have no
// unit; costs (c, v, o) are in target steps. All are pure functions of their arguments, safe from any thread.
// An argument outside its domain, NaN included, is an error that names it.
//
// α here is *iid*: the probability that a draft token is accepted once all before it were, the same at every
// position. It is not accepted / drafted (figures.h), which falls with γ; iid_acceptance_rate turns a
// measured M and γ into it. Only round_speedup takes measured values instead.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <span>

namespace draftscope::simulator {

/// M = (1 − α^(γ+1)) / (1 − α), the bonus token included; γ + 1 at α = 1. Leviathan et al. 2023, Equation 1.
/// α in [0, 1], γ ≥ 0.
[[nodiscard]] Result<double> expected_tokens(double alpha, std::int32_t gamma);

/// S = M(α, γ) / (γ·c + 1): a verification costs one target step and everything else is free. Leviathan et
/// al. 2023, Theorem 3.8. c ≥ 0.
[[nodiscard]] Result<double> leviathan_speedup(double alpha, std::int32_t gamma, double c);

/// Inverse of expected_tokens(α, γ) = M in α, to the last bits of a double. γ ≥ 1, M in [1, γ + 1].
[[nodiscard]] Result<double> iid_acceptance_rate(double mean_accepted_length, std::int32_t gamma);

/// Mean costs of rounds, in target steps.
struct RoundCost {
  double steps_per_round = 0.0;  ///< γ̄, draft steps
  double c = 0.0;                ///< Cost of one draft step.
  double v = 1.0;                ///< Cost of one verification.
  double o = 0.0;                ///< Cost of everything else in a round.
};

/// S = M / (γ̄·c + v + o): an identity of measured means, which holds for any distribution of lengths. M ≥ 0
/// (below 1 only where an end of text cut rounds), costs ≥ 0, their sum above 0. SWIFT's Equation 6 is this
/// at γ̄ = (M − 1) / (accepted / drafted), c = 1 − the skip ratio, v = 1 and o = 0.
[[nodiscard]] Result<double> round_speedup(double mean_accepted_length, const RoundCost& cost);

/// TPL = M(α, γ) / (γ·E + L), tokens per loaded layer. In DEL's definition of TPL, γ draft steps load E
/// layers each and a verification all L. `draft_layers` is E for an early exit, half a layer per kept
/// sublayer otherwise. E in [0, L], L ≥ 1.
[[nodiscard]] Result<double> tokens_per_loaded_layer(double alpha, std::int32_t gamma, double draft_layers,
                                                     std::int32_t n_layers);

/// Minimum acceptance at which a setting pays: S = 1 solved at measured costs, where the papers have v = 1
/// and o = 0.
struct BreakEven {
  double mean_accepted_length = 0.0;  ///< M = γ̄·c + v + o, for any distribution (round_speedup).
  /// accepted / drafted at that M: (M − 1) / γ̄, at least 0. Above 1 the setting never pays.
  double acceptance_rate = 0.0;
  /// The iid α at which expected_tokens(α, γ) yields exactly its cost. Absent without a planned γ, and where
  /// not even α = 1 suffices. At 0 a round pays with its bonus token alone.
  std::optional<double> alpha;
};

/// Computes the break-even. `gamma` is the planned length of a setting with fixed length; α is at a round of
/// that length, not at the mean of cut ones. Errors: those of round_speedup(), draft steps that are not above
/// 0, γ below 1.
[[nodiscard]] Result<BreakEven> break_even(const RoundCost& cost, std::optional<std::int32_t> gamma = {});

// Expected number of accepted tokens of a drawn chain, given target and draft probabilities. `ratios` has
// p(x) / q(x) of each token in order: the target's probability of the token over the draft's, which is above
// 0. Means over drafts that are drawn from q are the expected accepted lengths of a round. Pure, safe from
// any thread.

/// Acceptance token by token (Leviathan et al. 2023): Σ over i of Π min(r₁, 1) … min(rᵢ, 1).
[[nodiscard]] double accepted_by_token(std::span<const double> ratios);

/// Acceptance as a block (Sun et al. 2025, Block Verification). The first i tokens are all accepted with
/// probability pᵢ = min(pᵢ₋₁·rᵢ, 1), p₀ = 1, whatever length the chain has; the result is Σ pᵢ. Never below
/// accepted_by_token().
[[nodiscard]] double accepted_by_block(std::span<const double> ratios);

}  // namespace draftscope::simulator
