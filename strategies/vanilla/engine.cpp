// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

using speculation::ModelShape;
using speculation::StrategySpecification;

/// Autoregressive decoding: every round verifies the root alone and yields one token. It is the baseline of
/// every speedup.
class Vanilla final : public Strategy {
 public:
  /// Enough rounds to hide a launch (an estimated 0.03 of a 1B token on an H200), but so few that a text
  /// still arrives word by word.
  static constexpr std::int32_t rounds_ahead = 8;
  RoundPlan plan(const RoundView& /*round*/) override { return {.ahead = rounds_ahead}; }
};

Result<std::unique_ptr<Strategy>> make_vanilla(const StrategySpecification& /*specification*/,
                                               const ModelShape& /*shape*/,
                                               const StrategyResources& /*resources*/) {
  return std::make_unique<Vanilla>();
}

}  // namespace

StrategyMakers engine_of_vanilla() {
  return {.strategies = {{.name = "vanilla", .make = make_vanilla}}};
}

}  // namespace draftscope::engine
