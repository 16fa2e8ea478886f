// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds that the backend runs by itself: the cost of a draft step inside one, and the cost of a round
// outside its kernels.

#include <draftscope/engine/backend.h>

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::bench {

struct RoundTime {
  double seconds = 0.0;         ///< Time from the call until the host has the tokens.
  double verify_seconds = 0.0;  ///< Time by the device's own measure.
};

/// Times one round of `gamma` draft tokens from layers [0, exit) after `context` rows. No token stops the
/// draft.
[[nodiscard]] RoundTime time_round(engine::Backend& backend, std::int32_t context, std::int32_t exit,
                                   std::int32_t gamma);

/// round - verification = outside + γ · draft step, fitted by least squares over several γ. `outside` is the
/// host's part and any device time that does not grow with γ.
struct RoundFit {
  double draft_step_seconds = 0.0;
  double outside_seconds = 0.0;
};
[[nodiscard]] RoundFit fit_rounds(std::span<const std::int32_t> gammas,
                                  std::span<const double> draft_seconds);

}  // namespace draftscope::bench
