// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Local maxima of a differentiable function on [0, 1]^d from several starts at once.

#include <Eigen/Core>
#include <functional>

namespace draftscope::engine::search {

struct Evaluation {
  Eigen::VectorXd values;     ///< one a column
  Eigen::MatrixXd gradients;  ///< d × columns
};

struct Maximum {
  Eigen::VectorXd point;
  double value = 0.0;
};

struct AscentLimits {
  double gradient =
      1e-5;               ///< stops where no component of the projected gradient is larger (L-BFGS-B's pgtol)
  double gain = 2.2e-9;   ///< stops where a step gains less, relative to max(1, |value|) (its ftol)
  int evaluations = 100;  ///< maximum evaluations per start
};

/// The best point that projected gradient steps reach from the columns of `starts`; the lowest column among
/// equals.
///
/// The spectral projected gradient method (Birgin, Martínez & Raydan 2000, algorithm SPG2): steps of the
/// length of Barzilai & Borwein, cut back where they fall below the lowest of the last ten values. It needs
/// no history matrices as L-BFGS-B does, and all starts advance in step, so that `evaluate` sees them as one
/// matrix (d × columns still climbing) and can work in matrix products.
[[nodiscard]] Maximum ascend(const std::function<Evaluation(const Eigen::MatrixXd&)>& evaluate,
                             const Eigen::MatrixXd& starts, const AscentLimits& limits = {});

}  // namespace draftscope::engine::search
