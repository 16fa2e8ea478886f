// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Auxiliary passes of strategies (scenario.h), by the rules of the engine: which there are after the prefill
// and after a round, and over how many rows.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

/// Kinds of auxiliary passes, each with its number in RoundStatistics::auxiliary, which grows with them.
class AuxiliaryPasses {
 public:
  /// Adds passes to `counts`; `context` is of each.
  void count(const AuxiliaryPass& pass, std::int64_t passes, std::int64_t context,
             std::vector<PassCount>& counts);

  [[nodiscard]] const std::vector<AuxiliaryPass>& kinds() const { return kinds_; }

 private:
  std::vector<AuxiliaryPass> kinds_;
};

/// The round, as auxiliary passes behind it depend on it.
struct AuxiliaryRound {
  std::int32_t index = 0;          ///< within the request
  std::int32_t prompt_tokens = 0;  ///< of the request
  std::int32_t root_position = 0;  ///< before the round
  std::int32_t accepted = 0;       ///< before a cut at the end of the text
};

class AuxiliaryWork {
 public:
  /// Rules of a strategy on a model; nothing if it makes no passes of its own.
  [[nodiscard]] static std::optional<AuxiliaryWork> of(const speculation::StrategySpecification& strategy,
                                                       const speculation::ModelShape& shape);

  /// Between the prefill and the first round of a prompt. `is_first`: of the requests that carry over from
  /// one another what was learnt; a search that was due where the last one ended is not counted.
  void after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const;

  /// After a round behind which the strategy was at work.
  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const;

 private:
  struct Del {
    std::int32_t prompt_window = 0;
    bool reads_prompt_at_once = true;  ///< else with the first round, as the public code does
    std::int32_t heads = 0;            ///< exits that may be chosen
  };
  struct Swift {
    std::int32_t window = 0;
    bool scores_first = false;   ///< the output's first tokens, not the latest
    std::int32_t attention = 0;  ///< sublayers that a candidate keeps; halves are rounded up
    std::int32_t mlp = 0;
  };
  struct Clasp {
    std::int32_t skip = 0;
    bool carries_set = false;  ///< a request begins with the set of the one before
  };
  struct Knapspec {
    std::int32_t window = 0;
    std::int32_t attention_weight = 1;  ///< of a sublayer in the knapsack
    std::int32_t mlp_weight = 1;
  };
  void heads(std::int32_t positions, AuxiliaryPasses& passes, std::vector<PassCount>& counts) const;
  void layers(std::int32_t skip, std::int64_t position, AuxiliaryPasses& passes,
              std::vector<PassCount>& counts) const;
  void knapsack(std::int64_t committed, AuxiliaryPasses& passes, std::vector<PassCount>& counts) const;

  std::int32_t n_layers_ = 0;
  std::optional<Del> del_;
  std::optional<Swift> swift_;
  std::optional<Clasp> clasp_;
  std::optional<Knapspec> knapspec_;
  std::int32_t confidence_window_ = 0;  ///< tokens that ConfLayers looks at; 0 = it is another strategy
};

}  // namespace draftscope::simulator
