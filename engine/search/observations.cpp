// SPDX-License-Identifier: GPL-3.0-or-later
#include "observations.h"

#include <algorithm>

namespace draftscope::engine::search {

void Observations::reserve(std::size_t count) {
  points_.reserve(count * dimension());
  skipped_.reserve(count * dimension());
  origins_.reserve(count);
  scores_.reserve(count);
}

void Observations::add(const Candidate& candidate, double score) {
  points_.insert(points_.end(), candidate.point.begin(), candidate.point.end());
  for (std::int32_t layer = space_.first; layer < space_.last; ++layer)
    skipped_.push_back(candidate.mask.runs_attention(layer) ? 0 : 1);
  for (std::int32_t layer = space_.first; layer < space_.last; ++layer)
    skipped_.push_back(candidate.mask.runs_mlp(layer) ? 0 : 1);
  origins_.push_back(candidate.origin);
  scores_.push_back(score);
}

std::size_t Observations::best() const {
  return static_cast<std::size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
}

Candidate Observations::candidate(std::size_t index) const {
  const auto* const point = points_.data() + index * dimension();
  std::vector<std::int32_t> components;
  for (std::int32_t component = 0; component < space_.dimension(); ++component)
    if (skipped_[index * dimension() + static_cast<std::size_t>(component)] != 0)
      components.push_back(component);
  return {mask_of(space_, components), {point, point + dimension()}, origins_[index]};
}

Eigen::Map<const Eigen::MatrixXd> Observations::points(std::size_t first, std::size_t last) const {
  return {points_.data() + first * dimension(), space_.dimension(), static_cast<Eigen::Index>(last - first)};
}

Eigen::Map<const Eigen::VectorXd> Observations::scores(std::size_t first, std::size_t last) const {
  return {scores_.data() + first, static_cast<Eigen::Index>(last - first)};
}

}  // namespace draftscope::engine::search
