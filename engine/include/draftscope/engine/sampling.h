// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns logits into a distribution, and applies the exact rejection rule of speculative sampling. Sources:
// Leviathan et al. 2023 and Chen et al. 2023 (docs/methods.md, rule 1: accept x ~ q with probability min(1,
// p/q), on rejection draw from norm(max(p − q, 0))). Both sides are warped alike, in vLLM's order: logit
// bias, repetition, frequency and presence penalty, temperature, min-p, top-k, top-p.

#include <draftscope/base/result.h>
#include <draftscope/engine/random.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// A token, and the number that is added to its logit.
struct TokenBias {
  std::int32_t token = 0;
  double bias = 0.0;
  friend bool operator==(const TokenBias&, const TokenBias&) = default;
};

struct SamplingOptions {
  double temperature = 0.0;  ///< 0 = greedy
  std::int32_t top_k = 0;    ///< 0 = off
  double top_p = 1.0;        ///< 1 = off; otherwise the smallest set of tokens with this total probability
  bool coupled = false;      ///< Whether target and draft choose with the same noise: see coupled_token().
  /// Makes tokens that occurred in prompt or output less likely: see penalise_repetition(). The rule is the
  /// same for draft and target; a drafted prefix counts as text. 1 = off.
  double repetition_penalty = 1.0;
  double min_p = 0.0;  ///< Tokens less probable than this times the best one are left out; 0 = off.
  /// Subtracted from a token's logit for each time that the output has it; 0 = off. The prompt does not
  /// count.
  double frequency_penalty = 0.0;
  double presence_penalty = 0.0;      ///< Subtracted once if the output has the token; 0 = off.
  std::vector<TokenBias> logit_bias;  ///< each token at most once
  /// Whether logits change before they are warped, so that even a greedy choice may be another.
  [[nodiscard]] bool penalises() const {
    return repetition_penalty != 1.0 || frequency_penalty != 0.0 || presence_penalty != 0.0 ||
           !logit_bias.empty();
  }
  [[nodiscard]] bool greedy() const { return temperature <= 0.0; }
};

/// Bounds of the repetition penalty. Beyond them logits would leave the range of their type.
inline constexpr double min_repetition_penalty = 0.01;
inline constexpr double max_repetition_penalty = 100.0;
/// Bounds of frequency and presence penalty, and of a logit bias, in both directions (those of OpenAI's API).
inline constexpr double max_count_penalty = 2.0;
inline constexpr double max_logit_bias = 100.0;

/// Fails on a negative or non-finite temperature, a negative top-k, a top-p outside (0, 1], a min-p outside
/// [0, 1], a penalty or bias out of its bounds, a token that is biased twice.
[[nodiscard]] Result<void> check(const SamplingOptions& options);

/// Divides the logits of `tokens`, each given once, by the penalty if they are positive, and multiplies them
/// by it otherwise (Keskar et al. 2019, CTRL, §4.1, with the sign rule of transformers'
/// RepetitionPenaltyLogitsProcessor). Tokens without a logit, as a draft model's vocabulary may lack, are
/// passed over.
void penalise_repetition(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty);

/// Tokens that can occur, by ascending id, with probabilities that add up to 1.
struct Distribution {
  std::vector<std::int32_t> tokens;
  std::vector<double> probabilities;
  [[nodiscard]] double probability(std::int32_t token) const;
};

/// Warps one row of logits. Ties at the edge of top-k or top-p go to the lower token id. Logits that form no
/// distribution (has_distribution() of backend.h) give an empty one.
void warp(std::span<const float> logits, const SamplingOptions& options, Distribution& out);

/// Computes max(target − draft, 0), normalised. Gives the target itself if nothing remains: target ≤ draft
/// everywhere can only come from rounding.
void residual(const Distribution& target, const Distribution& draft, Distribution& out);

[[nodiscard]] std::int32_t draw_token(const Distribution& distribution, Draw draw, Chooser& chooser);

/// Whether a token drawn from `draft` is accepted as one of `target`.
[[nodiscard]] bool accept_token(const Distribution& target, const Distribution& draft, std::int32_t token,
                                Draw draw, Chooser& chooser);

/// Removes a token from the distribution and normalises it; the result is empty if it had no other token.
void remove_token(Distribution& distribution, std::int32_t token);

/// The Gumbel-max choice (Maddison et al. 2014): the token with the highest log p + Gumbel noise; -1 for an
/// empty distribution. The noise is a function of only the key, the position and the token. Target and draft
/// that choose so agree often (Daliri, Musco and Suresh 2024). Whatever drafts, the text is a function of the
/// key and the target: vanilla's text, token by token.
[[nodiscard]] std::int32_t coupled_token(const Distribution& distribution, CounterKey key,
                                         std::int32_t position);
/// The `count` best tokens of coupled_token()'s choice in order, or all if there are fewer: a draw without
/// replacement.
void coupled_tokens(const Distribution& distribution, CounterKey key, std::int32_t position,
                    std::int32_t count, std::vector<std::int32_t>& tokens);

}  // namespace draftscope::engine
