// SPDX-License-Identifier: GPL-3.0-or-later
#include "upper_confidence.h"

#include <algorithm>
#include <limits>

namespace draftscope::engine::search {

Evaluation upper_confidence(const Acquisition& acquisition, const Eigen::MatrixXd& points) {
  const GaussianProcess& process = *acquisition.process;
  const double length_scale = process.length_scale();
  const Table<double> s = scaled(squared_distances(process.points(), points), length_scale);
  const Eigen::MatrixXd known = covariance(s).matrix();  // n × m
  Eigen::MatrixXd solved = known;
  process.factor().triangularView<Eigen::Lower>().solveInPlace(solved);
  const Eigen::ArrayXd variance = 1.0 - solved.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd deviation = variance.max(0.0).sqrt();
  process.factor().transpose().triangularView<Eigen::Upper>().solveInPlace(solved);  // K⁻¹·k

  // ∂μ = Σᵢ wᵢ·∂kᵢ and ∂σ = −Σᵢ (K⁻¹k)ᵢ·∂kᵢ / σ, with ∂kᵢ = fᵢ·(x − xᵢ). At an observation σ may round to 0,
  // where it has no gradient; the floor keeps the quotient finite.
  const Eigen::ArrayXd share = acquisition.kappa / deviation.max(1e-12);
  Table<double> pull = -(solved.array().rowwise() * share.transpose());
  pull.colwise() += process.weights().array();
  pull *= covariance_gradient(s, length_scale);

  Evaluation bound;
  bound.values = known.transpose() * process.weights();
  bound.values.array() += acquisition.kappa * deviation;
  bound.gradients = points * pull.colwise().sum().matrix().asDiagonal();
  bound.gradients.noalias() -= process.points() * pull.matrix();
  return bound;
}

Eigen::VectorXd best_of_random(const Acquisition& acquisition, std::int32_t count,
                               const SearchStream& stream) {
  const GaussianProcess& process = *acquisition.process;
  const Eigen::MatrixXf observed = process.points().cast<float>();
  const Eigen::MatrixXf factor = process.factor().cast<float>();
  const Eigen::VectorXf weights = process.weights().cast<float>();
  const auto kappa = static_cast<float>(acquisition.kappa);

  constexpr std::int32_t chunk = 256;  // its covariances stay in the second-level cache
  float best = -std::numeric_limits<float>::infinity();
  Eigen::VectorXf place;
  Eigen::MatrixXf points;
  for (std::int32_t first = 0; first < count; first += chunk) {
    points.resize(observed.rows(), std::min(chunk, count - first));
    fill_uniform(stream, SearchDraw::screen, static_cast<std::uint32_t>(first), points);
    Eigen::MatrixXf known =
        covariance(scaled(squared_distances(observed, points), process.length_scale())).matrix();
    Eigen::ArrayXf values = (known.transpose() * weights).array();
    factor.triangularView<Eigen::Lower>().solveInPlace(known);
    values += kappa * (1.0F - known.colwise().squaredNorm().transpose().array()).max(0.0F).sqrt();
    Eigen::Index column = 0;
    if (const float value = values.maxCoeff(&column); value > best) {
      best = value;
      place = points.col(column);
    }
  }
  return place.cast<double>();
}

}  // namespace draftscope::engine::search
