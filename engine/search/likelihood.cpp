// SPDX-License-Identifier: GPL-3.0-or-later
#include "likelihood.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace draftscope::engine::search {
namespace {

constexpr double least_scale = 1e-5;
constexpr double most_scale = 1e5;
constexpr double tolerance = 1e-6;  ///< of log ℓ

Eigen::LLT<Eigen::MatrixXd> factor(const Evidence& evidence, const Table<double>& s) {
  Eigen::MatrixXd matrix = covariance(s).matrix();
  matrix.diagonal().array() += evidence.noise;
  return Eigen::LLT<Eigen::MatrixXd>(matrix);
}

/// Logarithms of ℓ from where all points are strangers (K = I) to where all are alike (K = 1), and the upper
/// bound itself: scores that do not vary are explained best out there.
std::vector<double> grid(const Table<double>& squared) {
  double nearest = std::numeric_limits<double>::infinity();
  double furthest = 0.0;
  for (Eigen::Index column = 0; column < squared.cols(); ++column)
    for (Eigen::Index row = 0; row < column; ++row) {
      const double distance = std::sqrt(squared(row, column));
      // Nearer than this is the same point, measured with rounding.
      if (distance > 1e-6) nearest = std::min(nearest, distance);
      furthest = std::max(furthest, distance);
    }
  if (!(nearest <= furthest)) return {};
  const double low = std::log(std::clamp(nearest / 16.0, least_scale, most_scale));
  const double high = std::log(std::clamp(furthest * 16.0, least_scale, most_scale));
  const auto steps = std::clamp(static_cast<int>(std::ceil((high - low) / std::numbers::ln2)), 1, 15);
  std::vector<double> points;
  for (int step = 0; step <= steps; ++step) points.push_back(low + (high - low) * step / steps);
  if (high < std::log(most_scale)) points.push_back(std::log(most_scale));
  return points;
}

struct End {
  double place;
  double slope;
};

/// Where the slope changes its sign between a rising and a falling end.
template <typename Slope>
double sign_change(End rising, End falling, const Slope& slope) {
  double last = 0.0;  // the slope at the last place; its sign tells which end was replaced
  for (int evaluation = 0; evaluation < 50; ++evaluation) {
    const double share = rising.slope / (rising.slope - falling.slope);
    const double place = rising.place + share * (falling.place - rising.place);
    if (std::min(place - rising.place, falling.place - place) < tolerance) return place;
    const End middle{place, slope(place)};
    if (middle.slope == 0.0) return place;
    // An end that stays twice counts half, or false position would creep towards it.
    if (middle.slope > 0.0) {
      if (last > 0.0) falling.slope /= 2.0;
      rising = middle;
    } else {
      if (last < 0.0) rising.slope /= 2.0;
      falling = middle;
    }
    last = middle.slope;
  }
  return (rising.place + falling.place) / 2.0;
}

}  // namespace

double log_likelihood(const Evidence& evidence, double length_scale) {
  const auto cholesky = factor(evidence, scaled(evidence.squared_distances, length_scale));
  const Eigen::VectorXd whitened = cholesky.matrixL().solve(evidence.scores);
  const auto n = static_cast<double>(evidence.scores.size());
  return -0.5 * whitened.squaredNorm() - cholesky.matrixLLT().diagonal().array().log().sum() -
         0.5 * n * std::log(2.0 * std::numbers::pi);
}

double log_likelihood_slope(const Evidence& evidence, double length_scale) {
  const auto n = evidence.scores.size();
  const Table<double> s = scaled(evidence.squared_distances, length_scale);
  const auto cholesky = factor(evidence, s);
  const Eigen::VectorXd weights = cholesky.solve(evidence.scores);
  const Eigen::MatrixXd inverse = cholesky.solve(Eigen::MatrixXd::Identity(n, n));
  // ½·tr((w·wᵀ − K⁻¹)·∂K): all three are symmetric, so the trace is a sum over elements.
  const Table<double> slope = covariance_slope(s);
  return 0.5 * (weights.dot(slope.matrix() * weights) - (inverse.array() * slope).sum());
}

double fit_length_scale(const Evidence& evidence) {
  const auto points = grid(evidence.squared_distances);
  if (points.empty()) return 1.0;
  std::size_t best = 0;
  std::vector<double> likelihoods;
  for (const double point : points) {
    likelihoods.push_back(log_likelihood(evidence, std::exp(point)));
    if (likelihoods.back() > likelihoods[best]) best = likelihoods.size() - 1;
  }
  const auto slope = [&](double place) { return log_likelihood_slope(evidence, std::exp(place)); };
  const End middle{points[best], slope(points[best])};
  const bool rises = middle.slope > 0.0;
  const bool at_the_end = rises ? best + 1 == points.size() : best == 0;
  if (middle.slope == 0.0 || at_the_end) return std::exp(middle.place);
  const double next = points[rises ? best + 1 : best - 1];
  const End other{next, slope(next)};
  // No sign change: the maximum lies at the point itself as far as the grid can tell.
  if ((other.slope > 0.0) == rises) return std::exp(middle.place);
  const double place = rises ? sign_change(middle, other, slope) : sign_change(other, middle, slope);
  const bool better = log_likelihood(evidence, std::exp(place)) > likelihoods[best];
  return std::exp(better ? place : middle.place);
}

}  // namespace draftscope::engine::search
