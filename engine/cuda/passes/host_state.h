// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The host's copy of a PassState: filled from a batch or a round before it is uploaded, and read after a
// round.

#include <draftscope/engine/backend.h>
#include <span>

#include "cpu/key_lists.h"
#include "cuda/kernels/pass_state.h"

namespace draftscope::engine::cuda {

/// Fills in the rows of a batch, which have no keys yet.
void set_rows(const Batch& batch, PassState& state);

/// Fills in the keys of a batch's rows; `ranges` has one entry per row.
void set_keys(const Batch& batch, std::span<const KeyListRange> ranges, bool has_sliding_window,
              PassState& state);

/// Fills in a round: its root as the first row of the draft, its end conditions and its sampling.
void set_round(const ChainRound& round, PassState& state);

[[nodiscard]] bool is_sampled(const ChainRound& round);

/// Reads a round's outputs; `results` are the head's for the root and each draft token.
void take_round(const PassState& state, std::span<const HeadResult> results, bool sampled,
                ChainRoundOutputs& outputs);

}  // namespace draftscope::engine::cuda
