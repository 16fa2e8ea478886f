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

constexpr double min_scale = 1e-5;
constexpr double max_scale = 1e5;
constexpr double tolerance = 1e-3;  ///< tolerance of log ℓ

/// Logarithms of ℓ, from where all points are uncorrelated (K = I) to where all are fully correlated (K = 1).
/// The upper bound itself is added, since constant scores are explained best there.
std::vector<double> grid(const Table<double>& squared) {
  double nearest = std::numeric_limits<double>::infinity();
  double furthest = 0.0;
  for (const double pair : squared.reshaped()) {
    const double distance = std::sqrt(pair);
    // Points closer than this are identical; their distance is rounding.
    if (distance > 1e-6) nearest = std::min(nearest, distance);
    furthest = std::max(furthest, distance);
  }
  if (!(nearest <= furthest)) return {};
  const double low = std::log(std::clamp(nearest / 4.0, min_scale, max_scale));
  const double high = std::log(std::clamp(furthest * 8.0, min_scale, max_scale));
  const auto steps = std::clamp(static_cast<int>(std::ceil((high - low) / std::numbers::ln2)), 1, 15);
  std::vector<double> points;
  for (int step = 0; step <= steps; ++step) points.push_back(low + (high - low) * step / steps);
  if (high < std::log(max_scale)) points.push_back(std::log(max_scale));
  return points;
}

struct Known {
  double place, value;
};

/// The place of the maximum of a function that has one between `below` and `above`, where `best` is no lower
/// than both and lies between them. Uses Brent's combination of parabolas through the three best places with
/// golden sections (Brent 1973, chapter 5), starting with the parabola through these three.
template <typename Function>
double maximum(Known below, Known best, Known above, const Function& function) {
  constexpr double golden = 2.0 - std::numbers::phi;
  double low = below.place;
  double high = above.place;
  Known second = below.value > above.value ? below : above;
  Known third = below.value > above.value ? above : below;
  double step = high - low;
  double step_before = 2.0 * step;
  for (int evaluation = 0; evaluation < 60; ++evaluation) {
    const double middle = (low + high) / 2.0;
    if (std::abs(best.place - middle) <= 2.0 * tolerance - (high - low) / 2.0) break;
    // Take the parabola's top if it lies inside and steps shrink; otherwise the golden section of the longer
    // side.
    const double r = (best.place - second.place) * (best.value - third.value);
    const double q = (best.place - third.place) * (best.value - second.value);
    const double numerator = (best.place - third.place) * q - (best.place - second.place) * r;
    const double denominator = 2.0 * (r - q);
    const double parabola = denominator != 0.0 ? numerator / denominator : 0.0;
    const double top = best.place + parabola;
    if (parabola != 0.0 && std::abs(parabola) < std::abs(step_before) / 2.0 && top > low && top < high) {
      step_before = step;
      // Nothing new can be learnt next to an end; a step to the other side closes the bracket.
      const bool at_an_end = top - low < 2.0 * tolerance || high - top < 2.0 * tolerance;
      step = at_an_end ? std::copysign(tolerance, middle - best.place) : parabola;
    } else {
      step_before = (best.place < middle ? high : low) - best.place;
      step = golden * step_before;
    }
    const double place = best.place + (std::abs(step) >= tolerance ? step : std::copysign(tolerance, step));
    const Known tried{place, function(place)};
    if (tried.value >= best.value) {
      (place >= best.place ? low : high) = best.place;
      third = second;
      second = best;
      best = tried;
      continue;
    }
    (place < best.place ? low : high) = place;
    if (tried.value >= second.value || second.place == best.place) {
      third = second;
      second = tried;
    } else if (tried.value >= third.value || third.place == best.place || third.place == second.place) {
      third = tried;
    }
  }
  return best.place;
}

}  // namespace

Evidence evidence_of(const Eigen::Ref<const Eigen::MatrixXd>& points, const Eigen::VectorXd& scores,
                     double noise) {
  const Table<double> square = squared_distances(points, points);
  const Eigen::Index n = points.cols();
  Table<double> pairs(n * (n - 1) / 2, 1);
  for (Eigen::Index column = 0, first = 0; column < n; first += n - 1 - column, ++column)
    pairs.col(0).segment(first, n - 1 - column) = square.col(column).tail(n - 1 - column);
  return {std::move(pairs), scores, noise};
}

double log_likelihood(const Evidence& evidence, double length_scale) {
  const Eigen::Index n = evidence.scores.size();
  const Table<double> pairs = covariance(scaled(evidence.squared_distances, length_scale));
  Eigen::MatrixXd matrix(n, n);  // its lower triangle
  matrix.diagonal().setConstant(1.0 + evidence.noise);
  for (Eigen::Index column = 0, first = 0; column < n; first += n - 1 - column, ++column)
    matrix.col(column).tail(n - 1 - column) = pairs.col(0).segment(first, n - 1 - column);
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> cholesky(matrix);  // in place
  const Eigen::VectorXd whitened = matrix.triangularView<Eigen::Lower>().solve(evidence.scores);
  return -0.5 * whitened.squaredNorm() - matrix.diagonal().array().log().sum() -
         0.5 * static_cast<double>(n) * std::log(2.0 * std::numbers::pi);
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
  const auto known = [&](std::size_t i) { return Known{points[i], likelihoods[i]}; };
  const auto at = [&](double place) { return log_likelihood(evidence, std::exp(place)); };
  return std::exp(maximum(known(best == 0 ? 0 : best - 1), known(best),
                          known(std::min(best + 1, points.size() - 1)), at));
}

}  // namespace draftscope::engine::search
