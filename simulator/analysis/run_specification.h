// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

/// Strategy that a run recorded, with its parameters; of a run that names a policy file, the one that the
/// policy stands for. Errors: a strategy that the catalogue does not have, as imported runs may.
[[nodiscard]] Result<speculation::StrategySpecification> run_specification(const traces::Run& run,
                                                                           std::int32_t n_layers);

/// Bits of a weight that drafts read, in those of the target's weights: 1 where they are its own, or where
/// the recording does not say. A layer set's origin says it where a run drafts now on these weights and now
/// on those (`auto`), else the run's specification does.
class DraftWeightsShares {
 public:
  DraftWeightsShares(const traces::Run& run, const traces::Meta& meta, std::int32_t n_layers);
  /// `origin` of the draft's layer set.
  [[nodiscard]] double of(std::string_view origin) const;

 private:
  double of_run_ = 1.0;
  double target_bits_ = 0.0;  // 0 = not recorded
};

}  // namespace draftscope::simulator
