// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sets that skip few sublayers: those whose draft is most often right, one by one. Where a model has little
// to skip, as small ones have, the search ends near them, and sets drawn at random (half of everything) are
// far away.

#include <draftscope/speculation/sublayer_mask.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Every set of one sublayer: the attention of every layer, then the MLPs.
[[nodiscard]] std::vector<speculation::SublayerMask> single_sublayers(std::int32_t n_layers);

/// Nothing, then 1, 5 and 10 % of the 2L sublayers (at least one), of the attentions alone and of both kinds:
/// those of the highest agreement, the earlier of equals. `agreements` are those of single_sublayers(). Each
/// set once.
[[nodiscard]] std::vector<speculation::SublayerMask> light_sets(std::span<const double> agreements);

}  // namespace draftscope::engine
