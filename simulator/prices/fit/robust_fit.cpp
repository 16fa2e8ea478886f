// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/robust_fit.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double huber_delta = 0.05;
constexpr double smallest_sigma = 1e-4;  // Lower bound that makes exact data solvable.

struct Solution {
  VectorXd x;
  std::vector<bool> free;
};

MatrixXd submatrix(const MatrixXd& matrix, const std::vector<Index>& chosen) {
  return matrix(chosen, chosen);
}

/// Lawson and Hanson's active-set method on normal equations that were scaled to a unit diagonal.
Solution nonnegative_minimum(const MatrixXd& gram, const VectorXd& right) {
  const Index n = right.size();
  constexpr double tolerance = 1e-10;
  const double reached = tolerance * std::max(1.0, right.cwiseAbs().maxCoeff());
  Solution solution{VectorXd::Zero(n), std::vector<bool>(static_cast<std::size_t>(n), false)};
  std::vector<bool>& free = solution.free;
  for (Index iteration = 0; iteration < 10 * n; ++iteration) {
    const VectorXd descent = right - gram * solution.x;
    Index best = -1;
    for (Index i = 0; i < n; ++i)
      if (!free[static_cast<std::size_t>(i)] && descent[i] > reached &&
          (best < 0 || descent[i] > descent[best]))
        best = i;
    if (best < 0) break;
    free[static_cast<std::size_t>(best)] = true;
    for (;;) {
      std::vector<Index> chosen;
      for (Index i = 0; i < n; ++i)
        if (free[static_cast<std::size_t>(i)]) chosen.push_back(i);
      if (chosen.empty()) break;
      const VectorXd trial = submatrix(gram, chosen).ldlt().solve(right(chosen));
      double step = 1.0;
      Index blocking = -1;
      for (Index i = 0; i < trial.size(); ++i) {
        const double from = solution.x[chosen[static_cast<std::size_t>(i)]];
        if (trial[i] > 0.0) continue;
        const double share = from > 0.0 ? from / (from - trial[i]) : 0.0;
        if (blocking < 0 || share < step) {
          step = share;
          blocking = chosen[static_cast<std::size_t>(i)];
        }
      }
      for (Index i = 0; i < trial.size(); ++i) {
        double& value = solution.x[chosen[static_cast<std::size_t>(i)]];
        value += step * (trial[i] - value);
      }
      if (blocking < 0) break;
      solution.x[blocking] = 0.0;
      free[static_cast<std::size_t>(blocking)] = false;
    }
  }
  return solution;
}

void add_priors(const std::vector<GaussianPrior>& priors, MatrixXd& gram, VectorXd& right) {
  for (const GaussianPrior& prior : priors) {
    const double precision = 1.0 / (prior.sigma * prior.sigma);
    for (const auto& [i, a] : prior.terms) {
      right[static_cast<Index>(i)] += precision * a * prior.target;
      for (const auto& [j, b] : prior.terms)
        gram(static_cast<Index>(i), static_cast<Index>(j)) += precision * a * b;
    }
  }
}

/// Neighbours that share one value.
struct Pool {
  double mean = 0.0;
  double variance = 0.0;
  std::size_t count = 0;
};

bool decreases_by_chance(const Pool& before, const Pool& after) {
  constexpr double proof = 3.0;  // Standard deviations that prove a decrease.
  const double decrease = before.mean - after.mean;
  return decrease > 0.0 && decrease * decrease < proof * proof * (before.variance + after.variance);
}

Pool joined(const Pool& a, const Pool& b) {
  const double sum = a.variance + b.variance;
  return {(b.variance * a.mean + a.variance * b.mean) / sum, a.variance * b.variance / sum,
          a.count + b.count};
}

}  // namespace

RobustFit robust_fit(const FitData& data, const std::vector<GaussianPrior>& priors, const VectorXd& lower) {
  const Index n = data.rows.cols();
  const MatrixXd relative = data.times.cwiseInverse().asDiagonal() * data.rows;
  VectorXd huber = VectorXd::Ones(data.times.size());
  RobustFit fit;
  fit.sigma = huber_delta;
  Solution solution;
  MatrixXd gram;
  VectorXd scale;
  constexpr int iterations = 25;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    // The variance of the law's residual and that of the time add up.
    const VectorXd variances =
        fit.sigma * fit.sigma * data.weights.cwiseInverse() + data.errors.cwiseProduct(data.errors);
    const VectorXd weights = huber.cwiseQuotient(variances);
    gram = relative.transpose() * weights.asDiagonal() * relative;
    VectorXd right = relative.transpose() * weights;
    add_priors(priors, gram, right);
    right -= gram * lower;  // The system is in terms of x − lower.
    scale = gram.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
    const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
    solution = nonnegative_minimum(scaled, scale.cwiseProduct(right));
    fit.x = lower + scale.cwiseProduct(solution.x);

    const VectorXd residuals = relative * fit.x - VectorXd::Ones(data.times.size());
    std::vector<double> magnitudes(residuals.size());
    for (Index i = 0; i < residuals.size(); ++i) {
      magnitudes[static_cast<std::size_t>(i)] = std::abs(residuals[i]);
      huber[i] = std::min(1.0, huber_delta / std::max(std::abs(residuals[i]), 1e-12));
    }
    constexpr double to_deviation = 1.4826;  // Normal standard deviation / median magnitude.
    fit.sigma = std::max(to_deviation * upper_median(magnitudes), smallest_sigma);
  }

  fit.covariance = MatrixXd::Zero(n, n);
  std::vector<Index> chosen;
  fit.at_bound.resize(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    fit.at_bound[static_cast<std::size_t>(i)] = !solution.free[static_cast<std::size_t>(i)];
    if (solution.free[static_cast<std::size_t>(i)]) chosen.push_back(i);
  }
  if (chosen.empty()) return fit;
  const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  const auto size = static_cast<Index>(chosen.size());
  const MatrixXd inverse = submatrix(scaled, chosen).ldlt().solve(MatrixXd::Identity(size, size));
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) {
      const Index a = chosen[static_cast<std::size_t>(i)];
      const Index b = chosen[static_cast<std::size_t>(j)];
      fit.covariance(a, b) = scale[a] * scale[b] * inverse(i, j);
    }
  return fit;
}

MatrixXd prior_covariance(const std::vector<GaussianPrior>& priors, Index unknowns) {
  MatrixXd gram = MatrixXd::Zero(unknowns, unknowns);
  VectorXd right = VectorXd::Zero(unknowns);
  add_priors(priors, gram, right);
  const VectorXd scale = gram.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  const MatrixXd inverse = scaled.ldlt().solve(MatrixXd::Identity(unknowns, unknowns));
  return scale.asDiagonal() * inverse * scale.asDiagonal();
}

void pool_decreases(std::span<double> values, std::span<const double> deviations) {
  std::vector<Pool> pools;
  pools.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Pool last{values[i], deviations[i] * deviations[i], 1};
    while (!pools.empty() && decreases_by_chance(pools.back(), last)) {
      last = joined(pools.back(), last);
      pools.pop_back();
    }
    pools.push_back(last);
  }
  std::size_t i = 0;
  for (const Pool& pool : pools)
    for (std::size_t k = 0; k < pool.count; ++k) values[i++] = pool.mean;
}

}  // namespace draftscope::simulator
