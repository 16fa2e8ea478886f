// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The predicted speedup of every exit layer and draft length on one machine: the grid that `draftscope
// simulate --sweep exit=… --sweep gamma=…` prints, at the mean prices.

#include <cstdint>
#include <functional>
#include <optional>
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
  double speedup = 0.0;  ///< Speedup; for a bounded answer, the slower bound.
  std::string refusal;   ///< Why there is no answer; empty if there is one.
};

/// Exits and lengths that have an answer anywhere in a map, as columns and rows of its picture.
struct HeatAxes {
  std::vector<std::int32_t> exits;    ///< From left to right, ascending.
  std::vector<std::int32_t> lengths;  ///< From top to bottom, descending.

  /// Column and row of a setting, both from 0; absent if it is not in the picture.
  [[nodiscard]] std::optional<std::pair<int, int>> place_of(std::int32_t exit, std::int32_t gamma) const;
};

struct HeatMap {
  std::int32_t exits = 0;
  std::int32_t lengths = 0;
  std::vector<HeatCell> cells;  ///< Cells in order of exit, then length, both from 1.

  [[nodiscard]] const HeatCell& at(std::int32_t exit, std::int32_t gamma) const {
    return cells[static_cast<std::size_t>((exit - 1) * lengths + gamma - 1)];
  }
  [[nodiscard]] HeatAxes answered() const;
  /// Fastest cell; null if no cell has an answer.
  [[nodiscard]] const HeatCell* best() const;
};

/// Rounds of all cells, which do not depend on the machine. They are replayed once and cached for the next
/// map, also if replaying was stopped half-way. Not thread-safe.
class HeatMapRounds {
 public:
  explicit HeatMapRounds(TrainedPointer trained) : trained_(std::move(trained)) {}

  /// `should_continue` is asked after each cell. Errors: it returned false; missing choices; a machine that
  /// contradicts itself.
  [[nodiscard]] Result<HeatMap> map(
      const Question& question, const std::function<bool(std::int64_t, std::int64_t)>& should_continue = {});

 private:
  struct Cell {
    simulator::StrategyRounds rounds;  ///< All requests as one.
    std::string refusal;
  };
  Result<void> replay(const simulator::WhatIf& what_if, const Question& question,
                      const std::function<bool(std::int64_t, std::int64_t)>& should_continue);

  TrainedPointer trained_;
  std::string kept_for_;          ///< Strategy of the first cell, which names threshold and verification.
  std::int32_t kept_layers_ = 0;  ///< Number of layers of the model that was replayed.
  std::vector<Cell> kept_;
};

}  // namespace draftscope::gui
