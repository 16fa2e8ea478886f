// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What ranks on CPUs do not divide of the two products whose sums they exchange (output and down).
//
// An element of a product takes time for each value of k, and for the end of its sum: the lanes of its
// accumulator are added, and the sum is written. In a process of its own a sum over K columns ends once. A
// rank of N has K / N columns and all outputs, and its columns are summed in parts of K / 8 each, 8 / N of
// them, so that the number of ranks shows in no bit: each part's lanes are added by themselves. In units of
// what a value of k takes:
//
//     one process   K + part + output          a rank   K / N + (8 / N) · part + output
//
// where 8 ranks and fewer divide 8, and the columns do; else a rank has one part. Every other product has its
// outputs divided, and with them the ends.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/speculation/operation.h>
#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

/// Ends of a recording's kernels (meta `kernels`) on weights of that type: instructions over those of a value
/// of k. None where they are not known, and of weights in blocks, whose outputs lie side by side in lanes.
[[nodiscard]] SumEnds sum_ends_of(std::string_view kernels, WeightType weights);

/// Time of one of `ranks` over that of a process, for a product of `columns` columns in all.
[[nodiscard]] double rank_share(const SumEnds::Ends& ends, double columns, std::int32_t ranks);

}  // namespace draftscope::simulator
