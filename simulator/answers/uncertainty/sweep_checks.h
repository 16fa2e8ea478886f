// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Conditions that statistics and prices must fulfil before they are multiplied.

#include <draftscope/simulator/answers/sweep.h>
#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "answers/uncertainty/pass_sums.h"

namespace draftscope::simulator {

[[nodiscard]] Result<void> check_sweep(std::span<const PassCount> vanilla,
                                       std::span<const SweepSetting> settings, const SweepOptions& options);

[[nodiscard]] Result<void> check_prices_cover(std::span<const SweepTarget> targets,
                                              std::span<const PassKind> kinds);
/// Looks at the first draw.
[[nodiscard]] Result<void> check_draws_cover(const SweepTarget& target, std::span<const PassKind> kinds);

/// Indices of the requests that emitted a token in a round.
[[nodiscard]] std::vector<std::size_t> requests_with_tokens(std::span<const PassCount> vanilla);

/// All positive and finite.
[[nodiscard]] bool is_time(const Eigen::Ref<const Eigen::ArrayXd>& times);

}  // namespace draftscope::simulator
