// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

/// Strategy that a run recorded, with its parameters. For a run that names a policy file, it is the strategy
/// that the policy contains. Errors: a strategy that the catalogue does not have, as imported runs may.
[[nodiscard]] Result<speculation::StrategySpecification> run_specification(const traces::Run& run,
                                                                           std::int32_t n_layers);

/// Bits of a weight that drafts read / bits of the target's weights. It is 1 where drafts use the target's
/// weights, or where the recording does not say. Where a run drafts with several kinds of weights (`auto`), a
/// layer set's origin names them; otherwise the run's specification does.
class DraftWeightsShares {
 public:
  DraftWeightsShares(const traces::Run& run, const traces::Meta& meta, std::int32_t n_layers);
  /// Share for drafts with a layer set of this `origin`.
  [[nodiscard]] double of(std::string_view origin) const;

 private:
  double of_run_ = 1.0;
  double target_bits_ = 0.0;  // 0 = not recorded
};

}  // namespace draftscope::simulator
