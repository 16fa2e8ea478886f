// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Schedule of a strategy that searches for its layers while it decodes, by the engine's rules.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <memory>

#include "strategies/predict.h"

namespace draftscope::simulator {

/// Rule for when a part searches.
class SearchRule {
 public:
  virtual ~SearchRule() = default;
  virtual void begin_request() = 0;
  /// Whether a search follows the round.
  [[nodiscard]] virtual bool follows(const traces::Round& round) = 0;
};

class SearchSchedule {
 public:
  /// `max_searches` is the number of candidates after which a finite search has ended (SWIFT's); negative =
  /// it continues.
  SearchSchedule(const speculation::StrategySpecification& strategy, std::int32_t n_layers,
                 std::int64_t max_searches) {
    const PartPrediction* mask = part_prediction(strategy, speculation::PartKind::mask);
    if (mask != nullptr && mask->search != nullptr) rule_ = mask->search(strategy, n_layers, max_searches);
  }

  void begin_request() {
    if (rule_ != nullptr) rule_->begin_request();
  }
  /// Whether a search follows the round.
  [[nodiscard]] bool follows(const traces::Round& round) { return rule_ != nullptr && rule_->follows(round); }

 private:
  std::unique_ptr<SearchRule> rule_;  // Null if nothing searches.
};

}  // namespace draftscope::simulator
