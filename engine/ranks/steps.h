// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How steps come from the ranks that follow to rank 0.

#include <draftscope/engine/ranks/collective.h>
#include <draftscope/engine/ranks/lead_and_follow.h>
#include <draftscope/profiler/span_recorder.h>
#include <vector>

namespace draftscope::engine {

/// Steps of the spans that a recorder without a writer holds, whose rounds count passes from 1. Takes them.
[[nodiscard]] RankSteps steps_of(profiler::SpanRecorder& recorder);

/// Brings the others' steps to rank 0, by rank from 1 on, where `own` is empty. Empty elsewhere. Every rank
/// calls it.
[[nodiscard]] Result<std::vector<RankSteps>> gather_steps(Collective& ranks, const RankSteps& own);

}  // namespace draftscope::engine
