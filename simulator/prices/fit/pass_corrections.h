// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Residuals of a cost law at kinds of passes that were measured, and what they say of other kinds.
//
// ln(measured / law) is taken for a Gaussian process over kinds: one constant for all, then drafts by their
// share of the depth and target passes by ln(rows), each a constant plus a Brownian path (so that it is
// interpolated between measured kinds and held beyond them), plus a part of each number of rows and of each
// kind's own. How much laws miss, drafts apart from target passes, maximises the evidence.
// A kind that was measured often is reproduced; one that was hardly measured is left to the law and its
// neighbours. (Rasmussen and Williams, Gaussian Processes for Machine Learning, §2.1 and §5.4, in weights.)

#include <draftscope/simulator/prices/cost_model.h>
#include <Eigen/Dense>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// From the residuals of a fit; zero without passes.
[[nodiscard]] CorrectionScale correction_scale(std::span<const MeasuredPass> passes,
                                               const CostVector& values);

/// [kind]: expected ln(correction) if the law's parameters are `values`.
[[nodiscard]] Eigen::VectorXd correction_logs(std::span<const MeasuredPass> passes,
                                              const CorrectionScale& scale,
                                              std::span<const MeasuredPassKind> kinds,
                                              const CostVector& values);

/// The same of certain kinds for many parameters, with what stays unknown.
class PassCorrections {
 public:
  PassCorrections(std::span<const MeasuredPass> all_passes, const CorrectionScale& scale,
                  std::span<const MeasuredPassKind> kinds);

  /// The same corrections of a few of the kinds, by their ascending places among all; to the bit.
  [[nodiscard]] PassCorrections of(std::span<const Eigen::Index> places) const;

  /// Count of the normal numbers that draws of all kinds take.
  [[nodiscard]] Eigen::Index noise_size() const { return noise_size_; }
  /// Count of those that these kinds depend on: the first ones.
  [[nodiscard]] Eigen::Index noise_used() const { return spread_.cols(); }

  /// [kind]: standard deviation of the ln(correction), given the measurements.
  [[nodiscard]] Eigen::VectorXd deviations() const { return spread_.rowwise().norm(); }

  /// [kind of all]: the correction if its logarithm is the expected one plus its spread times `noise`, which
  /// are noise_used() independent standard normal numbers; 1 of those that of() left out.
  [[nodiscard]] Eigen::VectorXd factors(const CostVector& values, const Eigen::VectorXd& noise) const;

 private:
  PassCorrections() = default;

  std::vector<std::size_t> parameters_;  ///< that any measured pass depends on
  Eigen::MatrixXd law_;                  ///< [measured pass][of parameters_]
  Eigen::VectorXd measured_ns_;
  Eigen::Index kinds_ = 0;  ///< of all
  Eigen::Index noise_size_ = 0;
  std::vector<Eigen::Index> places_;  ///< [kind]: among all
  Eigen::MatrixXd gain_;              ///< [kind][measured pass]
  Eigen::MatrixXd spread_;            ///< [kind][noise]: a root of the covariance given the measurements
};

}  // namespace draftscope::simulator
