// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What folders of strategies/ have for the engine: makers of the strategies and parts of their rows. A
// specification is checked: its values are within the catalogue's bounds. What a maker may still refuse is
// what the catalogue cannot know: files, other models, the room of a verification.

#include <draftscope/engine/strategy.h>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

/// A part of mixes. A length or stop whose row has a rule needs no maker.
struct PartMaker {
  speculation::PartKind kind = speculation::PartKind::mask;
  std::string_view name;
  Result<void> (*add)(const speculation::StrategySpecification& mix, const speculation::ModelShape& shape,
                      Parts& parts) = nullptr;
};

/// A strategy that is no mix of parts.
struct StrategyMaker {
  std::string_view name;
  Result<std::unique_ptr<Strategy>> (*make)(const speculation::StrategySpecification& specification,
                                            const speculation::ModelShape& shape,
                                            const StrategyResources& resources) = nullptr;
  /// The specification that decodes, where files add to the given one; null = it is the given one.
  Result<speculation::StrategySpecification> (*completed)(
      const speculation::StrategySpecification& specification,
      const speculation::ModelShape& shape) = nullptr;
  /// Instead of `make`, where a file names the strategy.
  Result<ConfiguredStrategy> (*configure)(const speculation::StrategySpecification& specification,
                                          const speculation::ModelShape& shape,
                                          const StrategyResources& resources) = nullptr;
};

/// Makers of a folder, whose engine.cpp makes them: StrategyMakers engine_of_FOLDER().
struct StrategyMakers {
  std::vector<PartMaker> parts;
  std::vector<StrategyMaker> strategies;
};

/// Makers of all folders.
[[nodiscard]] std::vector<StrategyMakers> every_engine();

/// Adds a part that learns to the learners.
template <typename Part>
std::shared_ptr<Part> learn(Parts& parts, std::shared_ptr<Part> part) {
  parts.learners.push_back(part);
  return part;
}

/// Adds the threshold by the mix's rule, if it has one; whether it does.
bool add_threshold_rule(const speculation::StrategySpecification& mix, Parts& parts);

/// The strategy while it is not slower than so much of vanilla decoding's speed.
[[nodiscard]] std::unique_ptr<Strategy> make_guarded(std::unique_ptr<Strategy> strategy, double min_speed);

}  // namespace draftscope::engine
