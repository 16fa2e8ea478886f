// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The search's chances, each a function of what it is for (base/counter_random.h): a search that was stored
// and taken up again draws what it would have drawn, with no generator's state to keep.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

namespace draftscope::engine::search {

/// Purpose of a number drawn for a proposal. The values keep clear of decoding's DrawPurpose under the same
/// seed.
enum class SearchDraw : std::uint32_t {
  set = 0x100,  ///< a random candidate
  screen,       ///< the points that the acquisition is screened on
  start,        ///< where its local ascents start
  tie,          ///< chooses the one of equal components that is skipped
};

/// Philox: key = seed, counter = (block, index, proposal, purpose).
struct SearchStream {
  std::uint64_t seed = 0;
  std::uint32_t proposal = 0;  ///< how many candidates came before
};

/// Four words of item `index`, block `block` of it.
[[nodiscard]] std::array<std::uint32_t, 4> words(const SearchStream& stream, SearchDraw draw,
                                                 std::uint32_t index, std::uint32_t block);

/// Uniform in [0, 1), with 53 random bits.
[[nodiscard]] Eigen::VectorXd uniform_point(const SearchStream& stream, SearchDraw draw, std::uint32_t index,
                                            Eigen::Index dimension);

/// Column j is point first + j, uniform in [0, 1), with 24 random bits.
void fill_uniform(const SearchStream& stream, SearchDraw draw, std::uint32_t first, Eigen::MatrixXf& points);

/// Leaves `count` of 0 … n − 1 in `items`, all such sets equally likely (to within 2⁻³²); ascending. 0 ≤
/// count ≤ n. Within the memory that is there, if it is for n.
void choose_without_replacement(const SearchStream& stream, std::int32_t n, std::int32_t count,
                                std::vector<std::int32_t>& items);

}  // namespace draftscope::engine::search
