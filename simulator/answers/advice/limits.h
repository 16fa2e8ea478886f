// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Limits of an advice: up to which batch and to which context it applies.

#include <draftscope/simulator/answers/advice.h>

#include "answers/advice/choice.h"

namespace draftscope::simulator {

/// A machine's candidates, with vanilla decoding of the same texts.
struct AdvisedMachine {
  const CostModel& model;
  const Machine& machine;
  const PlacedCandidates& placed;
  const RoundStatistics& vanilla;  ///< Statistics of all requests.
  const AdviceOptions& options;
};

/// Doubles the batch and then halves the interval, assuming that speculation which does not pay at some batch
/// does not pay at a larger one. O(log batch · price maps).
[[nodiscard]] Result<BatchLimit> batch_limit(const AdvisedMachine& advised);

/// Searches the context in the same way, in steps of 1/16. `chosen` is the advised candidate, none for
/// vanilla decoding; `prices` and `has_own_ratios` are those of JoinedPrices at the machine's own context.
[[nodiscard]] ContextLimit context_limit(const AdvisedMachine& advised, std::optional<std::size_t> chosen,
                                         const Prices& prices, bool has_own_ratios);

}  // namespace draftscope::simulator
