// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_candidate.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "ascent.h"
#include "gaussian_process.h"
#include "upper_confidence.h"

namespace draftscope::engine::search {
namespace {

/// Components of the `count` largest values; ties are broken by random draws.
std::vector<std::int32_t> largest(const std::vector<double>& values, std::int32_t count,
                                  const SearchStream& stream) {
  struct Ranked {
    double value;
    std::uint32_t lot;
    std::int32_t component;
  };
  std::vector<Ranked> ranked;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto component = static_cast<std::int32_t>(i);
    const auto lot = words(stream, SearchDraw::tie, 0, static_cast<std::uint32_t>(i))[0];
    ranked.push_back({values[i], lot, component});
  }
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.value, b.lot, a.component) < std::tie(a.value, a.lot, b.component);
  });
  ranked.resize(static_cast<std::size_t>(count));
  std::vector<std::int32_t> components;
  components.reserve(ranked.size());
  for (const Ranked& one : ranked) components.push_back(one.component);
  return components;
}

/// The process over all scores. It is built as a whole for the observations of the fit, then row by row, so
/// that an earlier fit gives the same factor whenever it is reused.
GaussianProcess process_over(const ModelInput& input) {
  GaussianProcess process(input.space.dimension(), input.options.noise);
  if (!input.fit) {
    process.assign(input.points, input.scores, std::nullopt);
    return process;
  }
  const auto fitted = static_cast<Eigen::Index>(input.fit->observations);
  const Eigen::Index rest = input.scores.size() - fitted;
  process.assign(input.points.leftCols(fitted), input.scores.head(fitted), input.fit->length_scale);
  if (rest > 0) process.add(input.points.rightCols(rest), input.scores.tail(rest));
  return process;
}

}  // namespace

ModelCandidate model_candidate(const ModelInput& input) {
  const SearchOptions& options = input.options;
  const GaussianProcess process = process_over(input);
  const Acquisition acquisition{&process, options.kappa};
  Eigen::Index best = 0;
  input.scores.maxCoeff(&best);  // ties go to the first
  Eigen::MatrixXd starts(input.space.dimension(), 2 + options.random_starts);
  starts.col(0) = best_of_random(acquisition, options.random_points, input.stream);
  starts.col(1) = input.points.col(best);
  for (std::int32_t i = 0; i < options.random_starts; ++i)
    starts.col(2 + i) = uniform_point(input.stream, SearchDraw::start, static_cast<std::uint32_t>(i),
                                      input.space.dimension());
  const auto maximum =
      ascend([&](const Eigen::MatrixXd& points) { return upper_confidence(acquisition, points); }, starts);

  ModelCandidate made;
  made.candidate.point.assign(maximum.point.begin(), maximum.point.end());
  const auto chosen = options.skipped_sublayers
                          ? largest(made.candidate.point, *options.skipped_sublayers, input.stream)
                          : above_half(made.candidate.point);
  made.candidate.mask = mask_of(input.space, chosen);
  made.candidate.origin = CandidateOrigin::model;
  made.fit = input.fit.value_or(
      LengthScaleFit{process.length_scale(), static_cast<std::size_t>(input.scores.size())});
  return made;
}

void Observations::reserve(std::size_t count) {
  points_.reserve(count * dimension());
  scores_.reserve(count);
}

void Observations::add(const Candidate& candidate, double score) {
  points_.insert(points_.end(), candidate.point.begin(), candidate.point.end());
  scores_.push_back(score);
}

std::size_t Observations::best() const {
  return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
}

Eigen::Map<const Eigen::MatrixXd> Observations::points(std::size_t first, std::size_t last) const {
  return {points_.data() + first * dimension(), space_.dimension(), static_cast<Eigen::Index>(last - first)};
}

Eigen::Map<const Eigen::VectorXd> Observations::scores(std::size_t first, std::size_t last) const {
  return {scores_.data() + first, static_cast<Eigen::Index>(last - first)};
}

}  // namespace draftscope::engine::search
