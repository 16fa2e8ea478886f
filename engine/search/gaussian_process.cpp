// SPDX-License-Identifier: GPL-3.0-or-later
#include "gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "likelihood.h"

namespace draftscope::engine::search {

// Right-hand sides are matrices of one column: in Eigen's solve for vectors, clang's analyzer falsely reports
// a leak.

GaussianProcess::GaussianProcess(Eigen::Index dimension, double noise)
    : noise_(noise), points_(dimension, 0) {}

void GaussianProcess::assign(const Eigen::Ref<const Eigen::MatrixXd>& points,
                             const Eigen::Ref<const Eigen::VectorXd>& scores,
                             std::optional<double> length_scale) {
  scores_.resize(0);
  store(points, scores);
  standardise();
  set_length_scale(length_scale ? *length_scale
                                : fit_length_scale(evidence_of(this->points(), standardised_, noise_)));
}

void GaussianProcess::add(const Eigen::Ref<const Eigen::MatrixXd>& points,
                          const Eigen::Ref<const Eigen::VectorXd>& scores) {
  const Eigen::Index before = size();
  store(points, scores);
  for (Eigen::Index row = before; row < size(); ++row) append_row(row);
  standardise();
  solve_weights();
}

void GaussianProcess::set_length_scale(double length_scale) {
  length_scale_ = length_scale;
  const auto n = size();
  if (n == 0) return;
  Eigen::MatrixXd matrix = covariance(scaled(squared_distances(points(), points()), length_scale)).matrix();
  matrix.diagonal().setConstant(1.0 + noise_);
  factor_.topLeftCorner(n, n) = Eigen::LLT<Eigen::MatrixXd>(matrix).matrixL();
  solve_weights();
}

Posterior GaussianProcess::posterior(const Eigen::Ref<const Eigen::MatrixXd>& points) const {
  if (size() == 0) return {Eigen::VectorXd::Zero(points.cols()), Eigen::VectorXd::Ones(points.cols())};
  Eigen::MatrixXd known =
      covariance(scaled(squared_distances(this->points(), points), length_scale_)).matrix();
  Eigen::VectorXd mean = (known.transpose() * weights_ * deviation_).array() + mean_;
  factor().triangularView<Eigen::Lower>().solveInPlace(known);
  const Eigen::ArrayXd variance = 1.0 - known.colwise().squaredNorm().transpose().array();
  return {std::move(mean), deviation_ * variance.max(0.0).sqrt().matrix()};
}

void GaussianProcess::store(const Eigen::Ref<const Eigen::MatrixXd>& points,
                            const Eigen::Ref<const Eigen::VectorXd>& scores) {
  const Eigen::Index before = size();
  const Eigen::Index after = before + points.cols();
  if (after > points_.cols()) {
    // The capacity depends only on the size. Memory layout and order of additions are therefore the same
    // whether observations came one by one or all at once.
    const auto capacity = static_cast<Eigen::Index>(
        std::bit_ceil(std::max<std::uint64_t>(64, static_cast<std::uint64_t>(after))));
    points_.conservativeResize(Eigen::NoChange, capacity);
    factor_.conservativeResizeLike(Eigen::MatrixXd::Zero(capacity, capacity));
  }
  points_.middleCols(before, points.cols()) = points;
  scores_.conservativeResize(after);
  scores_.tail(scores.size()) = scores;
}

void GaussianProcess::append_row(Eigen::Index row) {
  double rest = 1.0 + noise_;
  if (row > 0) {
    Eigen::MatrixXd entries =
        covariance(scaled(squared_distances(points_.leftCols(row), points_.col(row)), length_scale_))
            .matrix();
    factor_.topLeftCorner(row, row).triangularView<Eigen::Lower>().solveInPlace(entries);
    factor_.row(row).head(row) = entries.transpose();
    rest -= entries.squaredNorm();
  }
  // The variance unexplained by other observations is at least the noise; rounding must not reduce it.
  factor_(row, row) = std::sqrt(std::max(rest, noise_));
}

void GaussianProcess::standardise() {
  mean_ = scores_.mean();
  const Eigen::VectorXd centred = scores_.array() - mean_;
  deviation_ = std::sqrt(centred.squaredNorm() / static_cast<double>(size()));
  // Scores that differ only by rounding are constant; as in scikit-learn they are not rescaled.
  if (deviation_ <= 10.0 * std::numeric_limits<double>::epsilon() * std::abs(mean_) || deviation_ == 0.0)
    deviation_ = 1.0;
  standardised_ = centred / deviation_;
}

void GaussianProcess::solve_weights() {
  Eigen::MatrixXd solved = standardised_;
  factor().triangularView<Eigen::Lower>().solveInPlace(solved);
  factor().transpose().triangularView<Eigen::Upper>().solveInPlace(solved);
  weights_ = solved;
}

}  // namespace draftscope::engine::search
