// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL's choice of exit, length and threshold (Entezari Zarch et al. 2025, §4 and the public code), as a value
// over what every layer's head would have drafted: decayed counts of matches with the target and of
// confidences give, for each exit, an acceptance rate, the exit and length that yield the most tokens per
// loaded layer (TPL), and a draft-exit threshold.

#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Decayed statistics of one exit.
struct ExitStatistics {
  double matches = 0.0;                   ///< m
  double mismatches = 0.0;                ///< w
  double confidence_of_matches = 0.0;     ///< s⁺, a decayed sum
  double confidence_of_mismatches = 0.0;  ///< s⁻
  /// m / (m + w); a NaN while nothing was seen.
  [[nodiscard]] double acceptance() const { return matches / (matches + mismatches); }
  /// Halfway between the mean confidences of matches and mismatches; -1 while either was never seen.
  [[nodiscard]] double threshold() const;
  void decay(double omega);
  void count(bool matches_target, double confidence);
};

struct ExitChoice {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  double tpl = 0.0;
};

/// Loads in units of a layer: `head` is what a head costs beside it; 0 = layers alone, as published.
struct TplCost {
  std::int32_t n_layers = 0;
  double head = 0.0;
};

/// (1 + α + … + α^d) / ((L + h) + d·(ℓ + h)) at its largest over exits ℓ = 1 … and lengths d = 0 … max; ties
/// go to the smallest ℓ, then d. Exits of which nothing is known are left out; without any, the choice stays
/// {1, 1}.
[[nodiscard]] ExitChoice best_exit(std::span<const ExitStatistics> exits, const TplCost& cost,
                                   std::int32_t max);

class DelRule {
 public:
  enum class Mode : std::uint8_t {
    published,  ///< as the code does: γ limits nothing but the first round, d ≤ d_max − 1, layers alone cost,
                ///< after a choice of γ = 0 all of a round's positions count
    repaired,  ///< γ is honoured, 0 = a plain step; the head counts; statistics before the first round
  };
  struct Options {
    Mode mode = Mode::repaired;
    std::int32_t max = 18;            ///< d_max
    double omega = 0.95;              ///< decay a round
    std::int32_t prompt_window = 32;  ///< last prompt positions that the first statistics see
  };
  /// `cost.head` counts only if repaired.
  DelRule(const TplCost& cost, const Options& options);

  void begin_request();

  /// Whether the next round is a plain step.
  [[nodiscard]] bool rests() const { return options_.mode == Mode::repaired && choice_.gamma == 0; }
  [[nodiscard]] std::int32_t exit() const { return choice_.exit; }
  [[nodiscard]] std::int32_t length() const;
  /// -1 = none.
  [[nodiscard]] double threshold() const;
  /// Whether all positions of the round that was planned count, not only those up to its first wrong draft
  /// token.
  [[nodiscard]] bool counts_all() const { return options_.mode == Mode::published && choice_.gamma == 0; }

  /// Learns from positions 0 … `positions` − 1 and chooses anew. `shadow(exit, position)` is what the head
  /// of an exit from 1 to L − 1 says there: a value with `matches` (the target's token) and `confidence`.
  template <typename Shadow>
  void learn(std::int32_t positions, const Shadow& shadow) {
    for (std::size_t i = 0; i < exits_.size(); ++i) {
      exits_[i].decay(options_.omega);
      for (std::int32_t position = 0; position < positions; ++position) {
        const auto said = shadow(static_cast<std::int32_t>(i) + 1, position);
        exits_[i].count(said.matches, said.confidence);
      }
    }
    choose();
  }

  /// By exit, from exit 1 to L − 1.
  [[nodiscard]] std::span<const ExitStatistics> statistics() const { return exits_; }
  [[nodiscard]] const ExitChoice& choice() const { return choice_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void choose();

  Options options_;
  TplCost cost_;
  std::vector<ExitStatistics> exits_;
  ExitChoice choice_;
  bool is_first_round_ = true;
};

/// A head's prediction of a position.
struct ShadowToken {
  bool matches = false;     ///< its best token is the target's
  double confidence = 0.0;  ///< its probability
};

}  // namespace draftscope::speculation
