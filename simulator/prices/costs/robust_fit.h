// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Minimises, over x ≥ lower,
//     Σ huber((a·x − y) / y) / (σ² / weight + error²) + Σ ((c·x − target) / sigma)²,
// huber being quadratic up to 5 %, by iteratively reweighted non-negative least squares; σ is the residuals'
// own spread. Dense normal equations: meant for up to some hundred unknowns.

#include <draftscope/base/result.h>
#include <Eigen/Dense>
#include <utility>
#include <vector>

namespace draftscope::simulator {

struct FitData {
  Eigen::MatrixXd rows;
  Eigen::VectorXd times;  ///< positive
  Eigen::VectorXd weights;
  Eigen::VectorXd errors;  ///< relative standard errors of `times`
};

struct GaussianPrior {
  std::vector<std::pair<std::size_t, double>> terms;  ///< c, sparse
  double target = 0.0;
  double sigma = 1.0;
};

struct RobustFit {
  Eigen::VectorXd x;
  Eigen::MatrixXd covariance;  ///< zero in the rows of unknowns at their bound
  std::vector<bool> at_bound;
  double sigma = 0.0;  ///< relative, of the residuals
};

[[nodiscard]] RobustFit robust_fit(const FitData& data, const std::vector<GaussianPrior>& priors,
                                   const Eigen::VectorXd& lower);

/// Covariance of the priors alone; expects that they determine every unknown.
[[nodiscard]] Eigen::MatrixXd prior_covariance(const std::vector<GaussianPrior>& priors,
                                               Eigen::Index unknowns);

}  // namespace draftscope::simulator
