// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a grid, one instruction of one warp at a time, in an order drawn from a seed.
//
// Lanes of a warp that disagree about a branch go on as groups of their own; those that come to the same
// instruction go on together again. The group that is furthest behind goes first, mostly, so that groups meet
// where the branches end; now and then another is drawn, so that no order is counted on and a lane that waits
// for another lets it come. Instructions of a whole warp (.sync) wait until every lane that they name, and
// that has not ended, is there; a barrier waits for the block.

#include <draftscope/base/result.h>

#include <cstdint>

#include "run/launch_state.h"

namespace draftscope::ptx {

struct Schedule {
  std::uint32_t seed = 1;
  std::uint64_t max_steps = std::uint64_t{1}
                            << 36U;  ///< instructions of warps, behind which a launch counts as endless
};

/// The grid's memory may have been written up to where a launch failed. Errors: one line with kernel, PTX
/// line, block, thread, what was found and what was expected.
[[nodiscard]] Result<void> run_grid(Grid& grid, const Schedule& schedule);

}  // namespace draftscope::ptx
