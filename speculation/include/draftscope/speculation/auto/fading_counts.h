// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Right and wrong guesses by cell, of which older ones count less: every fade() halves them all a little.

#include <cmath>
#include <cstddef>
#include <vector>

namespace draftscope::speculation {

class FadingCounts {
 public:
  /// `half_life`: calls of fade() after which a guess counts half.
  FadingCounts(std::size_t cells, double half_life) : cells_(cells), growth_(std::exp2(1.0 / half_life)) {}

  void fade() {
    // The weight of new guesses grows instead, so that a call touches no cell.
    now_ *= growth_;
    if (now_ > 1e9) rescale();
  }
  void add(std::size_t cell, bool right) {
    cells_[cell].all += now_;
    if (right) cells_[cell].right += now_;
  }
  /// Guesses of the cell, as they count today.
  [[nodiscard]] double weight(std::size_t cell) const { return cells_[cell].all / now_; }
  [[nodiscard]] double right(std::size_t cell) const { return cells_[cell].right / now_; }
  /// Share of right ones, with `prior` as if `prior_weight` guesses had told it.
  [[nodiscard]] double share(std::size_t cell, double prior, double prior_weight) const {
    return (cells_[cell].right / now_ + prior * prior_weight) / (weight(cell) + prior_weight);
  }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    double all = 0.0;
    double right = 0.0;
  };

  void rescale() {
    for (Cell& cell : cells_) {
      cell.all /= now_;
      cell.right /= now_;
    }
    now_ = 1.0;
  }

  std::vector<Cell> cells_;
  double growth_;
  double now_ = 1.0;  // weight of a guess that is added now
};

}  // namespace draftscope::speculation
