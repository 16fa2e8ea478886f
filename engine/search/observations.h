// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The candidates that were scored, in their order, side by side in memory: the Gaussian process reads them as
// they lie, and none of them is an allocation of its own.

#include <draftscope/engine/search.h>
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "layer_space.h"

namespace draftscope::engine::search {

class Observations {
 public:
  explicit Observations(const LayerSpace& space) : space_(space) {}

  /// Memory for so many, that none of them allocates.
  void reserve(std::size_t count);
  /// `candidate` skips nothing outside the space, and its point has the space's dimension.
  void add(const Candidate& candidate, double score);

  [[nodiscard]] std::size_t size() const { return scores_.size(); }
  /// Index of the highest score, the first among equals. There is at least one.
  [[nodiscard]] std::size_t best() const;
  [[nodiscard]] Candidate candidate(std::size_t index) const;
  [[nodiscard]] double score(std::size_t index) const { return scores_[index]; }

  /// Points as columns, and scores, of first ≤ i < last. Valid until the next change.
  [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> points(std::size_t first, std::size_t last) const;
  [[nodiscard]] Eigen::Map<const Eigen::VectorXd> scores(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::size_t dimension() const { return static_cast<std::size_t>(space_.dimension()); }

  LayerSpace space_;
  std::vector<double> points_;         // [size][dimension]
  std::vector<std::uint8_t> skipped_;  // [size][dimension]
  std::vector<CandidateOrigin> origins_;
  std::vector<double> scores_;
};

}  // namespace draftscope::engine::search
