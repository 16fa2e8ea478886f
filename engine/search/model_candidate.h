// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One candidate from the Gaussian process. It is a function of values, so that another thread can make it
// while the search takes further scores.

#include <draftscope/engine/search.h>
#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "layer_space.h"
#include "search_random.h"

namespace draftscope::engine::search {

/// The scored candidates, in order and contiguous in memory: the Gaussian process reads them in place, and
/// adding one needs no separate allocation.
class Observations {
 public:
  explicit Observations(const LayerSpace& space) : space_(space) {}

  /// Reserves memory for `count` candidates, so that adding them allocates nothing.
  void reserve(std::size_t count);
  /// Adds a candidate. It must skip nothing outside the space, and its point must have the space's dimension.
  void add(const Candidate& candidate, double score);

  [[nodiscard]] std::size_t size() const { return scores_.size(); }
  /// Index of the highest score; ties go to the first. There must be at least one.
  [[nodiscard]] std::size_t best() const;

  /// Points as columns, and scores, for first ≤ i < last. Valid until the next change.
  [[nodiscard]] Eigen::Map<const Eigen::MatrixXd> points(std::size_t first, std::size_t last) const;
  [[nodiscard]] Eigen::Map<const Eigen::VectorXd> scores(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::size_t dimension() const { return static_cast<std::size_t>(space_.dimension()); }

  LayerSpace space_;
  std::vector<double> points_;  // [size][dimension]
  std::vector<double> scores_;
};

struct LengthScaleFit {
  double length_scale = 1.0;
  std::size_t observations = 0;  ///< number of leading observations used for the fit; 0 = never fitted
};

struct ModelInput {
  SearchOptions options;
  LayerSpace space;
  Eigen::MatrixXd points;  ///< the scored candidates as columns: d × n, n ≥ 1
  Eigen::VectorXd scores;  ///< n
  SearchStream stream;
  std::optional<LengthScaleFit> fit;  ///< fit to use; none = a new fit to all n
};

struct ModelCandidate {
  Candidate candidate;
  LengthScaleFit fit;  ///< fit that was used
};

/// Maximises the upper confidence bound. The same input gives the same bits on one machine.
[[nodiscard]] ModelCandidate model_candidate(const ModelInput& input);

}  // namespace draftscope::engine::search
