// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Auxiliary passes of strategies (scenario.h) by the engine's rules: which passes follow the prefill or a
// round, and over how many rows.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace draftscope::simulator {

/// Kinds of auxiliary passes, each with an index into RoundStatistics::auxiliary, which grows with them.
class AuxiliaryPasses {
 public:
  /// Adds passes to `counts`; each has this `context`.
  void count(const AuxiliaryPass& pass, std::int64_t passes, std::int64_t context,
             std::vector<PassCount>& counts);

  [[nodiscard]] const std::vector<AuxiliaryPass>& kinds() const { return kinds_; }

 private:
  std::vector<AuxiliaryPass> kinds_;
};

/// Facts about a round that its auxiliary passes depend on.
struct AuxiliaryRound {
  std::int32_t index = 0;          ///< Index within the request.
  std::int32_t prompt_tokens = 0;  ///< Prompt tokens of the request.
  std::int32_t root_position = 0;  ///< Position before the round.
  std::int32_t accepted = 0;       ///< Accepted tokens, before a cut at the end of the text.
};

/// Auxiliary passes of a part, one object per run.
class AuxiliaryRule {
 public:
  virtual ~AuxiliaryRule() = default;
  /// Adds passes between the prefill and the first round of a prompt. `is_first` refers to a sequence of
  /// requests that share learned state; a search that was due where the previous request ended is not
  /// counted.
  virtual void after_prefill(std::int32_t /*prompt_tokens*/, bool /*is_first*/, AuxiliaryPasses& /*passes*/,
                             std::vector<PassCount>& /*counts*/) const {}
  /// Adds passes after a round that was followed by the strategy's auxiliary work.
  virtual void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                           std::vector<PassCount>& counts) const = 0;
};

/// Auxiliary passes of a strategy: the rules of its parts.
class AuxiliaryWork {
 public:
  /// Rules of a strategy on a model; absent if it makes no auxiliary passes.
  [[nodiscard]] static std::optional<AuxiliaryWork> of(const speculation::StrategySpecification& strategy,
                                                       const speculation::ModelShape& shape);

  // Both are as in AuxiliaryRule.
  void after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const;
  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const;

 private:
  std::vector<std::shared_ptr<const AuxiliaryRule>> rules_;
};

}  // namespace draftscope::simulator
