// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Acceptance of the k-th draft token of a round, over any stretch of rounds without walking them. The counts
// are those of `draftscope report` (simulator/figures), which cover the whole run.
//
// Memory: 3 bytes per round, and 0.25 per position. Immutable once built.

#include <draftscope/simulator/analysis/figures.h>
#include <cstdint>
#include <vector>

#include "data/opened_recording.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

class AcceptanceByPosition {
 public:
  /// Positions from here on are not counted.
  static constexpr std::int32_t max_positions = 32;

  AcceptanceByPosition() = default;
  AcceptanceByPosition(const OpenedRecording& opened, std::size_t run_index);

  /// Acceptance by position of the rounds [first, last), up to the position of the deepest draft of the run.
  /// O(log rounds).
  [[nodiscard]] std::vector<simulator::PositionAcceptance> count(std::size_t first, std::size_t last) const;

 private:
  struct Path {
    std::uint8_t steps = 0;
    std::uint8_t accepted = 0;
    std::uint8_t reached = 0;  ///< Positions that verification reached, up to the text's end.
  };
  /// Adds a round's counts to a row: for each position drafted, reached, accepted.
  void add_round(std::size_t place, std::span<std::uint32_t> row) const;

  std::vector<Path> paths_;  ///< [place]
  SumPyramid<std::uint32_t> pyramid_;
};

}  // namespace draftscope::gui
