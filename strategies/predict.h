// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What folders of strategies/ have for predictions: how the strategies and parts of their rows are replayed,
// and what else of their rounds follows from a recording. A null function: there is nothing of that kind.

#include <draftscope/base/result.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

class AuxiliaryRule;      // simulator/rounds/drafts/auxiliary_work.h
class Policy;             // simulator/rounds/replay/policy.h
class PricedGuard;        // simulator/rounds/replay/priced_guard.h
class SearchRule;         // simulator/rounds/drafts/search_schedule.h
struct Machine;           // draftscope/simulator/prices/asked_machine.h
struct ReplayModel;       // simulator/rounds/replay/policy_choice.h
struct StrategyRounds;    // draftscope/simulator/rounds/strategy_rounds.h
struct TextRounds;        // simulator/rounds/round_sources.h
struct TrainedRecording;  // simulator/rounds/trained_recording.h

/// Numbers of sublayers that a mask leaves out.
struct SkippedSublayerCounts {
  std::int32_t attention = 0;
  std::int32_t mlp = 0;
};

/// A part of mixes. Parts of one mix that name the same function share what it makes. A length or stop whose
/// row has a rule needs no policy.
struct PartPrediction {
  speculation::PartKind kind = speculation::PartKind::mask;
  std::string_view name;
  /// Decides what the part decides, from shadow tokens.
  std::unique_ptr<Policy> (*policy)(const speculation::StrategySpecification& mix,
                                    const ReplayModel& model) = nullptr;
  std::unique_ptr<AuxiliaryRule> (*auxiliary)(const speculation::StrategySpecification& mix,
                                              const speculation::ModelShape& shape) = nullptr;
  /// `max_searches` as of SearchSchedule.
  std::unique_ptr<SearchRule> (*search)(const speculation::StrategySpecification& mix, std::int32_t n_layers,
                                        std::int64_t max_searches) = nullptr;
  /// Number that a mask's search leaves out, where its parameters give it.
  SkippedSublayerCounts (*skipped)(const speculation::StrategySpecification& mix,
                                   std::int32_t n_layers) = nullptr;
};

/// A strategy that is no mix of parts.
struct StrategyPrediction {
  std::string_view name;
  std::unique_ptr<Policy> (*policy)() = nullptr;
  /// Its rounds, as far as they follow from the recorded texts. A null guard is none.
  Result<TextRounds> (*text_rounds)(const TrainedRecording& trained,
                                    const speculation::StrategySpecification& strategy,
                                    PricedGuard* guard) = nullptr;
  /// Its rounds, where it makes them by itself; `text` is the specification as it was given, and a null
  /// machine the recorded one.
  Result<StrategyRounds> (*rounds)(const TrainedRecording& trained,
                                   const speculation::StrategySpecification& strategy, std::string_view text,
                                   const Machine* machine) = nullptr;
};

/// Predictions of a folder, whose predict.cpp makes them: StrategyPredictions predict_of_FOLDER().
struct StrategyPredictions {
  std::vector<PartPrediction> parts;
  std::vector<StrategyPrediction> strategies;
};

/// Predictions of all folders.
[[nodiscard]] std::vector<StrategyPredictions> every_predict();

/// Null if no folder has the part.
[[nodiscard]] const PartPrediction* part_prediction(const speculation::StrategySpecification& strategy,
                                                    speculation::PartKind kind);
/// The prediction of a strategy by name; an empty one if no folder has the name.
[[nodiscard]] const StrategyPrediction& strategy_prediction(std::string_view name);

}  // namespace draftscope::simulator
