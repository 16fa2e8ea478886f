// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The upper confidence bound μ(x) + κ·σ(x), in units of the standardised scores. Its maximum is the same as
// in the scores' units, and steps and tolerances fit any kind of score.

#include <Eigen/Core>

#include "ascent.h"
#include "gaussian_process.h"
#include "search_random.h"

namespace draftscope::engine::search {

struct Acquisition {
  const GaussianProcess* process = nullptr;  ///< not owned; has at least one observation
  double kappa = 0.0;
};

/// Values and gradients at every column of `points`: O(n·(n + d)) per point, as matrix products over all of
/// them.
[[nodiscard]] Evaluation upper_confidence(const Acquisition& acquisition, const Eigen::MatrixXd& points);

/// The best of `count` uniform points, as the start of an ascent. Uses single precision at half the cost.
/// O(n·(n + d)) per point.
[[nodiscard]] Eigen::VectorXd best_of_random(const Acquisition& acquisition, std::int32_t count,
                                             const SearchStream& stream);

}  // namespace draftscope::engine::search
