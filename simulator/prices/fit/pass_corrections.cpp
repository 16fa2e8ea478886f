// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/pass_corrections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::array<double, 14> row_knots{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
constexpr std::size_t depth_intervals = 8;
/// Maximum number of kinds, to limit the time; other kinds follow the law and these.
constexpr std::size_t max_kinds = 128;
constexpr double of_one_kind = 0.3;  // Share that drafts, or passes of a number of rows, have in common.

/// Standard deviation of the part that all passes share: a robustly fitted law is nearer to typical times
/// than to means.
constexpr double of_all = 0.2;

// The weights are one for all passes; a constant and one per interval of depth for drafts. Target passes have
// a constant, one per interval of ln(rows) and one for layers of one row. Then come one for the independent
// part of kinds that were not measured, which is unknown, and one for each measured kind.
constexpr std::size_t draft_weights = 1 + depth_intervals;
constexpr std::size_t target_weights = 1 + row_knots.size();
constexpr auto unmeasured_weight = static_cast<Index>(draft_weights + target_weights);
constexpr Index all_weight = unmeasured_weight + 1;
constexpr Index shared_weights = all_weight + 1;

/// A path's value at x, as weights of the increments between knots.
template <typename Put>
void put_path(std::span<const double> knots, double x, const Put& put) {
  for (std::size_t i = 1; i < knots.size(); ++i) {
    const double width = knots[i] - knots[i - 1];
    put(i - 1, std::clamp((x - knots[i - 1]) / width, 0.0, 1.0) * std::sqrt(width));
  }
}

