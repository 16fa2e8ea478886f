// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a cost law leaves over at kinds of passes that were measured, and what that says of other kinds.
//
// ln(measured / law) is taken for a Gaussian process over kinds: drafts by their share of the depth and
// target passes by ln(rows), each a constant plus a Brownian path (so that it is interpolated between
// measured kinds and held beyond them), plus a part of each kind's own. How much laws miss in general, its
// scale, maximises the evidence. A kind that was measured often is reproduced; one that was hardly measured
// is left to the law and its neighbours. (Rasmussen and Williams, Gaussian Processes for Machine Learning,
// §2.1 and §5.4, in weights.)

#include <draftscope/simulator/measured_pass.h>
#include <Eigen/Dense>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// The scale of ln(measured / law), from the residuals of a fit. 0 without passes.
[[nodiscard]] double correction_scale(std::span<const MeasuredPass> passes, const CostVector& values);

class PassCorrections {
 public:
  /// `scale` as above; 0 corrects nothing.
  PassCorrections(std::vector<MeasuredPass> passes, double scale);

  [[nodiscard]] Eigen::Index weights() const { return spread_.rows(); }

  /// [kind][weight]: ln(correction) of a kind is its row times the weights.
  [[nodiscard]] Eigen::MatrixXd features(std::span<const PassKind> kinds) const;

  /// Expected weights if the law's parameters are `values`, plus their spread times `noise`, independent
  /// standard normal numbers.
  [[nodiscard]] Eigen::VectorXd draw(const CostVector& values, const Eigen::VectorXd& noise) const;

 private:
  std::vector<MeasuredPass> passes_;
  double scale_ = 0.0;
  Eigen::MatrixXd gain_;    ///< [weight][measured pass]
  Eigen::MatrixXd spread_;  ///< [weight][weight], a root of the covariance given the measurements
};

}  // namespace draftscope::simulator
