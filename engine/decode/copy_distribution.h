// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/sampling.h>

namespace draftscope::engine {

/// `to` = `from`, with room for the largest that `from` has held, so that later copies of larger ones
/// allocate nothing.
inline void copy_distribution(const Distribution& from, Distribution& to) {
  to.tokens.reserve(from.tokens.capacity());
  to.probabilities.reserve(from.probabilities.capacity());
  to = from;
}

}  // namespace draftscope::engine
