// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One setting's decoding figures, once as they were predicted and once as they were measured. Prefill is left
// out of both.

#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/figures/speedup.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct PredictedDecoding {
  AnswerStatus status = AnswerStatus::exact;
  RoundSource source = RoundSource::recorded;
  double speedup = 0.0;  ///< the middle of both ends where the answer is bounded
  double speedup_min_drafted = 0.0;
  double speedup_max_drafted = 0.0;                  ///< as the one before where the answer is not bounded
  std::optional<Interval> interval_80, interval_95;  ///< outermost of both ends
  std::string no_interval_reason;                    ///< one line; empty if there are intervals
  double vanilla_step_ns = 0.0;                      ///< mean round of vanilla decoding
  double draft_step_ns = 0.0;                        ///< 0 if no model drafts
  double verify_ns = 0.0;                            ///< mean verification of rounds that draft
  double mean_accepted_length = 0.0;                 ///< emitted tokens a round
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
};

[[nodiscard]] PredictedDecoding predicted_decoding(const Answer& answer);

struct MeasuredDecoding {
  double speedup = 0.0;           ///< from first token to end, over vanilla decoding of the same recording
  std::vector<double> by_repeat;  ///< the same from each repeat alone
  std::size_t prompts = 0;
  double vanilla_step_ns = 0.0;
  double draft_step_ns = 0.0;
  double verify_ns = 0.0;
  double mean_accepted_length = 0.0;
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
};

/// `baseline` is the vanilla run of the same recording; only prompts and repeats of both count. Errors: no
/// pair of finished requests with a second token.
[[nodiscard]] Result<MeasuredDecoding> measured_decoding(const RunRows& baseline, const RunRows& run);

/// predicted / measured − 1; absent where nothing was measured or predicted (0).
[[nodiscard]] std::optional<double> relative_error(double predicted, double measured);

}  // namespace draftscope::simulator
