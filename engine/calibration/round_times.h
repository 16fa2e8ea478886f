// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of the decode loop itself: target steps, drafts and verifications as recordings have them, and what
// a round takes beside its passes.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <cstdint>
#include <string>

#include "calibration/kernel_samples.h"

namespace draftscope::engine {

struct CalibrationRounds {
  std::string strategy = "vanilla";  ///< of early exits, or vanilla
  std::int32_t draft_length = 0;     ///< rounds that drafted other than this are left out
  std::int32_t max_tokens = 8;
};

/// Decodes a short text and adds its rounds but the first, which follows the prefill.
[[nodiscard]] Result<void> time_rounds(Backend& backend, const CalibrationRounds& rounds,
                                       KernelSamples& samples);

}  // namespace draftscope::engine
