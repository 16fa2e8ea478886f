// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How much of what was drafted was kept. Sums are over all rounds, so every figure is weighted by rounds or
// by draft tokens, never by prompts.

#include <draftscope/simulator/figures/run_rows.h>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

inline constexpr int draft_stop_count = 5;

/// Draft position k (0 extends the root): how many rounds drafted that far, got that far in verification
/// (all earlier positions were accepted), and accepted there.
struct PositionAcceptance {
  std::int64_t drafted = 0;
  std::int64_t reached = 0;
  std::int64_t accepted = 0;

  [[nodiscard]] double of_drafted() const;  ///< accepted / drafted; 0 if nothing was drafted
  [[nodiscard]] double of_reached() const;  ///< accepted / reached; 0 if nothing was reached
};

struct Acceptance {
  std::int64_t rounds = 0;  ///< target forwards after prefill
  std::int64_t drafted_tokens = 0;
  std::int64_t accepted_tokens = 0;
  std::int64_t draft_steps = 0;  ///< forwards of the draft; fewer than draft tokens where drafts branch

  /// α = Σ accepted / Σ drafted (Draft & Verify's "acceptance rate", LayerSkip's matches / drafted).
  std::optional<double> acceptance_rate;
  /// Σ accepted / Σ tested: rejected tails that the verifier never got to do not count.
  std::optional<double> tested_rate;
  /// M = Σ (accepted + 1) / rounds: tokens a target forward yields, bonus included, before a cut at the end
  /// of the text (SWIFT's M). Vanilla's is 1. CLaSp's τ is M − 1.
  std::optional<double> mean_accepted_length;
  /// Σ emitted / rounds: the same after the cut (Spec-Bench's accept_lengths).
  std::optional<double> emitted_per_round;
  /// γ̄ = draft steps / rounds.
  std::optional<double> steps_per_round;

  std::vector<PositionAcceptance> by_position;
  std::vector<std::int64_t> draft_lengths;                   ///< rounds by draft length, from 0
  std::array<std::int64_t, draft_stop_count> draft_stops{};  ///< rounds by traces::DraftStop
};

[[nodiscard]] Acceptance acceptance(const RunRows& run);

}  // namespace draftscope::simulator
