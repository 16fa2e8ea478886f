// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// ConfLayers skips layers whose outputs are less confident than those of the layers around, and looks for a
// new set after the one in use was tried for long enough. Source: Amer et al., "ConfLayers: Adaptive
// Confidence-based Layer Skipping for Self-Speculative Decoding" (2026, arXiv 2604.14612), as its public code
// implements it (page.md).

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Confidence of a sublayer's output: 1 − H / ln n, where H is the entropy of the softmax over its n values.
/// Not a number where the values make no distribution.
[[nodiscard]] double output_confidence(std::span<const float> output);

/// Places whose confidence is more than `lambda` standard deviations below the mean of their neighbours. The
/// number of neighbours grows with the curvature of the confidences and with the depth. `confidences` covers
/// the layers from the second to the last but one, of `n_layers`; with fewer than two of them none is low.
[[nodiscard]] std::vector<std::int32_t> low_confidences(std::span<const double> confidences, double lambda,
                                                        std::int32_t n_layers);

/// Decides when ConfLayers searches, and how low a confidence must be to skip a layer. Values; one object per
/// strategy.
class ConfidenceSearches {
 public:
  struct Options {
    std::int32_t n_layers = 0;
    double ratio = 0.45;         ///< Minimum share of skipped layers among those between first and last.
    std::int32_t window = 32;    ///< Output tokens that a search needs.
    std::int32_t interval = 25;  ///< Rounds that a set is tried for.
    double max_score = 0.95;     ///< Accepted tokens per draft step above which the search ends for good.
    std::int32_t max_searches = 1000;  ///< Searches after which it ends for good.
  };
  /// The numbers of a round on which the search depends.
  struct Round {
    std::int32_t emitted = 0;
    std::int32_t accepted = 0;
    std::int32_t steps = 0;  ///< Draft steps.
  };

  explicit ConfidenceSearches(const Options& options) : options_(options) {}

  /// Begins a request with the present set. Its first search follows as soon as its output is long enough.
  void begin_request();
  /// Whether a search follows the round. `left_out`: layers that the set in use skips.
  [[nodiscard]] bool follows(const Round& round, std::int32_t left_out);
  /// Reports that a search found a set of so many layers.
  void found(std::int32_t left_out);

  [[nodiscard]] double lambda() const { return lambda_; }
  /// Minimum layers that a set skips; with fewer, another search follows the next round.
  [[nodiscard]] std::int32_t least() const;
  [[nodiscard]] std::int64_t searches() const { return searches_; }
  /// Whether the search has ended for good.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Whether the set that follows() judged last accepted more tokens per round than any before.
  [[nodiscard]] bool is_best() const { return is_best_; }

 private:
  void judge(std::int32_t left_out);

  Options options_;
  double lambda_ = 0.0;
  double best_accepted_ = 0.0;
  std::int64_t searches_ = 0;
  std::int32_t emitted_ = 0;  // tokens of the request, including the prefill's
  std::int32_t rounds_ = 0;   // rounds that the set was tried for
  double score_sum_ = 0.0;
  double accepted_sum_ = 0.0;
  bool is_due_ = true;
  bool is_best_ = false;
  bool has_ended_ = false;
};

/// The options of a mix with mask=conflayers, on a model of so many layers.
[[nodiscard]] ConfidenceSearches::Options confidence_options(const StrategySpecification& mix,
                                                             std::int32_t n_layers);

}  // namespace draftscope::speculation
