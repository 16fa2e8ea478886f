// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The likelihood of a length scale given the observations, and the length scale of highest likelihood.

#include <Eigen/Core>

#include "gaussian_process.h"

namespace draftscope::engine::search {

/// The observations in the form that the likelihood needs.
struct Evidence {
  Table<double> squared_distances;  ///< pairs i > j, column by column: n(n − 1)/2 × 1
  Eigen::VectorXd scores;           ///< n, of mean 0 and variance 1
  double noise = 0.0;               ///< variance added to the diagonal
};

[[nodiscard]] Evidence evidence_of(const Eigen::Ref<const Eigen::MatrixXd>& points,
                                   const Eigen::VectorXd& scores, double noise);

/// log p(scores | ℓ) (Rasmussen & Williams 2006, eq. 2.30), O(n³/3).
[[nodiscard]] double log_likelihood(const Evidence& evidence, double length_scale);

/// The ℓ in [1e−5, 1e5], scikit-learn's bounds, with the highest likelihood found. It is 1, scikit-learn's
/// start, if there are fewer than two distinct points.
///
/// The package runs L-BFGS-B from 1 and from five random starts. One unknown needs no such library, and the
/// function has several maxima. Instead, a geometric grid over the scales on which the covariances change
/// brackets the best maximum, and Brent's method finds it to within 1e-3 of log ℓ. No derivative is used: it
/// needs the inverse, which costs three factorisations at best, where the method needs about six in total.
/// This takes fifteen factorisations in all, and no random numbers.
[[nodiscard]] double fit_length_scale(const Evidence& evidence);

}  // namespace draftscope::engine::search
