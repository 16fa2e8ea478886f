// SPDX-License-Identifier: GPL-3.0-or-later
// Autoregressive decoding: every round verifies the root alone and yields one token. The baseline of every
// speedup.

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

class Vanilla final : public Strategy {
 public:
  /// Enough to hide what a launch takes (an estimated 0.03 of a 1B token on an H200), few enough that a text
  /// still arrives word by word.
  static constexpr std::int32_t rounds_ahead = 8;
  RoundPlan plan(const RoundView& /*round*/) override { return {.ahead = rounds_ahead}; }
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_vanilla(const speculation::StrategySpecification& /*specification*/,
                                               const speculation::ModelShape& /*shape*/,
                                               const StrategyResources& /*resources*/) {
  return std::make_unique<Vanilla>();
}

}  // namespace draftscope::engine
