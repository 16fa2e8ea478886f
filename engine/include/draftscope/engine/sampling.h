// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From logits to a distribution, and the exact rejection rule of speculative sampling.
// Sources: Leviathan et al. 2023 and Chen et al. 2023 (rule 1 of methods: accept x ~ q with probability
// min(1, p/q), on rejection draw from norm(max(p − q, 0))). Both sides are warped alike, in Hugging Face's
// order: temperature, top-k, top-p.

#include <draftscope/engine/random.h>
#include <draftscope/result.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

struct SamplingOptions {
  double temperature = 0.0;  ///< 0 = greedy
  std::int32_t top_k = 0;    ///< 0 = off
  double top_p = 1.0;        ///< 1 = off; keeps the smallest set of tokens whose probability reaches it
  [[nodiscard]] bool greedy() const { return temperature <= 0.0; }
};

/// Fails on a negative or non-finite temperature, a negative top-k, a top-p outside (0, 1].
[[nodiscard]] Result<void> check(const SamplingOptions& options);

/// Tokens that can occur, by ascending id, with probabilities that add up to 1.
struct Distribution {
  std::vector<std::int32_t> tokens;
  std::vector<double> probabilities;
  [[nodiscard]] double probability(std::int32_t token) const;
};

/// Warps one row of logits. Ties at the edge of top-k or top-p are settled for the lower token id.
void warp(std::span<const float> logits, const SamplingOptions& options, Distribution& out);

/// max(target − draft, 0), normalised; the target itself where nothing remains (target ≤ draft everywhere can
/// only come from rounding).
void residual(const Distribution& target, const Distribution& draft, Distribution& out);

/// A token drawn from `distribution`.
[[nodiscard]] std::int32_t draw_token(const Distribution& distribution, Draw draw, Chooser& chooser);

/// Whether a token drawn from `draft` is accepted as one of `target`.
[[nodiscard]] bool accept_token(const Distribution& target, const Distribution& draft, std::int32_t token,
                                std::int32_t position, Chooser& chooser);

}  // namespace draftscope::engine