/// Features without the weight of all passes, in units of the common scale.
VectorXd path_features(const MeasuredPassKind& kind) {
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

VectorXd shared_features(const MeasuredPassKind& kind, const CorrectionScale& scale) {
  VectorXd row = (kind.is_draft ? scale.drafts : scale.common) * path_features(kind);
  row[all_weight] = of_all;
  return row;
}

/// Scale of the independent part of this kind, in addition to the part that passes of its number of rows
/// share.
double own_part(const MeasuredPassKind& kind, const CorrectionScale& scale) {
  return of_one_kind * (kind.is_draft ? scale.drafts : scale.own);
}

VectorXd residuals(std::span<const MeasuredPass> passes, const CostVector& values) {
  VectorXd result(static_cast<Index>(passes.size()));
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const CostVector& of = passes[i].coefficients;
    const double law_ns = dot(of, values);
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

/// matrix · vector, with each row added up in order of the columns. So it is equal to the bit for any number
/// of rows, whereas Eigen's order depends on their number.
VectorXd product(const MatrixXd& matrix, const VectorXd& vector) {
  VectorXd sums = VectorXd::Zero(matrix.rows());
  constexpr Index at_once = 4;  // Columns whose terms are added while the sums are loaded.
  Index j = 0;
  for (; j + at_once <= matrix.cols(); j += at_once)
    sums = sums + vector[j] * matrix.col(j) + vector[j + 1] * matrix.col(j + 1) +
           vector[j + 2] * matrix.col(j + 2) + vector[j + 3] * matrix.col(j + 3);
  for (; j < matrix.cols(); ++j) sums += vector[j] * matrix.col(j);
  return sums;
}

/// The first target pass with as many rows, separately for vanilla decoding; −1 if there is none.
Index first_of_rows(std::span<const MeasuredPass> passes, const MeasuredPassKind& kind) {
  const auto first = std::find_if(passes.begin(), passes.end(), [&](const MeasuredPass& pass) {
    return !pass.kind.is_draft && pass.kind.rows == kind.rows && pass.kind.is_vanilla == kind.is_vanilla;
  });
  return first == passes.end() ? -1 : first - passes.begin();
}

/// [measured pass][weight]: features, scaled by the standard deviations of the weights. Each pass has an
/// independent part, and so has each number of rows, which no depth of verification changes.
MatrixXd measured_features(std::span<const MeasuredPass> passes, const CorrectionScale& scale) {
  const auto count = static_cast<Index>(passes.size());
  MatrixXd features = MatrixXd::Zero(count, shared_weights + 2 * count);
  for (Index i = 0; i < count; ++i) {
    const MeasuredPassKind& kind = passes[static_cast<std::size_t>(i)].kind;
    features.row(i).head(shared_weights) = shared_features(kind, scale);
    features(i, shared_weights + i) = own_part(kind, scale);
    if (!kind.is_draft) features(i, shared_weights + count + first_of_rows(passes, kind)) = scale.own;
  }
  return features;
}

/// [kind][weight]: features, with the weights of the measured passes.
MatrixXd features_of(std::span<const MeasuredPassKind> kinds, std::span<const MeasuredPass> passes,
                     const CorrectionScale& scale) {
  const auto count = static_cast<Index>(passes.size());
  MatrixXd result = MatrixXd::Zero(static_cast<Index>(kinds.size()), shared_weights + 2 * count);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const MeasuredPassKind& kind = kinds[i];
    result.row(row).head(shared_weights) = shared_features(kind, scale);
    const auto measured = std::ranges::find(passes, kind, &MeasuredPass::kind);
    const Index of_rows = kind.is_draft ? -1 : first_of_rows(passes, kind);
    if (measured != passes.end())
      result(row, shared_weights + (measured - passes.begin())) = own_part(kind, scale);
    else
      result(row, unmeasured_weight) = kind.is_draft || of_rows >= 0 ? own_part(kind, scale) : scale.own;
    if (of_rows >= 0) result(row, shared_weights + count + of_rows) = scale.own;
  }
  return result;
}

MatrixXd covariance_of(std::span<const MeasuredPass> passes, const CorrectionScale& scale) {
  const MatrixXd features = measured_features(passes, scale);
  return features * features.transpose();
}

/// The kinds that took most of the time.
std::vector<MeasuredPass> heaviest(std::span<const MeasuredPass> passes) {
  std::vector<MeasuredPass> kept(passes.begin(), passes.end());
  if (kept.size() <= max_kinds) return kept;
  std::stable_sort(kept.begin(), kept.end(), [](const MeasuredPass& a, const MeasuredPass& b) {
    return a.passes * a.ns > b.passes * b.ns;
  });
  kept.resize(max_kinds);
  return kept;
}

/// Share of each measured pass's residual that kinds of these features take over.
MatrixXd gain_of(std::span<const MeasuredPass> passes, const CorrectionScale& scale, const MatrixXd& asked) {
  const MatrixXd measured = measured_features(passes, scale);
  MatrixXd covariance = measured * measured.transpose();
  covariance.diagonal() += noise_variances(passes);
  return covariance.llt().solve(measured * asked.transpose()).transpose();
}

}  // namespace

CorrectionScale correction_scale(std::span<const MeasuredPass> all_passes, const CostVector& values) {
  if (all_passes.empty()) return {};
  const std::vector<MeasuredPass> passes = heaviest(all_passes);
  const VectorXd found = residuals(passes, values);
  const VectorXd noise = noise_variances(passes);
  // Covariances are sums of parts, each of which is proportional to the square of one scale.
  const MatrixXd of_all_passes = covariance_of(passes, {});
  const MatrixXd of_common = covariance_of(passes, {.common = 1.0}) - of_all_passes;
  const MatrixXd of_own = covariance_of(passes, {.own = 1.0}) - of_all_passes;
  const MatrixXd of_drafts = covariance_of(passes, {.drafts = 1.0}) - of_all_passes;
  const auto evidence = [&](const CorrectionScale& scale) {
    MatrixXd covariance = of_all_passes + scale.common * scale.common * of_common +
                          scale.own * scale.own * of_own + scale.drafts * scale.drafts * of_drafts;
    covariance.diagonal() += noise;
    const Eigen::LLT<MatrixXd> root(covariance);
    return -0.5 * found.dot(root.solve(found)) - root.matrixLLT().diagonal().array().log().sum();
  };
  constexpr std::array<double, 7> scales{0.003, 0.006, 0.0125, 0.025, 0.05, 0.1, 0.2};
  CorrectionScale best{.common = 0.05, .own = 0.05, .drafts = 0.05};
  double best_evidence = evidence(best);
  const auto take_if_better = [&](const CorrectionScale& scale) {
    const double found_evidence = evidence(scale);
    if (!(found_evidence > best_evidence)) return;
    best_evidence = found_evidence;
    best = scale;
  };
  // Drafts and target passes are almost independent, so they are fitted one after the other, twice.
  for (int round = 0; round < 2; ++round) {
    for (const double common : scales)
      for (const double own : scales) take_if_better({.common = common, .own = own, .drafts = best.drafts});
    for (const double drafts : scales)
      take_if_better({.common = best.common, .own = best.own, .drafts = drafts});
  }
  return best;
}

