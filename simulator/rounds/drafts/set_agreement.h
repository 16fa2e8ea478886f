// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Agreement with the target of a draft without some sublayers, for sets that nobody drafted with: a model
// fitted to the tried sets. Each skipped sublayer leaves a share of the tokens right, and the shares
// multiply. Sublayers with little data are close to others of their kind (ridge regression around the mean of
// attentions and of MLPs). No publication covers it; tests compare it with recorded sets.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

/// [2 · layer] its attention, [2 · layer + 1] its MLP: whether the draft leaves it out.
using SkippedSublayers = std::vector<bool>;

/// A set that was tried, with its number of positions.
struct TriedSet {
  SkippedSublayers skipped;
  double judged = 0.0;
  double right = 0.0;
};

/// Candidates that SWIFT's searches scored, each on the window of its run. Errors: unreadable decisions.
[[nodiscard]] Result<std::vector<TriedSet>> scored_candidates(traces::Reader& reader,
                                                              std::span<const RunRows> runs,
                                                              std::int32_t n_layers);

/// Sets that runs drafted with, except exits, which leave out the end of the model.
[[nodiscard]] std::vector<TriedSet> drafted_sets(const traces::Recording& recording,
                                                 std::span<const RunRows> runs, const LayerSetsById& sets,
                                                 std::int32_t n_layers);

/// Expected agreement of a set, with its bounds at two standard errors.
struct ExpectedAgreement {
  double mean = 0.0;
  double low = 0.0;
  double high = 0.0;
};

class SetAgreement {
 public:
  /// Absent where nothing was tried. O(sets · layers² + layers³).
  [[nodiscard]] static std::optional<SetAgreement> fit(std::span<const TriedSet> tried);

  [[nodiscard]] ExpectedAgreement of(const SkippedSublayers& skipped) const;

 private:
  SetAgreement(Eigen::VectorXd costs, Eigen::MatrixXd covariance, double misfit)
      : costs_(std::move(costs)), covariance_(std::move(covariance)), misfit_(misfit) {}

  Eigen::VectorXd costs_;  ///< −ln of shares: attentions, MLPs, then each sublayer's addition.
  Eigen::MatrixXd covariance_;
  double misfit_ = 0.0;  ///< Variance of a set's −ln(agreement) around the sum of its costs, relative to the
                         ///< square of the sum.
};

}  // namespace draftscope::simulator
