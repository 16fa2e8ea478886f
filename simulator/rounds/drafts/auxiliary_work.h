// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Auxiliary passes of strategies (scenario.h), by the rules of the engine: which there are after the prefill
// and after a round, and over how many rows.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <memory>
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

/// The facts of a round on which auxiliary passes after it depend.
struct AuxiliaryRound {
  std::int32_t index = 0;          ///< within the request
  std::int32_t prompt_tokens = 0;  ///< of the request
  std::int32_t root_position = 0;  ///< before the round
  std::int32_t accepted = 0;       ///< before a cut at the end of the text
};

/// Auxiliary passes of a part, one object for a run.
class AuxiliaryRule {
 public:
  virtual ~AuxiliaryRule() = default;
  /// Between the prefill and the first round of a prompt. `is_first`: of the requests that carry over from
  /// one another what was learnt; a search that was due where the last one ended is not counted.
  virtual void after_prefill(std::int32_t /*prompt_tokens*/, bool /*is_first*/, AuxiliaryPasses& /*passes*/,
                             std::vector<PassCount>& /*counts*/) const {}
  /// After a round that was followed by the strategy's own work.
  virtual void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                           std::vector<PassCount>& counts) const = 0;
};

/// Auxiliary passes of a strategy: the rules of its parts.
class AuxiliaryWork {
 public:
  /// Rules of a strategy on a model; nothing if it makes no passes of its own.
  [[nodiscard]] static std::optional<AuxiliaryWork> of(const speculation::StrategySpecification& strategy,
                                                       const speculation::ModelShape& shape);

  // As AuxiliaryRule's.
  void after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const;
  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const;

 private:
  std::vector<std::shared_ptr<const AuxiliaryRule>> rules_;
};

}  // namespace draftscope::simulator