VectorXd correction_logs(std::span<const MeasuredPass> all_passes, const CorrectionScale& scale,
                         std::span<const MeasuredPassKind> kinds, const CostVector& values) {
  const std::vector<MeasuredPass> passes = heaviest(all_passes);
  return gain_of(passes, scale, features_of(kinds, passes, scale)) * residuals(passes, values);
}

PassCorrections::PassCorrections(std::span<const MeasuredPass> all_passes, const CorrectionScale& scale,
                                 std::span<const MeasuredPassKind> kinds)
    : kinds_(static_cast<Index>(kinds.size())), noise_size_(kinds_), places_(kinds.size()) {
  std::iota(places_.begin(), places_.end(), Index{0});
  const std::vector<MeasuredPass> passes = heaviest(all_passes);
  const MatrixXd asked = features_of(kinds, passes, scale);
  gain_ = gain_of(passes, scale, asked);
  MatrixXd left = asked * asked.transpose() - gain_ * measured_features(passes, scale) * asked.transpose();
  left.diagonal().array() += 1e-10;  // Rounding makes directions without variance slightly negative.
  spread_ = MatrixXd(left.llt().matrixL());
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    if (std::ranges::any_of(passes, [i](const MeasuredPass& pass) { return pass.coefficients[i] != 0.0; }))
      parameters_.push_back(i);
  law_.resize(static_cast<Index>(passes.size()), static_cast<Index>(parameters_.size()));
  measured_ns_.resize(law_.rows());
  for (Index i = 0; i < law_.rows(); ++i) {
    const MeasuredPass& pass = passes[static_cast<std::size_t>(i)];
    for (Index j = 0; j < law_.cols(); ++j)
      law_(i, j) = pass.coefficients[parameters_[static_cast<std::size_t>(j)]];
    measured_ns_[i] = pass.ns;
  }
}

PassCorrections PassCorrections::of(std::span<const Index> places) const {
  PassCorrections few;
  few.parameters_ = parameters_;
  few.law_ = law_;
  few.measured_ns_ = measured_ns_;
  few.kinds_ = kinds_;
  few.noise_size_ = noise_size_;
  few.places_.assign(places.begin(), places.end());
  const auto count = static_cast<Index>(places.size());
  // The root is a lower triangle.
  const Index columns = places.empty() ? 0 : places.back() + 1;
  few.gain_.resize(count, gain_.cols());
  few.spread_.resize(count, columns);
  for (Index i = 0; i < count; ++i) {
    const Index place = places[static_cast<std::size_t>(i)];
    few.gain_.row(i) = gain_.row(place);
    few.spread_.row(i) = spread_.row(place).head(columns);
  }
  return few;
}

VectorXd PassCorrections::factors(const CostVector& values, const VectorXd& noise) const {
  VectorXd used(law_.cols());
  for (Index i = 0; i < used.size(); ++i) used[i] = values[parameters_[static_cast<std::size_t>(i)]];
  VectorXd residuals = product(law_, used);
  for (Index i = 0; i < residuals.size(); ++i)
    residuals[i] = residuals[i] > 0.0 ? std::log(measured_ns_[i] / residuals[i]) : 0.0;
  const VectorXd logs = product(gain_, residuals) + product(spread_, noise);
  VectorXd result = VectorXd::Ones(kinds_);
  for (Index i = 0; i < logs.size(); ++i) result[places_[static_cast<std::size_t>(i)]] = std::exp(logs[i]);
  return result;
}

}  // namespace draftscope::simulator
