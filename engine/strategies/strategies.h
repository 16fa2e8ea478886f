// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The strategies' makers. A specification is checked: its values are within the catalogue's bounds. What they
// may still refuse is what the catalogue cannot know: files, other models, the room of a verification.

#include <draftscope/engine/strategy.h>
#include <memory>

namespace draftscope::engine {

[[nodiscard]] Result<std::unique_ptr<Strategy>> make_auto(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_cascade(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_two_model(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_prompt_lookup(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_suffix_decoding(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_token_recycling(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_jacobi(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_lookahead(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape,
    const StrategyResources& resources);

/// The strategy while it is not slower than so much of vanilla decoding's speed.
[[nodiscard]] std::unique_ptr<Strategy> make_guarded(std::unique_ptr<Strategy> strategy, double min_speed);

/// A mix of the specification's parts.
[[nodiscard]] Result<std::unique_ptr<Strategy>> make_mix(
    const speculation::StrategySpecification& specification, const speculation::ModelShape& shape);

/// The strategy that a policy file names.
[[nodiscard]] Result<ConfiguredStrategy> make_tuned(const speculation::StrategySpecification& specification,
                                                    const speculation::ModelShape& shape,
                                                    const StrategyResources& resources);

}  // namespace draftscope::engine
