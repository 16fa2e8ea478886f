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

StrategyEntry vanilla_entry() {
  return {.description = {.name = "vanilla",
                          .summary = "one target forward a token; the baseline",
                          .source = "autoregressive decoding",
                          .parameters = {}},
          .make = [](Parameters&, const speculation::ModelShape&, const StrategyResources&)
              -> Result<std::unique_ptr<Strategy>> { return std::make_unique<Vanilla>(); }};
}

}  // namespace draftscope::engine
