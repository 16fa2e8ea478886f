// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The papers' closed forms of tokens per round and speedup, and their inverses. Rates and ratios have no
// unit; costs (c, v, o) are in target steps. All are pure functions of their arguments, safe from any thread.
// An argument outside its domain, NaN included, is an error that names it.
//
// α here is *iid*: the probability that a draft token is accepted once all before it were, the same at every
// position. It is not accepted / drafted (figures.h), which falls with γ; iid_acceptance_rate turns a
// measured M and γ into it. Only swift_speedup and round_speedup take what was measured instead.

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <span>

namespace draftscope::simulator {

/// M = (1 − α^(γ+1)) / (1 − α), the bonus token included; γ + 1 at α = 1.
/// Leviathan et al. 2023, Equation 1. α in [0, 1], γ ≥ 0.
[[nodiscard]] Result<double> expected_tokens(double alpha, std::int32_t gamma);

/// S = M(α, γ) / (γ·c + 1): a verification costs one target step, nothing else costs anything.
/// Leviathan et al. 2023, Theorem 3.8. c ≥ 0.
[[nodiscard]] Result<double> leviathan_speedup(double alpha, std::int32_t gamma, double c);

/// The α whose expected_tokens(α, γ) is M, to the last bits of a double. γ ≥ 1, M in [1, γ + 1].
[[nodiscard]] Result<double> iid_acceptance_rate(double mean_accepted_length, std::int32_t gamma);

/// Mean costs of rounds, in target steps.
struct RoundCost {
  double steps_per_round = 0.0;  ///< γ̄, draft steps
  double c = 0.0;                ///< Cost of one draft step.
  double v = 1.0;                ///< Cost of one verification.
  double o = 0.0;                ///< Cost of everything else in a round.
};

/// S = M / (γ̄·c + v + o): accounting of measured means, which holds whatever the distribution of lengths.
/// M ≥ 0 (below 1 only where an end of text cut rounds), costs ≥ 0, their sum above 0.
[[nodiscard]] Result<double> round_speedup(double mean_accepted_length, const RoundCost& cost);

/// S = M·α / ((M − 1)·c + α) with α = accepted / drafted, so that γ̄ = (M − 1) / α: round_speedup at v = 1 and
/// o = 0. SWIFT, Equation 6, where c = 1 − r of skip ratio r. M ≥ 1, α in (0, 1], c ≥ 0.
[[nodiscard]] Result<double> swift_speedup(double mean_accepted_length, double acceptance_rate, double c);

/// TPL = M(α, γ) / (γ·E + L), tokens per loaded layer. DEL, its definition of TPL: γ draft steps load E
/// layers each, a verification all L. `draft_layers` is E of an early exit, half a layer a kept sublayer
/// otherwise. E in [0, L], L ≥ 1.
[[nodiscard]] Result<double> tokens_per_loaded_layer(double alpha, std::int32_t gamma, double draft_layers,
                                                     std::int32_t n_layers);

/// eTPL = M / (γ̄·E + L): the same from what was measured (LayerSkip's and DEL's rounds; of rows, see
/// figures.h). M ≥ 0, γ̄ ≥ 0.
[[nodiscard]] Result<double> observed_tokens_per_loaded_layer(double mean_accepted_length,
                                                              double steps_per_round, double draft_layers,
                                                              std::int32_t n_layers);

/// Acceptance from which on a setting pays: S = 1 solved at measured costs, where the papers have v = 1 and o
/// = 0.
struct BreakEven {
  double mean_accepted_length = 0.0;  ///< M = γ̄·c + v + o, whatever the distribution (round_speedup)
  /// accepted / drafted at that M: (M − 1) / γ̄, at least 0. Above 1: it never pays.
  double acceptance_rate = 0.0;
  /// The iid α whose expected_tokens(α, γ) costs exactly what it yields; absent without a planned γ, and
  /// where not even α = 1 does. 0: a round pays with its bonus token alone.
  std::optional<double> alpha;
};

/// `gamma` is the planned length of a setting whose length is fixed; α is at a round of that length, not at
/// the mean of cut ones. Errors: as round_speedup(), draft steps that are not above 0, γ below 1.
[[nodiscard]] Result<BreakEven> break_even(const RoundCost& cost, std::optional<std::int32_t> gamma = {});

// How many tokens of a drawn chain stay, by what target and draft give them. `ratios` has p(x) / q(x) of each
// token in order: the target's probability of the token over the draft's, which is above 0. Means over drafts
// that are drawn from q are the expected accepted lengths of a round. Pure, safe from any thread.

/// Token by token (Leviathan et al. 2023): Σ over i of Π min(r₁, 1) … min(rᵢ, 1).
[[nodiscard]] double accepted_by_token(std::span<const double> ratios);

/// As a block (Sun et al. 2025, Block Verification): given the first i tokens they all stay with probability
/// pᵢ = min(pᵢ₋₁·rᵢ, 1), p₀ = 1, whatever length the chain has; Σ pᵢ. Never below accepted_by_token().
[[nodiscard]] double accepted_by_block(std::span<const double> ratios);

}  // namespace draftscope::simulator
