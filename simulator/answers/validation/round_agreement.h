// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Comparison of predicted rounds with recorded ones, per request, by their counts.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <span>

namespace draftscope::simulator {

/// Requests with other texts than the predicted ones are left out. The result is not_compared without
/// predicted ones.
[[nodiscard]] RoundAgreement compare_rounds(std::span<const PredictedRequest> predicted,
                                            const RunRows& measured);

}  // namespace draftscope::simulator
