// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Minimises, over x ≥ lower,
//     Σ huber((a·x − y) / y) / (σ² / weight + error²) + Σ ((c·x − target) / sigma)²,
// with huber quadratic up to 5 %, by iteratively reweighted non-negative least squares; σ is the spread of
// the residuals. Dense normal equations, meant for up to some hundred unknowns.

#include <draftscope/base/result.h>
#include <Eigen/Dense>
#include <span>
#include <utility>
#include <vector>

namespace draftscope::simulator {

struct FitData {
  Eigen::MatrixXd rows;
  Eigen::VectorXd times;  ///< All positive.
  Eigen::VectorXd weights;
  Eigen::VectorXd errors;  ///< Relative standard errors of `times`.
};

struct GaussianPrior {
  std::vector<std::pair<std::size_t, double>> terms;  ///< Coefficients c, sparse.
  double target = 0.0;
  double sigma = 1.0;
};

struct RobustFit {
  Eigen::VectorXd x;
  Eigen::MatrixXd covariance;  ///< Zero in the rows of unknowns at their bound.
  std::vector<bool> at_bound;
  double sigma = 0.0;  ///< Relative spread of the residuals.
};

[[nodiscard]] RobustFit robust_fit(const FitData& data, const std::vector<GaussianPrior>& priors,
                                   const Eigen::VectorXd& lower);

/// Covariance from the priors only, which must determine every unknown.
[[nodiscard]] Eigen::MatrixXd prior_covariance(const std::vector<GaussianPrior>& priors,
                                               Eigen::Index unknowns);

/// Makes a sequence of estimates non-decreasing, except where they prove a decrease: neighbours that decrease
/// by less than three standard deviations of their difference share their mean, weighted by 1 / deviation²
/// (pool adjacent violators; Barlow et al. 1972, §1.2; no library here has it). `deviations` are as many as
/// `values`, and positive. O(values).
void pool_decreases(std::span<double> values, std::span<const double> deviations);

}  // namespace draftscope::simulator
