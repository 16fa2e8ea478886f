// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// ConfLayers: layers whose outputs are less sure than those of the layers around them are left out, and a new
// set is looked for when the one in use was tried for long enough.
// Source: Amer et al., "ConfLayers: Adaptive Confidence-based Layer Skipping for Self-Speculative Decoding"
// (2026, arXiv 2604.14612), as its public code has it (page.md).

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Sureness of an output of a sublayer: 1 − H / ln n, where H is the entropy of the softmax over its n
/// values. Not a number where the values make no distribution.
[[nodiscard]] double output_confidence(std::span<const float> output);

/// Places whose confidence is more than `lambda` standard deviations below the mean of those around. How many
/// are around grows with the curvature of the confidences there and with the depth. `confidences` are of the
/// layers from the second to the last but one, of `n_layers`; of fewer than two none is low.
[[nodiscard]] std::vector<std::int32_t> low_confidences(std::span<const double> confidences, double lambda,
                                                        std::int32_t n_layers);

/// When ConfLayers searches, and how low a confidence has to be. Values; one object a strategy.
class ConfidenceSearches {
 public:
  struct Options {
    std::int32_t n_layers = 0;
    double ratio = 0.45;         ///< share of the layers between first and last that is left out, at least
    std::int32_t window = 32;    ///< tokens of the output that must be there
    std::int32_t interval = 25;  ///< rounds that a set is tried for
    double max_score = 0.95;     ///< accepted tokens per draft step above which the search ends for good
    std::int32_t max_searches = 1000;  ///< that end it
  };
  /// A round, as the search goes by it.
  struct Round {
    std::int32_t emitted = 0;
    std::int32_t accepted = 0;
    std::int32_t steps = 0;  ///< of the draft
  };

  explicit ConfidenceSearches(const Options& options) : options_(options) {}

  /// The set goes on; a request's first search follows as soon as its output is long enough.
  void begin_request();
  /// Whether a search follows the round. `left_out`: layers that the set in use leaves out.
  [[nodiscard]] bool follows(const Round& round, std::int32_t left_out);
  /// Tells that a search found a set of so many layers.
  void found(std::int32_t left_out);

  [[nodiscard]] double lambda() const { return lambda_; }
  /// Layers that a set leaves out at least; below, the next round is followed by another search.
  [[nodiscard]] std::int32_t least() const;
  [[nodiscard]] std::int64_t searches() const { return searches_; }
  /// Whether the search has ended for good.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Whether the set that was judged last, by follows(), accepted more tokens a round than any before.
  [[nodiscard]] bool is_best() const { return is_best_; }

 private:
  void judge(std::int32_t left_out);

  Options options_;
  double lambda_ = 0.0;
  double best_accepted_ = 0.0;
  std::int64_t searches_ = 0;
  std::int32_t emitted_ = 0;  // of the request, the prefill's token included
  std::int32_t rounds_ = 0;   // that the set was tried for
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
