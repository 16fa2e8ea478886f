// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL's choice of exit, length and threshold (Entezari Zarch et al. 2025, §4 and the public code), as a value
// over the tokens that every layer's head would have drafted. Decayed counts of matches with the target and
// of confidences give three results: an acceptance rate for each exit, the exit and length with the most
// tokens per loaded layer (TPL), and a draft-exit threshold.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Decayed statistics of one exit.
struct ExitStatistics {
  double matches = 0.0;                   ///< Decayed count m.
  double mismatches = 0.0;                ///< Decayed count w.
  double confidence_of_matches = 0.0;     ///< Decayed sum s⁺.
  double confidence_of_mismatches = 0.0;  ///< Decayed sum s⁻.
  /// Acceptance rate m / (m + w); a NaN while nothing was seen.
  [[nodiscard]] double acceptance() const { return matches / (matches + mismatches); }
  /// Mean confidence of matches, and of mismatches; a NaN while none was seen.
  [[nodiscard]] double right_confidence() const { return confidence_of_matches / matches; }
  [[nodiscard]] double wrong_confidence() const { return confidence_of_mismatches / mismatches; }
  /// The mean of the mean confidences of matches and mismatches; -1 while either was never seen.
  [[nodiscard]] double threshold() const;
  void decay(double omega);
  void count(bool matches_target, double confidence);
};

struct ExitChoice {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  double tpl = 0.0;
};

/// Loads relative to a layer's: `head` is the additional cost of a head; 0 = layers alone, as published.
struct TplCost {
  std::int32_t n_layers = 0;
  double head = 0.0;
};

/// Maximises (1 + α + … + α^d) / ((L + h) + d·(ℓ + h)) over exits ℓ = 1 … and lengths d = 0 … max. Ties go to
/// the smallest ℓ, then d. Exits without statistics are ignored; if all are, the choice is {1, 1}.
[[nodiscard]] ExitChoice best_exit(std::span<const ExitStatistics> exits, const TplCost& cost,
                                   std::int32_t max);

class DelRule {
 public:
  enum class Mode : std::uint8_t {
    paper,  ///< The paper's rules, §4 and Alg. 1: drafts up to d_max, ended by the threshold alone; layers
            ///< alone cost; statistics before the first round. The token below the threshold stays, since
            ///< otherwise sampling would not be exact.
    code,  ///< The public code's rules: like `paper`, but one token in the first round, d ≤ d_max − 1, and
           ///< after a choice of γ = 0 all of a round's positions count.
    repaired,  ///< Our repair: γ is respected, with 0 as a plain step, and the head counts.
  };
  struct Options {
    Mode mode = Mode::paper;
    std::int32_t max = 18;            ///< Maximum length, d_max.
    double omega = 0.95;              ///< Decay per round.
    std::int32_t prompt_window = 32;  ///< Last prompt positions that the first statistics include.
    std::vector<std::int32_t> exits;  ///< Exits that may be chosen, ascending, from 1 to L − 1; empty = all.
    bool exits_draft = true;          ///< Whether the chosen exit is the one that drafts.
    /// Whether the length found is the one drafted, in every mode: where no stop rule ends drafts (DEL-ℰ,
    /// §5.3).
    bool honours_length = false;
  };
  /// Creates a rule. `cost.head` counts only if repaired.
  DelRule(const TplCost& cost, const Options& options);

  void begin_request();

  /// Whether the next round is a plain step.
  [[nodiscard]] bool rests() const { return options_.honours_length && choice_.gamma == 0; }
  [[nodiscard]] std::int32_t exit() const { return choice_.exit; }
  [[nodiscard]] std::int32_t length() const;
  /// Draft-exit threshold; -1 = none.
  [[nodiscard]] double threshold() const;
  /// Whether all positions of the planned round count, not only those up to its first rejected token.
  [[nodiscard]] bool counts_all() const { return options_.mode == Mode::code && choice_.gamma == 0; }
  /// Whether the rule learns from the prompt's positions before the first round, rather than with it.
  [[nodiscard]] bool learns_before_first_round() const { return options_.mode != Mode::code; }

  /// Learns from positions 0 … `positions` − 1 and chooses anew. `shadow(exit, position)` is the prediction
  /// there by the head of one of candidates(): a value with `matches` (the target's token) and `confidence`.
  template <typename Shadow>
  void learn(std::int32_t positions, const Shadow& shadow) {
    for (const std::int32_t exit : candidates_) {
      ExitStatistics& seen = exits_[static_cast<std::size_t>(exit - 1)];
      seen.decay(options_.omega);
      for (std::int32_t position = 0; position < positions; ++position) {
        const auto said = shadow(exit, position);
        seen.count(said.matches, said.confidence);
      }
    }
    choose();
  }

  /// Exits that may be chosen, ascending.
  [[nodiscard]] std::span<const std::int32_t> candidates() const { return candidates_; }
  /// [exit − 1] for exits 1 to L − 1; exits that may not be chosen have no statistics.
  [[nodiscard]] std::span<const ExitStatistics> statistics() const { return exits_; }
  [[nodiscard]] const ExitChoice& choice() const { return choice_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  void choose();

  Options options_;
  TplCost cost_;
  std::vector<ExitStatistics> exits_;
  std::vector<std::int32_t> candidates_;
  ExitChoice choice_;
  bool is_first_round_ = true;
};

/// A head's prediction of a position.
struct ShadowToken {
  bool matches = false;     ///< Whether its best token is the target's.
  double confidence = 0.0;  ///< Probability of its best token.
};

[[nodiscard]] DelRule::Options del_options(const StrategySpecification& mix);

}  // namespace draftscope::speculation
