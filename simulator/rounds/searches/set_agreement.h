// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Agreement with the target of a draft without some sublayers, for sets that nobody drafted with: a model
// fitted to the tried sets. Each skipped sublayer leaves a share of the tokens right, and the shares
// multiply. Sublayers with little data are close to others of their kind (ridge regression around the mean of
// attentions and of MLPs). No publication covers it; tests compare it with recorded sets.

#include <Eigen/Core>
#include <optional>
#include <span>
#include <utility>

#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

class SetAgreement {
 public:
  /// Absent where nothing was tried. O(sets · layers² + layers³).
  [[nodiscard]] static std::optional<SetAgreement> fit(std::span<const TriedSet> tried);

  [[nodiscard]] ExpectedAgreement of(const SkippedSublayers& skipped) const;
  /// Expected agreement of a set that was tried, by its sublayers and by what it got right.
  [[nodiscard]] ExpectedAgreement of(const TriedSet& tried) const;

 private:
  SetAgreement(Eigen::VectorXd costs, Eigen::MatrixXd covariance, double misfit)
      : costs_(std::move(costs)), covariance_(std::move(covariance)), misfit_(misfit) {}

  Eigen::VectorXd costs_;  ///< −ln of shares: attentions, MLPs, then each sublayer's addition.
  Eigen::MatrixXd covariance_;
  double misfit_ = 0.0;  ///< Variance of a set's −ln(agreement) around the sum of its costs, relative to the
                         ///< square of the sum.
};

}  // namespace draftscope::simulator
