// SPDX-License-Identifier: GPL-3.0-or-later
#include "upper_confidence.h"

#include <algorithm>
#include <limits>
#include <vector>

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
  // where it has no gradient; the floor makes the quotient finite.
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

  constexpr std::int32_t chunk = 256;  // points whose covariances stay in the second-level cache
  constexpr Eigen::Index block = 64;
  const Eigen::Index n = observed.cols();
  float best = -std::numeric_limits<float>::infinity();
  Eigen::VectorXf place;
  Eigen::MatrixXf points;
  std::vector<Eigen::Index> higher;
  for (std::int32_t first = 0; first < count; first += chunk) {
    points.resize(observed.rows(), std::min(chunk, count - first));
    fill_uniform(stream, SearchDraw::screen, static_cast<std::uint32_t>(first), points);
    Eigen::MatrixXf known =
        covariance(scaled(squared_distances(observed, points), process.length_scale())).matrix();
    Eigen::ArrayXf mean = (known.transpose() * weights).array();
    Eigen::ArrayXf variance = Eigen::ArrayXf::Ones(mean.size());
    // Every observation lowers the variance. The variance left by the first ones bounds a value from above;
    // points whose bound is no higher than the best value are dropped.
    for (Eigen::Index row = 0; row < n && points.cols() > 0; row += block) {
      const Eigen::Index rows = std::min(block, n - row);
      auto solved = known.middleRows(row, rows);
      solved.noalias() -= factor.block(row, 0, rows, row) * known.topRows(row);
      factor.block(row, row, rows, rows).triangularView<Eigen::Lower>().solveInPlace(solved);
      variance -= solved.colwise().squaredNorm().transpose().array();
      const Eigen::ArrayXf bound = mean + kappa * variance.max(0.0F).sqrt();
      higher.clear();
      for (Eigen::Index i = 0; i < bound.size(); ++i)
        if (bound[i] > best) higher.push_back(i);
      points = points(Eigen::all, higher).eval();
      known = known(Eigen::all, higher).eval();
      mean = mean(higher).eval();
      variance = variance(higher).eval();
    }
    const Eigen::ArrayXf values = mean + kappa * variance.max(0.0F).sqrt();
    if (values.size() == 0) continue;
    Eigen::Index column = 0;
    best = values.maxCoeff(&column);
    place = points.col(column);
  }
  return place.cast<double>();
}

}  // namespace draftscope::engine::search
