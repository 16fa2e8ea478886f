// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// TPT, tokens per target-step time: what TPL (closed_forms.h) counts in layers, in time. A round of γ draft
// steps at root position p takes
//     T(p) = Σ_{j<γ} step(p + j) + verify[γ + 1](p) + round
// and the target's step target(p) + step_round, all of prices.h; TPT = tokens · target step / T(p), which is
// the speedup over vanilla decoding at that context. Modelled: it is as good as the prices. Pure functions,
// safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

/// TPT of rounds of `gamma` draft steps at `exit` that yield `mean_accepted_length` tokens on average, at
/// root position `context`. γ = 0 is a target step: TPT = M. Errors: an exit or γ + 1 rows without a price,
/// γ or a context below 0, M below 0 or not finite, a round that takes no time.
[[nodiscard]] Result<double> tokens_per_target_step_time(double mean_accepted_length, std::int32_t gamma,
                                                         std::int32_t exit, double context,
                                                         const Prices& prices);

/// The same of all rounds of a replay or recording: `vanilla_ns` is the time of the same tokens by vanilla
/// decoding (vanilla_time_ns of each request, summed). It is the time-true speedup. Errors: a round that no
/// price covers, times that are not above 0.
[[nodiscard]] Result<double> time_true_speedup(const RoundStatistics& statistics, double vanilla_ns,
                                               const Prices& prices);

/// Whether prices cover every exit and width of the statistics; the error names the first that is missing.
[[nodiscard]] Result<void> check_covered(const RoundStatistics& statistics, const Prices& prices);

}  // namespace draftscope::simulator
