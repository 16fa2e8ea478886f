// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/set_agreement.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

// Priors of −ln(agreement). Measured models lose 0.01 to 0.15 per sublayer in the middle.
constexpr double prior_cost = 0.05;       // Mean cost of attentions, and of MLPs.
constexpr double prior_of_a_kind = 0.05;  // Standard deviation of the mean cost of attentions, or of MLPs.
constexpr double prior_of_a_sublayer = 0.05;  // Standard deviation of a sublayer's cost around that mean.
constexpr double smallest_misfit = 0.04;      // Variance relative to the square of a set's cost.
constexpr double smallest_cost = 0.02;        // Minimum cost of a set, for misfits.
constexpr Eigen::Index kinds = 2;

/// Counts of each cost in a set: one per skipped sublayer for its kind, and once for the sublayer itself.
Eigen::VectorXd features_of(const SkippedSublayers& skipped) {
  Eigen::VectorXd features = Eigen::VectorXd::Zero(kinds + static_cast<Eigen::Index>(skipped.size()));
  for (std::size_t i = 0; i < skipped.size(); ++i)
    if (skipped[i]) {
      features(static_cast<Eigen::Index>(i % 2)) += 1.0;
      features(kinds + static_cast<Eigen::Index>(i)) = 1.0;
    }
  return features;
}

struct Regression {
  Eigen::MatrixXd features;  // [set][cost]
  Eigen::VectorXd lost;      // −ln(agreement) of each set
  Eigen::VectorXd noise;     // Variance of `lost`.
};

Regression regression_of(std::span<const TriedSet> tried) {
  const auto sets = static_cast<Eigen::Index>(tried.size());
  Regression regression{Eigen::MatrixXd(sets, kinds + static_cast<Eigen::Index>(tried[0].skipped.size())),
                        Eigen::VectorXd(sets), Eigen::VectorXd(sets)};
  for (Eigen::Index i = 0; i < sets; ++i) {
    const TriedSet& set = tried[static_cast<std::size_t>(i)];
    const double share = (set.right + 0.5) / (set.judged + 1.0);
    regression.features.row(i) = features_of(set.skipped).transpose();
    regression.lost(i) = -std::log(share);
    regression.noise(i) = (1.0 - share) / (set.judged * share);
  }
  return regression;
}

/// Posterior covariance and mean of the costs under normal priors: of kinds around `prior_cost`, of a
/// sublayer's difference from its kind around 0.
struct Posterior {
  Eigen::MatrixXd covariance;
  Eigen::VectorXd mean;
};

Posterior posterior_of(const Regression& regression, double misfit) {
  const Eigen::Index costs = regression.features.cols();
  Eigen::VectorXd prior = Eigen::VectorXd::Constant(costs, 1.0 / (prior_of_a_sublayer * prior_of_a_sublayer));
  prior.head(kinds).setConstant(1.0 / (prior_of_a_kind * prior_of_a_kind));
  const Eigen::ArrayXd size = regression.lost.array().max(smallest_cost);
  const Eigen::VectorXd weights = (regression.noise.array() + misfit * size.square()).inverse();
  const Eigen::MatrixXd weighted = regression.features.transpose() * weights.asDiagonal();
  Eigen::MatrixXd precision = weighted * regression.features;
  precision.diagonal() += prior;
  Posterior posterior;
  posterior.covariance = precision.ldlt().solve(Eigen::MatrixXd::Identity(costs, costs));
  Eigen::VectorXd towards = weighted * regression.lost;
  towards.head(kinds) += prior_cost * prior.head(kinds);
  posterior.mean = posterior.covariance * towards;
  return posterior;
}

}  // namespace

std::optional<SetAgreement> SetAgreement::fit(std::span<const TriedSet> tried) {
  if (tried.empty()) return std::nullopt;
  const Regression regression = regression_of(tried);
  double misfit = smallest_misfit;
  constexpr int passes = 4;
  for (int pass = 0; pass < passes; ++pass) {
    const Eigen::ArrayXd left =
        (regression.lost - regression.features * posterior_of(regression, misfit).mean).array();
    const Eigen::ArrayXd size = regression.lost.array().max(smallest_cost);
    misfit = std::max(smallest_misfit, ((left.square() - regression.noise.array()) / size.square()).mean());
  }
  Posterior posterior = posterior_of(regression, misfit);
  return SetAgreement(std::move(posterior.mean), std::move(posterior.covariance), misfit);
}

ExpectedAgreement SetAgreement::of(const SkippedSublayers& skipped) const {
  const Eigen::VectorXd features = features_of(skipped);
  const double cost = std::max(features.dot(costs_), 0.0);
  const double size = std::max(cost, smallest_cost);
  const double error = 2.0 * std::sqrt(features.dot(covariance_ * features) + misfit_ * size * size);
  return agreement_of_cost(cost, error);
}

ExpectedAgreement SetAgreement::of(const TriedSet& tried) const {
  const ExpectedAgreement expected = of(tried.skipped);
  if (tried.judged <= 0.0) return expected;
  const double prior_error = std::log(expected.mean / expected.low) / 2.0;
  const double prior_weight = 1.0 / (prior_error * prior_error);
  const double share = (tried.right + 0.5) / (tried.judged + 1.0);
  const double weight = tried.judged * share / (1.0 - share);
  const double cost =
      (-std::log(expected.mean) * prior_weight - std::log(share) * weight) / (prior_weight + weight);
  const double error = 2.0 / std::sqrt(prior_weight + weight);
  return agreement_of_cost(cost, error);
}

}  // namespace draftscope::simulator
