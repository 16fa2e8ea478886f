// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL: context-aware dynamic exit layer (Entezari Zarch et al. 2025; page.md). After each round every layer's
// head tells the token that it would have drafted (a shadow token). From these the rule (rule.h) chooses
// exit, length and threshold.

#include <memory>
#include <vector>

#include "strategies/del/rule.h"
#include "strategies/engine_parts.h"

namespace draftscope::engine {

class Del final : public MaskChoice, public LengthChoice, public ThresholdChoice, public Learner {
 public:
  /// Creates DEL for a model. A round's positions count up to the first draft token that was not accepted,
  /// whatever drafted it.
  Del(const speculation::ModelShape& shape, const speculation::DelRule::Options& options);

  const speculation::SublayerMask* mask(const RoundView& round) override;
  std::string_view origin() const override { return "del"; }
  std::int32_t length(const RoundView& round) override;
  double threshold(const RoundView& round) override;

  void begin_request(const RequestView& request) override;
  std::span<const std::int32_t> states() const override { return boundaries_; }
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;
  bool wants_to_optimise() const override { return due_; }
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

  [[nodiscard]] const speculation::DelRule& rule() const { return rule_; }

 private:
  [[nodiscard]] Result<void> read_prompt(const RoundView& view, Probe& probe);
  [[nodiscard]] Result<void> number_states(StateBank& bank);
  [[nodiscard]] Result<void> run_heads(Probe& probe);
  [[nodiscard]] const TopToken& shadow(std::int32_t exit, std::int32_t position) const;
  void log_choice(const speculation::ExitChoice& before, std::int64_t start_ns, DecisionLog* log) const;

  speculation::ModelShape shape_;
  speculation::DelRule rule_;
  std::vector<speculation::SublayerMask> masks_;  // one mask per exit
  std::vector<std::int32_t> boundaries_;          // the rule's candidates
  bool due_ = false;

  // Input of the next optimise(): states of `positions_` positions, first the prompt's and then a round's,
  // and the target's tokens there.
  std::int32_t positions_ = 0;
  std::int32_t prompt_positions_ = 0;  // positions that belong to the prompt
  std::vector<float> prompt_states_;   // [candidates][prompt positions][d_model]
  std::vector<float> round_states_;  // [candidates][other positions][d_model]; empty if the round stored them
  std::vector<std::int32_t> numbers_;  // bank numbers, [candidates][positions]
  std::vector<std::int32_t> target_;   // [positions]
  std::vector<std::int32_t> matches_;  // [exit − 1], positions where the exit's shadow token was the target's
  std::vector<TopToken> shadow_;       // [candidates][positions]
  std::vector<std::size_t> path_;      // rows of the observed round that count
  std::vector<Row> rows_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
