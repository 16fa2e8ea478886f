// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/reader.h>
#include <cstdint>

namespace draftscope::simulator {

/// Strategy that a run recorded, with its parameters; of a run that names a policy file, the one that the
/// policy stands for. Errors: a strategy that the catalogue does not have, as imported runs may.
[[nodiscard]] Result<speculation::StrategySpecification> run_specification(const traces::Run& run,
                                                                           std::int32_t n_layers);

/// Bits of a weight that the run's drafts read, in those of the target's weights: 1 where they are its own,
/// or where the recording does not say.
[[nodiscard]] double draft_weights_share(const traces::Run& run, const traces::Meta& meta,
                                         std::int32_t n_layers);

}  // namespace draftscope::simulator
