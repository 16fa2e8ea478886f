// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The upper confidence bound μ(x) + κ·σ(x), in units of the standardised scores: the same maximum as in the
// scores' own, and steps and tolerances that fit whatever is measured.

#include <Eigen/Core>

#include "ascent.h"
#include "gaussian_process.h"
#include "search_random.h"

namespace draftscope::engine::search {

struct Acquisition {
  const GaussianProcess* process = nullptr;  ///< not owned; holds at least one observation
  double kappa = 0.0;
};

/// Values at every column of `points`, with their gradients: O(n·(n + d)) a point, as matrix products over
/// all of them.
[[nodiscard]] Evaluation upper_confidence(const Acquisition& acquisition, const Eigen::MatrixXd& points);

/// The best of `count` uniform points. In single precision, at half the cost: it picks where an ascent
/// starts. O(n·(n + d)) a point.
[[nodiscard]] Eigen::VectorXd best_of_random(const Acquisition& acquisition, std::int32_t count,
                                             const SearchStream& stream);

}  // namespace draftscope::engine::search
