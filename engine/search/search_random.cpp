// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_random.h"

#include <draftscope/base/counter_random.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace draftscope::engine::search {

std::array<std::uint32_t, 4> words(const SearchStream& stream, SearchDraw draw, std::uint32_t index,
                                   std::uint32_t block) {
  return philox({block, index, stream.proposal, static_cast<std::uint32_t>(draw)},
                {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32U)});
}

Eigen::VectorXd uniform_point(const SearchStream& stream, SearchDraw draw, std::uint32_t index,
                              Eigen::Index dimension) {
  Eigen::VectorXd point(dimension);
  for (Eigen::Index i = 0; i < dimension; ++i) {
    const auto bits = words(stream, draw, index, static_cast<std::uint32_t>(i));
    point[i] = unit_interval(bits[0], bits[1]);
  }
  return point;
}

void fill_uniform(const SearchStream& stream, SearchDraw draw, std::uint32_t first, Eigen::MatrixXf& points) {
  for (Eigen::Index column = 0; column < points.cols(); ++column)
    for (Eigen::Index row = 0; row < points.rows(); row += 4) {
      const auto bits = words(stream, draw, first + static_cast<std::uint32_t>(column),
                              static_cast<std::uint32_t>(row / 4));
      for (Eigen::Index i = row; i < std::min(row + 4, points.rows()); ++i)
        points(i, column) = static_cast<float>(bits[static_cast<std::size_t>(i - row)] >> 8U) * 0x1p-24F;
    }
}

void choose_without_replacement(const SearchStream& stream, std::int32_t n, std::int32_t count,
                                std::vector<std::int32_t>& items) {
  items.resize(static_cast<std::size_t>(n));
  std::iota(items.begin(), items.end(), 0);
  // Runs the first `count` steps of Fisher and Yates' shuffle.
  for (std::int32_t i = 0; i < count; ++i) {
    const auto bits = words(stream, SearchDraw::set, 0, static_cast<std::uint32_t>(i));
    const auto rest = static_cast<std::uint64_t>(n - i);
    const std::uint64_t pick = (bits[0] * rest) >> 32U;  // uniform below `rest`, by multiplication
    std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(i) + pick]);
  }
  items.resize(static_cast<std::size_t>(count));
  std::sort(items.begin(), items.end());
}

}  // namespace draftscope::engine::search
