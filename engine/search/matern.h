// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The Matérn-5/2 covariance of unit variance, k(s) = (1 + s + s²/3)·e^−s with s = √5·r/ℓ (Rasmussen &
// Williams 2006, eq. 4.17): the kernel of the bayesian-optimization package that both papers searched with.
// Points are columns throughout.

#include <Eigen/Core>
#include <cmath>

namespace draftscope::engine::search {

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

}  // namespace draftscope::engine::search
