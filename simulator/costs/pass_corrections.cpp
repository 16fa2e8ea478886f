// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_corrections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array<double, 14> row_knots{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
constexpr std::size_t depth_intervals = 8;
constexpr double own_share = 0.3;  // of the scale: what no neighbour knows

// Weights: of drafts a constant and one an interval of depth, of target passes a constant, one an interval of
// ln(rows) and one for layers of one row; one for the own part of kinds that were not measured, of which
// nothing is known; then one for the own part of each that was.
constexpr std::size_t draft_weights = 1 + depth_intervals;
constexpr std::size_t target_weights = 1 + row_knots.size();
constexpr auto unmeasured_weight = static_cast<Index>(draft_weights + target_weights);
constexpr Index shared_weights = unmeasured_weight + 1;

/// A path's value at x, as weights of the increments between knots.
template <typename Put>
void put_path(std::span<const double> knots, double x, const Put& put) {
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const double width = knots[i] - knots[i - 1];
    put(i - 1, std::clamp((x - knots[i - 1]) / width, 0.0, 1.0) * std::sqrt(width));
  }
}

VectorXd shared_features(const PassKind& kind) {
  VectorXd row = VectorXd::Zero(shared_weights);
  const double layers = std::max(kind.n_layers, 1);
  if (kind.is_draft) {
    std::array<double, depth_intervals + 1> knots{};
    for (std::size_t i = 0; i < knots.size(); ++i)
      knots[i] = static_cast<double>(i) / static_cast<double>(depth_intervals);
    row[0] = 1.0;
    put_path(knots, (kind.attention + kind.mlp) / (2.0 * layers),
             [&](std::size_t i, double value) { row[static_cast<Index>(1 + i)] = value; });
    return row;
  }
  std::array<double, row_knots.size()> knots{};
  std::transform(row_knots.begin(), row_knots.end(), knots.begin(),
                 [](double rows) { return std::log(rows); });
  row[draft_weights] = 1.0;
  put_path(knots, std::log(static_cast<double>(std::max(kind.rows, 1))),
           [&](std::size_t i, double value) { row[static_cast<Index>(draft_weights + 1 + i)] = value; });
  if (kind.rows > 1) row[unmeasured_weight - 1] = kind.one_row / layers;
  return row;
}

VectorXd residuals(std::span<const MeasuredPass> passes, const CostVector& values) {
  VectorXd result(static_cast<Index>(passes.size()));
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const CostVector& of = passes[i].coefficients;
    const double law_ns = std::inner_product(of.begin(), of.end(), values.begin(), 0.0);
    result[static_cast<Index>(i)] = law_ns > 0.0 ? std::log(passes[i].ns / law_ns) : 0.0;
  }
  return result;
}

VectorXd noise_variances(std::span<const MeasuredPass> passes) {
  VectorXd result(static_cast<Index>(passes.size()));
  for (std::size_t i = 0; i < passes.size(); ++i)
    result[static_cast<Index>(i)] = passes[i].relative_error * passes[i].relative_error;
  return result;
}

/// [measured pass][weight]; each has a part of its own.
MatrixXd measured_features(std::span<const MeasuredPass> passes) {
  const auto count = static_cast<Index>(passes.size());
  MatrixXd features = MatrixXd::Zero(count, shared_weights + count);
  for (Index i = 0; i < count; ++i) {
    features.row(i).head(shared_weights) = shared_features(passes[static_cast<std::size_t>(i)].kind);
    features(i, shared_weights + i) = own_share;
  }
  return features;
}

bool same(const PassKind& a, const PassKind& b) {
  return !(a < b) && !(b < a);
}

}  // namespace

double correction_scale(std::span<const MeasuredPass> passes, const CostVector& values) {
  if (passes.empty()) return 0.0;
  constexpr std::array<double, 7> scales{0.003, 0.006, 0.0125, 0.025, 0.05, 0.1, 0.2};
  const VectorXd found = residuals(passes, values);
  const VectorXd noise = noise_variances(passes);
  const MatrixXd features = measured_features(passes);
  const MatrixXd shape = features * features.transpose();
  double best = scales.front();
  double best_evidence = -1e300;
  for (const double scale : scales) {
    MatrixXd covariance = scale * scale * shape;
    covariance.diagonal() += noise;
    covariance.diagonal().array() += 1e-12;
    const Eigen::LLT<MatrixXd> root(covariance);
    const double evidence =
        -0.5 * found.dot(root.solve(found)) - MatrixXd(root.matrixL()).diagonal().array().log().sum();
    if (evidence <= best_evidence) continue;
    best_evidence = evidence;
    best = scale;
  }
  return best;
}

PassCorrections::PassCorrections(std::vector<MeasuredPass> passes, double scale)
    : passes_(std::move(passes)), scale_(scale) {
  if (scale_ <= 0.0) passes_.clear();
  const MatrixXd features = measured_features(passes_);
  const Index count = features.cols();
  const double variance = scale_ * scale_;
  MatrixXd covariance = variance * features * features.transpose();
  covariance.diagonal() += noise_variances(passes_);
  covariance.diagonal().array() += 1e-12;
  gain_ = variance * features.transpose() *
          covariance.llt().solve(MatrixXd::Identity(covariance.rows(), covariance.cols()));
  MatrixXd left = variance * (MatrixXd::Identity(count, count) - gain_ * features);
  left.diagonal().array() += 1e-14;  // rounding leaves directions without variance a little below 0
  spread_ = MatrixXd(left.llt().matrixL());
}

MatrixXd PassCorrections::features(std::span<const PassKind> kinds) const {
  MatrixXd result = MatrixXd::Zero(static_cast<Index>(kinds.size()), weights());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto row = static_cast<Index>(i);
    result.row(row).head(shared_weights) = shared_features(kinds[i]);
    const auto measured = std::find_if(passes_.begin(), passes_.end(),
                                       [&](const MeasuredPass& pass) { return same(pass.kind, kinds[i]); });
    const Index own =
        measured == passes_.end() ? unmeasured_weight : shared_weights + (measured - passes_.begin());
    result(row, own) = own_share;
  }
  return result;
}

VectorXd PassCorrections::draw(const CostVector& values, const VectorXd& noise) const {
  return gain_ * residuals(passes_, values) + spread_ * noise;
}

}  // namespace draftscope::simulator
