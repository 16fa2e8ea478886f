// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What drafting and verifying cost, in units of one target step, and the closed form that follows:
//     S = M / (γ̄·c + v + o)
// (methods: the common cost model; Leviathan et al. with measured v and o). It predicts the speedup of
// decoding without prefill; how far it is from the measured one is the time that no round accounts for.

#include <draftscope/simulator/figures/acceptance.h>
#include <draftscope/simulator/figures/run_rows.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

/// Where the time of one target step comes from.
enum class TargetStep : std::uint8_t {
  unknown,          ///< the run has no rounds
  baseline_rounds,  ///< mean duration of the vanilla run's rounds on the same prompts of this recording
  verification,     ///< no baseline: mean time of this run's own verifications, so that v is 1 by definition
};

struct DraftCost {
  std::int64_t rounds = 0;
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t other_ns = 0;  ///< accept + optimise + control

  std::optional<double> draft_ns_per_round;
  std::optional<double> verify_ns_per_round;
  std::optional<double> draft_ns_per_step;

  TargetStep target_step = TargetStep::unknown;
  double target_step_ns = 0.0;
  std::optional<double> c;                    ///< draft step / target step; absent if nothing was drafted
  std::optional<double> v;                    ///< verification / target step
  std::optional<double> o;                    ///< accept, optimise and control / target step
  std::optional<double> closed_form_speedup;  ///< S; only with a baseline
};

/// `baseline` is the vanilla run of the same recording, or null.
[[nodiscard]] DraftCost draft_cost(const RunRows& run, const RunRows* baseline, const Acceptance& measured);

/// TPT = M / (γ̄·c + v + o), tokens per target-step time as observed, with or without a baseline. Absent if
/// nothing was drafted.
[[nodiscard]] std::optional<double> observed_tpt(const DraftCost& cost, const Acceptance& measured);

}  // namespace draftscope::simulator
