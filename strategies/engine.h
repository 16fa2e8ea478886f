// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The contribution of the folders of strategies/ to the engine: makers of the strategies and parts of their
// rows. A specification has been checked, so its values are within the catalogue's bounds. A maker may still
// refuse for facts that the catalogue cannot know: files, other models, the room of a verification.

#include <draftscope/engine/strategy.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

/// A part of mixes. A length or stop with a rule in its row needs no maker.
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
  /// Returns the specification that decodes, where files add to the given one; null = the given one decodes.
  Result<speculation::StrategySpecification> (*completed)(
      const speculation::StrategySpecification& specification,
      const speculation::ModelShape& shape) = nullptr;
  /// The note of a specification that was completed; null = none.
  std::string (*note)(const speculation::StrategySpecification& specification,
                      const StrategyResources& resources) = nullptr;
  /// Replaces `make` where a file names the strategy.
  Result<ConfiguredStrategy> (*configure)(const speculation::StrategySpecification& specification,
                                          const speculation::ModelShape& shape,
                                          const StrategyResources& resources) = nullptr;
};

/// Makers of a folder; its engine.cpp defines them as StrategyMakers engine_of_FOLDER().
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

/// Adds the threshold by the mix's rule, if it has one; returns whether it has.
bool add_threshold_rule(const speculation::StrategySpecification& mix, Parts& parts);

/// Wraps a strategy so that it stops while it is slower than this share of vanilla decoding's speed.
[[nodiscard]] std::unique_ptr<Strategy> make_guarded(std::unique_ptr<Strategy> strategy, double min_speed,
                                                     std::int32_t n_layers);

}  // namespace draftscope::engine
