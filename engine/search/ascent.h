// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Finds local maxima of a differentiable function on [0, 1]^d from several starts at once.

#include <Eigen/Core>
#include <functional>

namespace draftscope::engine::search {

struct Evaluation {
  Eigen::VectorXd values;     ///< one per column
  Eigen::MatrixXd gradients;  ///< d × columns
};

struct Maximum {
  Eigen::VectorXd point;
  double value = 0.0;
};

struct AscentLimits {
  /// Stops where no component of the projected gradient is larger (L-BFGS-B's pgtol).
  double gradient = 1e-5;
  double gain = 2.2e-9;   ///< Stops where a step gains less, relative to max(1, |value|) (L-BFGS-B's ftol).
  int evaluations = 100;  ///< maximum evaluations per start
};

/// The best point that projected gradient steps reach from the columns of `starts`; ties go to the lowest
/// column.
///
/// The spectral projected gradient method (Birgin, Martínez & Raydan 2000, algorithm SPG2) takes steps of
/// Barzilai & Borwein's length, shortened if they fall below the lowest of the last ten values. Unlike
/// L-BFGS-B it needs no history matrices. All starts advance together, so that `evaluate` sees them as one
/// matrix (d × columns still climbing) and can use matrix products.
[[nodiscard]] Maximum ascend(const std::function<Evaluation(const Eigen::MatrixXd&)>& evaluate,
                             const Eigen::MatrixXd& starts, const AscentLimits& limits = {});

}  // namespace draftscope::engine::search
