// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The predicted speedup of every exit layer and draft length on one machine: the grid that
// `draftscope simulate --sweep exit=… --sweep gamma=…` prints, at the means of the prices.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "what_if/questions/question.h"
#include "what_if/questions/trained_recording.h"

namespace draftscope::gui {

inline constexpr std::int32_t longest_in_heat_map = 17;

struct HeatCell {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  std::string strategy;
  simulator::AnswerStatus status = simulator::AnswerStatus::exact;
  double speedup = 0.0;  ///< Speedup; of a bounded answer the slower bound.
  std::string refusal;   ///< why there is no answer; empty if there is
};

struct HeatMap {
  std::int32_t exits = 0;
  std::int32_t lengths = 0;
  std::vector<HeatCell> cells;  ///< by exit, then length, both from 1

  [[nodiscard]] const HeatCell& at(std::int32_t exit, std::int32_t gamma) const {
    return cells[static_cast<std::size_t>((exit - 1) * lengths + gamma - 1)];
  }
  /// Null if no cell has an answer.
  [[nodiscard]] const HeatCell* best() const;
};

/// Rounds of all cells, which no machine changes: replayed once, and kept for the next map, as far as they
/// got when they were stopped. Not thread-safe.
class HeatMapRounds {
 public:
  explicit HeatMapRounds(TrainedPointer trained) : trained_(std::move(trained)) {}

  /// `should_continue` is asked after each cell. Errors: it says no; choices that are missing; a
  /// machine that contradicts itself.
  [[nodiscard]] Result<HeatMap> map(
      const Question& question, const std::function<bool(std::int64_t, std::int64_t)>& should_continue = {});

 private:
  struct Cell {
    simulator::StrategyRounds rounds;  ///< all requests as one
    std::string refusal;
  };
  Result<void> replay(const simulator::WhatIf& what_if, const Question& question,
                      const std::function<bool(std::int64_t, std::int64_t)>& should_continue);

  TrainedPointer trained_;
  std::string kept_for_;          ///< the strategy of the first cell, which names threshold and verification
  std::int32_t kept_layers_ = 0;  ///< Layers of the model whose exits they are.
  std::vector<Cell> kept_;
};

}  // namespace draftscope::gui
