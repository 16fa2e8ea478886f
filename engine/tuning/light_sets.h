// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sets that skip few sublayers, namely those that by themselves keep the draft right most often. In a model
// with little to skip, such as a small one, the search ends near these sets, and sets drawn at random (half
// of everything) are far away.

#include <draftscope/speculation/sublayer_mask.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// All sets of one sublayer: the attention of every layer, then the MLPs.
[[nodiscard]] std::vector<speculation::SublayerMask> single_sublayers(std::int32_t n_layers);

/// The empty set, then sets of 1, 5 and 10 % of the 2L sublayers (at least one), both of attentions only and
/// of both kinds. They have the sublayers of highest agreement; ties go to the earlier. `agreements` are
/// those of single_sublayers(). Each set occurs once.
[[nodiscard]] std::vector<speculation::SublayerMask> light_sets(std::span<const double> agreements);

}  // namespace draftscope::engine
