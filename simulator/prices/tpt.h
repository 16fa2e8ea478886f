// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The speedup that prices give. Modelled: it is as good as the prices. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

/// Speedup of the rounds of a replay or recording; `vanilla_ns` is the time of the same tokens by vanilla
/// decoding (vanilla_time_ns of each request, summed). Errors: a round that no price covers, times that are
/// not above 0.
[[nodiscard]] Result<double> time_true_speedup(const RoundStatistics& statistics, double vanilla_ns,
                                               const Prices& prices);

/// Whether prices cover every exit and width of the statistics; the error names the first that is missing.
[[nodiscard]] Result<void> check_covered(const RoundStatistics& statistics, const Prices& prices);

}  // namespace draftscope::simulator
