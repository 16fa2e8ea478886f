// SPDX-License-Identifier: GPL-3.0-or-later
// Autoregressive decoding: every round verifies the root alone and yields one token. The baseline of every
// speedup.

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

class Vanilla final : public Strategy {
 public:
  RoundPlan plan(const RoundView& /*round*/) override { return {}; }
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_vanilla(const speculation::StrategySpecification& /*specification*/,
                                               const speculation::ModelShape& /*shape*/,
                                               const StrategyResources& /*resources*/) {
  return std::make_unique<Vanilla>();
}

}  // namespace draftscope::engine
