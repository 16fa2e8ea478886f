// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL: context-aware dynamic exit layer (Entezari Zarch et al. 2025; docs/methods.md, DEL). After each round
// every layer's head says what it would have drafted (shadow tokens); decayed counts of matches with the
// target and of confidences give, for each exit, an acceptance rate, the exit and length that yield the most
// tokens per loaded layer (TPL), and a draft-exit threshold.

#include <memory>
#include <vector>

#include "strategies/parts.h"

namespace draftscope::engine {

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
};

struct ExitChoice {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  double tpl = 0.0;
};

/// Loads in units of a layer: what a head costs beside it. 0 = layers alone, as published.
struct TplCost {
  std::int32_t n_layers = 0;
  double head = 0.0;
};

/// (1 + α + … + α^d) / ((L + h) + d·(ℓ + h)) at its largest over exits ℓ = 1 … and lengths d = 0 … most; ties
/// go to the smallest ℓ, then d. Exits of which nothing is known are left out; without any, the choice stays
/// {1, 1}.
[[nodiscard]] ExitChoice best_exit(std::span<const ExitStatistics> exits, const TplCost& cost,
                                   std::int32_t most);

class Del final : public MaskChoice, public LengthChoice, public ThresholdChoice, public Learner {
 public:
  enum class Mode : std::uint8_t {
    published,  ///< as the code does: γ limits nothing but the first round, d ≤ most − 1, layers alone cost,
                ///< after a choice of γ = 0 all of a round's positions count
    repaired,  ///< γ is honoured, 0 = a plain step; the head counts; statistics before the first round
  };
  struct Options {
    Mode mode = Mode::repaired;
    std::int32_t most = 18;           ///< d_max
    double omega = 0.95;              ///< decay a round
    std::int32_t prompt_window = 32;  ///< last prompt positions that the first statistics see
    /// Whether the mask that drafts is its own. In a mix with another mask its shadow tokens are not what was
    /// drafted: a round's positions then count up to the first draft token that was not accepted.
    bool drafts = true;
  };
  Del(const speculation::ModelShape& shape, const Options& options);

  const speculation::SublayerMask* mask(const RoundView& round) override;
  std::string_view origin() const override { return "del"; }
  std::int32_t length(const RoundView& round) override;
  double threshold(const RoundView& round) override;

  void begin_request(const RequestView& request) override;
  std::span<const std::int32_t> states() const override { return boundaries_; }
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;
  bool wants_to_optimise() const override { return due_; }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

  /// Of exits 1 … L − 1.
  [[nodiscard]] std::span<const ExitStatistics> statistics() const { return exits_; }
  [[nodiscard]] const ExitChoice& choice() const { return choice_; }

 private:
  [[nodiscard]] Result<void> read_prompt(const RoundView& view, Probe& probe);
  [[nodiscard]] Result<void> run_heads(Probe& probe);
  [[nodiscard]] std::size_t drafted_right(const RoundOutcome& outcome) const;
  [[nodiscard]] std::int32_t kept_positions(std::int32_t first) const;
  void count(std::int32_t first, std::int32_t positions);
  void log_choice(const ExitChoice& before, std::int64_t start_ns, DecisionLog* log) const;

  speculation::ModelShape shape_;
  Options options_;
  TplCost cost_;
  std::vector<speculation::SublayerMask> masks_;  // by exit
  std::vector<std::int32_t> boundaries_;          // 1 … L − 1
  std::vector<ExitStatistics> exits_;
  ExitChoice choice_;
  bool due_ = false;
  bool first_round_ = true;
  bool greedy_ = true;
  bool drafts_ = false;  // the planned round, with the exit in use

  // What the next optimise() reads: states of `positions_` positions, and the target's tokens there.
  std::int32_t positions_ = 0;
  std::int32_t prompt_positions_ = 0;  // of them
  std::vector<float> states_;          // [L − 1][positions][d_model]
  std::vector<std::int32_t> target_;   // [positions]
  std::vector<TopToken> shadow_;       // [L − 1][positions]
  std::vector<std::size_t> path_;      // rows of the observed round that count
  std::vector<Row> rows_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
