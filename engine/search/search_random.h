// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The search's random numbers, each a function of its purpose (base/counter_random.h). A search that was
// stored and continued draws the same numbers as an uninterrupted one, without storing a generator's state.

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

namespace draftscope::engine::search {

/// Purpose of a number drawn for a proposal. The values differ from decoding's DrawPurpose under the same
/// seed.
enum class SearchDraw : std::uint32_t {
  set = 0x100,  ///< a random candidate
  screen,       ///< points on which the acquisition is screened
  start,        ///< starts of its local ascents
  tie,          ///< choice among equal components
};

/// A stream of Philox: key = seed, counter = (block, index, proposal, purpose).
struct SearchStream {
  std::uint64_t seed = 0;
  std::uint32_t proposal = 0;  ///< number of earlier candidates
};

/// Four random words: block `block` of item `index`.
[[nodiscard]] std::array<std::uint32_t, 4> words(const SearchStream& stream, SearchDraw draw,
                                                 std::uint32_t index, std::uint32_t block);

/// A point with components uniform in [0, 1), with 53 random bits.
[[nodiscard]] Eigen::VectorXd uniform_point(const SearchStream& stream, SearchDraw draw, std::uint32_t index,
                                            Eigen::Index dimension);

/// Sets column j to point first + j, uniform in [0, 1), with 24 random bits.
void fill_uniform(const SearchStream& stream, SearchDraw draw, std::uint32_t first, Eigen::MatrixXf& points);

/// Sets `items` to `count` of 0 … n − 1, ascending; all such sets are equally likely (to within 2⁻³²).
/// Requires 0 ≤ count ≤ n. Allocates nothing if `items` has room for n.
void choose_without_replacement(const SearchStream& stream, std::int32_t n, std::int32_t count,
                                std::vector<std::int32_t>& items);

}  // namespace draftscope::engine::search
