// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/set_agreement.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_positions.h"

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

SkippedSublayers sublayers_of(const traces::LayerSet& set) {
  SkippedSublayers skipped(2 * static_cast<std::size_t>(std::max(set.n_layers, 0)));
  for (std::size_t i = 0; i < skipped.size(); ++i) skipped[i] = is_skipped(set, static_cast<std::int32_t>(i));
  return skipped;
}

/// Marks the listed layers; false if one is no layer of the model.
bool mark(const nlohmann::json& layers, std::size_t kind, SkippedSublayers& skipped) {
  if (!layers.is_array()) return false;
  for (const auto& layer : layers) {
    if (!layer.is_number_unsigned()) return false;
    const std::size_t bit = 2 * layer.get<std::size_t>() + kind;
    if (bit >= skipped.size()) return false;
    skipped[bit] = true;
  }
  return true;
}

/// Number of tokens per request on which a run tried sets, for the runs that logged the sets.
std::unordered_map<traces::RequestId, std::int32_t> windows_of(std::span<const RunRows> runs,
                                                               std::int32_t n_layers) {
  std::unordered_map<traces::RequestId, std::int32_t> windows;
  for (const RunRows& run : runs) {
    const auto strategy = run_specification(*run.run, n_layers);
    const speculation::PartRow* mask = strategy ? strategy->part_row(speculation::PartKind::mask) : nullptr;
    if (mask == nullptr || mask->tried_on.empty()) continue;
    for (const RequestRows& rows : run.requests)
      windows.emplace(rows.request->id, strategy->integer(mask->tried_on));
  }
  return windows;
}

std::optional<TriedSet> tried_set(const traces::Decision& decision, std::int32_t window,
                                  std::int32_t n_layers) {
  const auto detail = nlohmann::json::parse(decision.detail, nullptr, false);
  if (!detail.is_object() || !detail.contains("skipped_attention") || !detail.contains("skipped_mlp"))
    return std::nullopt;
  if (!(decision.score >= 0.0 && decision.score <= 1.0)) return std::nullopt;
  TriedSet tried{.skipped = SkippedSublayers(2 * static_cast<std::size_t>(n_layers)),
                 .judged = static_cast<double>(window),
                 .right = decision.score * window};
  if (!mark(detail["skipped_attention"], 0, tried.skipped) || !mark(detail["skipped_mlp"], 1, tried.skipped))
    return std::nullopt;
  return tried;
}

}  // namespace

Result<std::vector<TriedSet>> scored_candidates(traces::Reader& reader, std::span<const RunRows> runs,
                                                std::int32_t n_layers) {
  const auto windows = windows_of(runs, n_layers);
  std::vector<TriedSet> candidates;
  if (windows.empty()) return candidates;
  DRAFTSCOPE_TRY(reader.decisions([&](const traces::Decision& decision) {
    const auto window = windows.find(decision.request_id);
    if (window == windows.end()) return true;
    if (auto tried = tried_set(decision, window->second, n_layers)) candidates.push_back(*std::move(tried));
    return true;
  }));
  return candidates;
}

std::vector<TriedSet> drafted_sets(const traces::Recording& recording, std::span<const RunRows> runs,
                                   const LayerSetsById& sets, std::int32_t n_layers) {
  std::map<traces::LayerSetId, TriedSet> tried;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests)
      for (std::size_t i = 0; i < rows.rounds.size(); ++i) {
        const auto set = sets.find(rows.rounds[i].layer_set_id);
        if (set == sets.end() || set->second->n_layers != n_layers || is_exit(*set->second)) continue;
        const RequestRows one{.request = rows.request, .rounds = rows.rounds.subspan(i, 1)};
        TriedSet& known = tried[set->first];
        if (known.skipped.empty()) known.skipped = sublayers_of(*set->second);
        for (const DraftedPosition& position : drafted_positions(recording, one)) {
          if (position.bit == AcceptanceBit::unseen) continue;
          known.judged += 1.0;
          known.right += position.bit == AcceptanceBit::accepted ? 1.0 : 0.0;
        }
      }
  std::vector<TriedSet> drafted;
  for (auto& [id, set] : tried)
    if (set.judged > 0.0) drafted.push_back(std::move(set));
  return drafted;
}

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
  return {std::exp(-cost), std::exp(-cost - error), std::exp(-std::max(cost - error, 0.0))};
}

}  // namespace draftscope::simulator
