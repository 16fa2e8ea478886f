// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Skips of each sublayer over any stretch of a run's rounds, without walking them all: sums of blocks of 64
// rounds (sum_pyramid.h). Sublayer 2ℓ is layer ℓ's attention, 2ℓ + 1 its MLP. Rounds that drafted with no
// layers of the model (prompt lookup) or not at all count as rounds that skip nothing and draft nothing.
//
// Exact. Memory: 4 bytes per sublayer for each 56 rounds or so. Immutable once built.

#include <cstdint>
#include <vector>

#include "data/opened_recording.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

struct SkipSummary {
  std::size_t rounds = 0;
  std::size_t drafting = 0;            ///< Rounds with a layer set.
  std::vector<std::uint32_t> skipped;  ///< [sublayer] Rounds that skipped it.
  double exit_sum = 0.0;               ///< Sum of the drafting rounds' exit layers.
};

class SkipPyramid {
 public:
  /// Rounds per block of the lowest level: stretches whose ends are its multiples are cheapest.
  static constexpr std::size_t block = 64;

  SkipPyramid() = default;
  SkipPyramid(const OpenedRecording& opened, std::size_t run_index);

  [[nodiscard]] std::size_t sublayers() const { return sublayers_; }
  [[nodiscard]] std::size_t rounds() const { return set_of_round_.size(); }
  /// Counts the rounds [first, last) of the run. O(block + log rounds) sums of `sublayers` counts.
  void summarise(std::size_t first, std::size_t last, SkipSummary& into) const;
  /// Whether the round's mask differs from the one of the previous drafting round.
  [[nodiscard]] bool is_change(std::size_t place) const { return is_change_[place]; }

 private:
  struct LayerSetRow {
    std::vector<std::uint32_t> skipped;  ///< Skipped sublayers.
    std::int32_t exit_layer = 0;
  };
  /// Adds a round to a row: skips by sublayer, then whether it drafts, then its exit layer.
  void add_round(std::size_t place, std::span<std::uint32_t> row) const;

  std::size_t sublayers_ = 0;
  std::vector<LayerSetRow> sets_;
  std::vector<std::uint32_t> set_of_round_;  ///< Index into sets_, or none.
  std::vector<bool> is_change_;
  SumPyramid<std::uint32_t> pyramid_;
};

}  // namespace draftscope::gui
