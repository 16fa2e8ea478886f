// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Refuses plans that a model can't run, before anything is computed for them.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>

namespace draftscope::engine {

/// Fails on more than one source of a draft, guesses that are no tree over the vocabulary, a draft model of
/// another vocabulary, or a mask of another number of layers. Also fails on a verification or best tokens
/// that do not fit the rest of the plan, and on a plan that withholds the states which a next-token layer
/// reads.
[[nodiscard]] Result<void> check_plan(const RoundPlan& plan, const speculation::ModelShape& shape,
                                      bool has_next_token_layer);

}  // namespace draftscope::engine
