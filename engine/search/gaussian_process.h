// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Regression on points of [0, 1]^d with a Matérn-5/2 kernel. The standardised scores have prior mean 0 and
// variance 1, and independent noise of one variance (Rasmussen & Williams 2006, algorithm 2.1). This equals
// the configuration of scikit-learn in bayesian-optimization 1.4 and 1.5: Matern(nu=2.5), normalize_y=True,
// alpha=noise.

#include <Eigen/Core>
#include <cmath>
#include <optional>

namespace draftscope::engine::search {

// The Matérn-5/2 covariance of unit variance, k(s) = (1 + s + s²/3)·e^−s with s = √5·r/ℓ (Rasmussen &
// Williams 2006, eq. 4.17). It is the kernel of the bayesian-optimization package that both papers used.
// Points are always columns.

template <typename Scalar>
using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// Squared distances r² of every column of `a` (d × n) to every column of `b` (d × m), n × m, as one matrix
/// product. Rounding may give −1e−14 if two points coincide; such values become 0.
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

/// Computes s from squared distances.
template <typename Scalar>
[[nodiscard]] Table<Scalar> scaled(const Table<Scalar>& squared, double length_scale) {
  return squared.sqrt() * static_cast<Scalar>(std::sqrt(5.0) / length_scale);
}

template <typename Scalar>
[[nodiscard]] Table<Scalar> covariance(const Table<Scalar>& s) {
  return (Scalar(1) + s * (Scalar(1) + s * Scalar(1.0 / 3.0))) * (-s).exp();
}

/// The factor f of ∂k(x, y)/∂x = f·(x − y): −5/(3ℓ²)·(1 + s)·e^−s. It lacks the pole at x = y that the chain
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

/// A Gaussian process that grows by one row per observation while the length scale stays. Not safe for
/// concurrent changes; const members may run concurrently. The same calls in the same order give the same
/// bits on one machine.
class GaussianProcess {
 public:
  /// Makes a process without observations. `noise` > 0 is in units of the standardised scores' variance.
  GaussianProcess(Eigen::Index dimension, double noise);

  /// Replaces all observations by the columns of `points` (d × n) with their n scores, factored at once:
  /// O(n³/3). Without a length scale it takes the one of highest likelihood (fit_length_scale).
  void assign(const Eigen::Ref<const Eigen::MatrixXd>& points,
              const Eigen::Ref<const Eigen::VectorXd>& scores, std::optional<double> length_scale);
  /// Appends m observations: O(m·n²).
  void add(const Eigen::Ref<const Eigen::MatrixXd>& points, const Eigen::Ref<const Eigen::VectorXd>& scores);
  /// Factors again with another length scale: O(n³/3).
  void set_length_scale(double length_scale);

  [[nodiscard]] Eigen::Index size() const { return scores_.size(); }
  [[nodiscard]] Eigen::Index dimension() const { return points_.rows(); }
  [[nodiscard]] double length_scale() const { return length_scale_; }

  /// The posterior at `points`, d × m. Without observations it is the prior.
  [[nodiscard]] Posterior posterior(const Eigen::Ref<const Eigen::MatrixXd>& points) const;

  // These are in standardised units, in which acquisition functions work.
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double deviation() const { return deviation_; }
  [[nodiscard]] auto points() const { return points_.leftCols(size()); }  ///< d × n
  /// L of K = L·Lᵀ, in the lower triangle.
  [[nodiscard]] auto factor() const { return factor_.topLeftCorner(size(), size()); }
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
  Eigen::MatrixXd factor_;  ///< capacity × capacity; the lower triangle of the first n rows is used
  Eigen::VectorXd scores_;
  double mean_ = 0.0;
  double deviation_ = 1.0;
  Eigen::VectorXd standardised_;
  Eigen::VectorXd weights_;
};

}  // namespace draftscope::engine::search
