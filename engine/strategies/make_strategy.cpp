// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/auto_policy.h>

#include <algorithm>
#include <array>

#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

/// Autoregressive decoding: every round verifies the root alone and yields one token. It is the baseline of
/// every speedup.
class Vanilla final : public Strategy {
 public:
  /// Enough to hide what a launch takes (an estimated 0.03 of a 1B token on an H200), few enough that a text
  /// still arrives word by word.
  static constexpr std::int32_t rounds_ahead = 8;
  RoundPlan plan(const RoundView& /*round*/) override { return {.ahead = rounds_ahead}; }
};

Result<std::unique_ptr<Strategy>> make_vanilla(const speculation::StrategySpecification& /*specification*/,
                                               const speculation::ModelShape& /*shape*/,
                                               const StrategyResources& /*resources*/) {
  return std::make_unique<Vanilla>();
}

/// A strategy that is no mix of parts.
struct Maker {
  std::string_view name;
  Result<std::unique_ptr<Strategy>> (*make)(const speculation::StrategySpecification& specification,
                                            const speculation::ModelShape& shape,
                                            const StrategyResources& resources);
};

constexpr std::array<Maker, 9> makers{{{"vanilla", make_vanilla},
                                       {"auto", make_auto},
                                       {"cascade", make_cascade},
                                       {"two-model", make_two_model},
                                       {"prompt-lookup", make_prompt_lookup},
                                       {"suffix-decoding", make_suffix_decoding},
                                       {"token-recycling", make_token_recycling},
                                       {"jacobi", make_jacobi},
                                       {"lookahead", make_lookahead}}};

Result<std::unique_ptr<Strategy>> make(const speculation::StrategySpecification& specification,
                                       const speculation::ModelShape& shape,
                                       const StrategyResources& resources) {
  if (specification.has_parts()) return make_mix(specification, shape);
  const auto maker = std::find_if(makers.begin(), makers.end(), [&](const Maker& candidate) {
    return candidate.name == specification.name();
  });
  if (maker == makers.end())
    return fail("strategy {}: found nothing that decodes by it, expected one that the engine makes",
                specification.name());
  return maker->make(specification, shape, resources);
}

}  // namespace

Result<ConfiguredStrategy> make_strategy(const speculation::StrategySpecification& specification,
                                         const speculation::ModelShape& shape,
                                         const StrategyResources& resources) {
  if (specification.name() == "tuned") return make_tuned(specification, shape, resources);
  // What a policy teaches auto is in the run's parameters, for who replays it without the file.
  DRAFTSCOPE_TRY_ASSIGN(const auto made, specification.name() == "auto"
                                             ? speculation::with_policy_read(specification, shape)
                                             : Result<speculation::StrategySpecification>(specification));
  DRAFTSCOPE_TRY_ASSIGN(auto strategy, make(made, shape, resources));
  if (made.guard() > 0.0) strategy = make_guarded(std::move(strategy), made.guard());
  return ConfiguredStrategy{.name = specification.name(),
                            .specification = specification.given(),
                            .parameters = made.json(),
                            .is_vanilla = specification.name() == "vanilla",
                            .strategy = std::move(strategy)};
}

Result<ConfiguredStrategy> make_strategy(std::string_view specification, const speculation::ModelShape& shape,
                                         const StrategyResources& resources) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, speculation::parse_strategy(specification, shape.n_layers));
  return make_strategy(parsed, shape, resources);
}

}  // namespace draftscope::engine
