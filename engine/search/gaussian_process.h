// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Regression on points of [0, 1]^d with a Matérn-5/2 kernel: prior mean 0 and variance 1 of the standardised
// scores, independent noise of one variance (Rasmussen & Williams 2006, algorithm 2.1). What
// bayesian-optimization 1.4 and 1.5 configure in scikit-learn: Matern(nu=2.5), normalize_y=True, alpha=noise.

#include <Eigen/Core>
#include <cmath>
#include <optional>

namespace draftscope::engine::search {

// The Matérn-5/2 covariance of unit variance, k(s) = (1 + s + s²/3)·e^−s with s = √5·r/ℓ (Rasmussen &
// Williams 2006, eq. 4.17): the kernel of the bayesian-optimization package that both papers searched with.
// Points are columns throughout.

template <typename Scalar>
using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// r² of every column of `a` (d × n) to every column of `b` (d × m), n × m, as one matrix product. Rounding
/// may leave −1e−14 where two points coincide; it is cut to 0.
template <typename A, typename B>
[[nodiscard]] Table<typename A::Scalar> squared_distances(const Eigen::MatrixBase<A>& a,
                                                          const Eigen::MatrixBase<B>& b) {
  using Scalar = typename A::Scalar;
  Table<Scalar> squared(a.cols(), b.cols());
  squared.matrix().noalias() = Scalar(-2) * (a.transpose() * b);
  squared.colwise() += a.colwise().squaredNorm().transpose().array();
  squared.rowwise() += b.colwise().squaredNorm().array();
  return squared.max(Scalar(0));
}

/// s of squared distances.
template <typename Scalar>
[[nodiscard]] Table<Scalar> scaled(const Table<Scalar>& squared, double length_scale) {
  return squared.sqrt() * static_cast<Scalar>(std::sqrt(5.0) / length_scale);
}

template <typename Scalar>
[[nodiscard]] Table<Scalar> covariance(const Table<Scalar>& s) {
  return (Scalar(1) + s * (Scalar(1) + s * Scalar(1.0 / 3.0))) * (-s).exp();
}

/// The factor f of ∂k(x, y)/∂x = f·(x − y): −5/(3ℓ²)·(1 + s)·e^−s, without the pole at x = y that the chain
/// rule through r would have.
template <typename Scalar>
[[nodiscard]] Table<Scalar> covariance_gradient(const Table<Scalar>& s, double length_scale) {
  return static_cast<Scalar>(-5.0 / (3.0 * length_scale * length_scale)) * (Scalar(1) + s) * (-s).exp();
}

/// Prediction of the noise-free function, in units of the scores.
struct Posterior {
  Eigen::VectorXd mean;
  Eigen::VectorXd deviation;
};

/// Grows a row an observation while the length scale stays. Not safe for concurrent changes; const members
/// may run concurrently. The same calls in the same order give the same bits on one machine.
class GaussianProcess {
 public:
  /// `noise` > 0, in units of the standardised scores' variance.
  GaussianProcess(Eigen::Index dimension, double noise);

  /// These observations and no others, the columns of `points` (d × n) with their n scores, factored at once:
  /// O(n³/3). Without a length scale the one of highest likelihood (fit_length_scale).
  void assign(const Eigen::Ref<const Eigen::MatrixXd>& points,
              const Eigen::Ref<const Eigen::VectorXd>& scores, std::optional<double> length_scale);
  /// Appends m observations: O(m·n²).
  void add(const Eigen::Ref<const Eigen::MatrixXd>& points, const Eigen::Ref<const Eigen::VectorXd>& scores);
  /// Factors anew at another length scale: O(n³/3).
  void set_length_scale(double length_scale);

  [[nodiscard]] Eigen::Index size() const { return scores_.size(); }
  [[nodiscard]] Eigen::Index dimension() const { return points_.rows(); }
  [[nodiscard]] double length_scale() const { return length_scale_; }
  [[nodiscard]] double log_likelihood() const;

  /// `points`: d × m. With no observations, the prior.
  [[nodiscard]] Posterior posterior(const Eigen::Ref<const Eigen::MatrixXd>& points) const;

  // Standardised units, in which acquisition functions work.
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double deviation() const { return deviation_; }
  [[nodiscard]] auto points() const { return points_.leftCols(size()); }  ///< d × n
  [[nodiscard]] auto factor() const {
    return factor_.topLeftCorner(size(), size());
  }                                                                          ///< L of K = L·Lᵀ, below
  [[nodiscard]] const Eigen::VectorXd& weights() const { return weights_; }  ///< K⁻¹·standardised scores

 private:
  void store(const Eigen::Ref<const Eigen::MatrixXd>& points,
             const Eigen::Ref<const Eigen::VectorXd>& scores);
  void append_row(Eigen::Index row);
  void standardise();
  void solve_weights();

  double noise_;
  double length_scale_ = 1.0;
  Eigen::MatrixXd points_;  ///< d × capacity
  Eigen::MatrixXd factor_;  ///< capacity × capacity, the lower triangle of the first n rows in use
  Eigen::VectorXd scores_;
  double mean_ = 0.0;
  double deviation_ = 1.0;
  Eigen::VectorXd standardised_;
  Eigen::VectorXd weights_;
};

}  // namespace draftscope::engine::search
