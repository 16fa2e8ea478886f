// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Limits of one round's draft: the plan's numbers, limited to the token budget, the context and the width of
// a verification.

#include <draftscope/engine/strategy.h>
#include <draftscope/traces/records.h>
#include <cstdint>

namespace draftscope::engine {

/// Room at the start of a round.
struct RoundRoom {
  std::int32_t remaining_tokens = 0;  ///< token budget, ≥ 1
  std::int32_t root_position = 0;
  std::int32_t cache_rows = 0;   ///< capacity of the target's cache
  std::int32_t verify_rows = 0;  ///< maximum rows of a verification: root, draft tokens and extra rows
};

struct DraftLimits {
  std::int32_t steps = 0;  ///< depth of the draft
  std::int32_t nodes = 0;  ///< draft tokens, including siblings
};

/// Depth of the draft that the plan asks for: γ, or the depth of the deepest guess.
[[nodiscard]] std::int32_t planned_depth(const RoundPlan& plan);

/// Limits of a draft of `planned` steps. A round may emit one token more than the depth of its draft. The
/// root, each draft token and each extra row take a cache row and a row of the verification.
[[nodiscard]] DraftLimits draft_limits(const RoundPlan& plan, std::int32_t planned, const RoundRoom& room);

/// Reason for the end of a draft that takes all of its steps.
[[nodiscard]] traces::DraftStop stop_at_limit(std::int32_t planned, const DraftLimits& limits);

}  // namespace draftscope::engine
