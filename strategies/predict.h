// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The contribution of the folders of strategies/ to predictions: how the strategies and parts of their rows
// are replayed, and which other facts about their rounds follow from a recording. A null function means that
// the strategy or part has nothing of that kind.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

class AuxiliaryRule;      // simulator/rounds/drafts/auxiliary_work.h
class Policy;             // simulator/rounds/replay/policy.h
class PricedGuard;        // simulator/rounds/replay/priced_guard.h
class SearchRule;         // simulator/rounds/searches/search_schedule.h
struct RecordedSearch;    // simulator/rounds/searches/replayed_search.h
struct ReplayedSearch;    // simulator/rounds/searches/replayed_search.h
struct Machine;           // draftscope/simulator/prices/asked_machine.h
struct ReplayModel;       // simulator/rounds/replay/policy_choice.h
struct StrategyRounds;    // draftscope/simulator/rounds/strategy_rounds.h
struct TextRounds;        // simulator/rounds/round_sources.h
struct TrainedRecording;  // simulator/rounds/trained_recording.h

/// Numbers of sublayers that a mask skips.
struct SkippedSublayerCounts {
  std::int32_t attention = 0;
  std::int32_t mlp = 0;
};

/// A part of mixes. Parts of one mix that name the same function share its result. A length or stop with a
/// rule in its row needs no policy.
struct PartPrediction {
  speculation::PartKind kind = speculation::PartKind::mask;
  std::string_view name;
  /// Makes the policy that takes the part's decisions from shadow tokens.
  std::unique_ptr<Policy> (*policy)(const speculation::StrategySpecification& mix,
                                    const ReplayModel& model) = nullptr;
  std::unique_ptr<AuxiliaryRule> (*auxiliary)(const speculation::StrategySpecification& mix,
                                              const speculation::ModelShape& shape) = nullptr;
  /// Makes the rule of its searches; `max_searches` as in SearchSchedule.
  std::unique_ptr<SearchRule> (*search)(const speculation::StrategySpecification& mix, std::int32_t n_layers,
                                        std::int64_t max_searches) = nullptr;
  /// Replays a recorded search by the same mask with the asked parameters. Nothing, where they change more of
  /// it than it can replay.
  std::optional<ReplayedSearch> (*replay_search)(const RecordedSearch& recorded,
                                                 const speculation::StrategySpecification& asked) = nullptr;
  /// Number of sublayers that a mask's search skips, where its parameters determine it.
  SkippedSublayerCounts (*skipped)(const speculation::StrategySpecification& mix,
                                   std::int32_t n_layers) = nullptr;
};

/// PartPrediction::auxiliary and ::search with the rule of a class.
template <typename Rule>
std::unique_ptr<AuxiliaryRule> auxiliary_of(const speculation::StrategySpecification& mix,
                                            const speculation::ModelShape& shape) {
  return std::make_unique<Rule>(mix, shape);
}
template <typename Rule>
std::unique_ptr<SearchRule> search_of(const speculation::StrategySpecification& mix, std::int32_t n_layers,
                                      std::int64_t max_searches) {
  return std::make_unique<Rule>(mix, n_layers, max_searches);
}

/// A strategy that is no mix of parts.
struct StrategyPrediction {
  std::string_view name;
  std::unique_ptr<Policy> (*policy)() = nullptr;
  /// The strategy's rounds, as far as they follow from the recorded texts. A null guard means none.
  Result<TextRounds> (*text_rounds)(const TrainedRecording& trained,
                                    const speculation::StrategySpecification& strategy,
                                    PricedGuard* guard) = nullptr;
  /// The strategy's rounds, where it makes them by itself. `text` is the specification as given; a null
  /// machine means the recorded one.
  Result<StrategyRounds> (*rounds)(const TrainedRecording& trained,
                                   const speculation::StrategySpecification& strategy, std::string_view text,
                                   const Machine* machine) = nullptr;
};

/// Predictions of a folder; its predict.cpp defines them as StrategyPredictions predict_of_FOLDER().
struct StrategyPredictions {
  std::vector<PartPrediction> parts;
  std::vector<StrategyPrediction> strategies;
};

/// Predictions of all folders.
[[nodiscard]] std::vector<StrategyPredictions> every_predict();

/// The prediction of a part; null if no folder has it.
[[nodiscard]] const PartPrediction* part_prediction(const speculation::StrategySpecification& strategy,
                                                    speculation::PartKind kind);
/// The prediction of a strategy by name; an empty one if no folder has the name.
[[nodiscard]] const StrategyPrediction& strategy_prediction(std::string_view name);

}  // namespace draftscope::simulator
