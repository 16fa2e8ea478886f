// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One candidate from the Gaussian process: a function of values, so that another thread can make it while the
// search takes further scores.

#include <draftscope/engine/search.h>
#include <Eigen/Core>
#include <cstddef>
#include <optional>

#include "layer_space.h"
#include "search_random.h"

namespace draftscope::engine::search {

struct LengthScaleFit {
  double length_scale = 1.0;
  std::size_t observations = 0;  ///< number of first observations that it was fitted to; 0 = never fitted
};

struct ModelInput {
  SearchOptions options;
  LayerSpace space;
  Eigen::MatrixXd points;  ///< the candidates scored, as columns: d × n, n ≥ 1
  Eigen::VectorXd scores;  ///< n
  SearchStream stream;
  std::optional<LengthScaleFit> fit;  ///< to use; none = fits to all n
};

struct ModelCandidate {
  Candidate candidate;
  LengthScaleFit fit;  ///< fit that was used
};

/// Maximises the upper confidence bound. The same input gives the same bits on one machine.
[[nodiscard]] ModelCandidate model_candidate(const ModelInput& input);

}  // namespace draftscope::engine::search
