// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Residuals of a cost law at measured kinds of passes, and their inference for other kinds.
//
// ln(measured / law) is modelled as a Gaussian process over kinds with one constant for all. Drafts by their
// share of the depth and target passes by ln(rows) each add a constant plus a Brownian path (interpolated
// between measured kinds and constant beyond them). Each number of rows and each kind adds an independent
// part. The scales, separate for drafts and target passes, maximise the evidence. A kind that was measured
// often is reproduced; one with few measurements follows the law and its neighbours. (Rasmussen and Williams,
// Gaussian Processes for Machine Learning, §2.1 and §5.4, in weights.)

#include <draftscope/simulator/prices/cost_model.h>
#include <Eigen/Dense>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Scale from the residuals of a fit; zero without passes.
[[nodiscard]] CorrectionScale correction_scale(std::span<const MeasuredPass> passes,
                                               const CostVector& values);

/// [kind]: expected ln(correction) if the law's parameters are `values`.
[[nodiscard]] Eigen::VectorXd correction_logs(std::span<const MeasuredPass> passes,
                                              const CorrectionScale& scale,
                                              std::span<const MeasuredPassKind> kinds,
                                              const CostVector& values);

/// Corrections of certain kinds for many parameters, with their remaining uncertainty.
class PassCorrections {
 public:
  PassCorrections(std::span<const MeasuredPass> all_passes, const CorrectionScale& scale,
                  std::span<const MeasuredPassKind> kinds);

  /// Restricts the corrections to some kinds, by ascending indices among all; equal to the bit.
  [[nodiscard]] PassCorrections of(std::span<const Eigen::Index> places) const;

  /// Number of normal numbers that draws of all kinds take.
  [[nodiscard]] Eigen::Index noise_size() const { return noise_size_; }
  /// Number of normal numbers that these kinds depend on, which are the first ones.
  [[nodiscard]] Eigen::Index noise_used() const { return spread_.cols(); }

  /// [kind]: standard deviation of ln(correction), given the measurements.
  [[nodiscard]] Eigen::VectorXd deviations() const { return spread_.rowwise().norm(); }

  /// [kind of all]: the correction whose logarithm is the expected one plus its spread times `noise`; 1 for
  /// kinds that of() left out. `noise` has noise_used() independent standard normal numbers.
  [[nodiscard]] Eigen::VectorXd factors(const CostVector& values, const Eigen::VectorXd& noise) const;

 private:
  PassCorrections() = default;

  std::vector<std::size_t> parameters_;  ///< Parameters that any measured pass depends on.
  Eigen::MatrixXd law_;                  ///< [measured pass][index into parameters_]
  Eigen::VectorXd measured_ns_;
  Eigen::Index kinds_ = 0;  ///< Number of all kinds.
  Eigen::Index noise_size_ = 0;
  std::vector<Eigen::Index> places_;  ///< [kind]: index among all kinds
  Eigen::MatrixXd gain_;              ///< [kind][measured pass]
  Eigen::MatrixXd spread_;            ///< [kind][noise]: a root of the covariance given the measurements
};

}  // namespace draftscope::simulator
