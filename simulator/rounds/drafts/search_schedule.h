// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// When a strategy that searches for its layers while it decodes is at work, by the rules of the engine.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/rules/confidence_skips.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

class SearchSchedule {
 public:
  /// `max_searches`: candidates after which a search that ends has ended (SWIFT's); negative: it goes on.
  /// Every search of ConfLayers is taken to find a set that is tried.
  SearchSchedule(const speculation::StrategySpecification& strategy, std::int32_t n_layers,
                 std::int64_t max_searches);

  void begin_request();
  /// Whether a search follows the round.
  [[nodiscard]] bool follows(const traces::Round& round);

 private:
  enum class Kind : std::uint8_t { none, clasp, knapspec, swift, conflayers };

  [[nodiscard]] bool follows_clasp(std::int32_t emitted);
  [[nodiscard]] bool follows_swift(std::int32_t emitted);
  [[nodiscard]] bool follows_conflayers(const traces::Round& round);

  Kind kind_ = Kind::none;
  std::int32_t interval_ = 1;  ///< units, or rounds
  bool counts_tokens_ = false;
  bool carries_ = false;
  std::int32_t window_ = 0;  ///< tokens that must have been emitted before the first candidate
  std::int64_t max_searches_ = -1;
  std::int64_t searches_ = 0;
  std::int32_t since_ = 0;    ///< units since the last search
  std::int32_t rounds_ = 0;   ///< of the request
  std::int32_t emitted_ = 0;  ///< of the request, the prefill's token included
  std::optional<speculation::ConfidenceSearches> confidences_;  ///< ConfLayers'
};

}  // namespace draftscope::simulator
