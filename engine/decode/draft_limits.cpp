// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/draft_limits.h"

#include <draftscope/engine/strategy.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace draftscope::engine {

namespace {

std::int32_t depth_of(std::span<const Proposal> proposals, std::size_t i) {
  std::int32_t depth = 1;
  for (std::int32_t at = proposals[i].parent; at >= 0; at = proposals[static_cast<std::size_t>(at)].parent)
    ++depth;
  return depth;
}

}  // namespace

std::int32_t planned_depth(const RoundPlan& plan) {
  if (plan.mask != nullptr || plan.draft_model != nullptr || plan.stages != nullptr) return plan.draft_length;
  std::int32_t deepest = 0;
  for (std::size_t i = 0; i < plan.proposals.size(); ++i)
    deepest = std::max(deepest, depth_of(plan.proposals, i));
  return deepest;
}

DraftLimits draft_limits(const RoundPlan& plan, std::int32_t planned, const RoundRoom& room) {
  const auto extra_rows = static_cast<std::int32_t>(plan.extra_rows.size());
  const std::int32_t nodes = std::max(room.verify_rows - 1 - extra_rows, 0);
  std::int32_t steps =
      std::min({planned, room.remaining_tokens - 1, room.cache_rows - room.root_position - 1});
  if (plan.draft_model != nullptr)
    steps = std::min(steps, plan.draft_model->backend->cache_rows() - room.root_position);
  return {std::clamp(steps, 0, nodes), nodes};
}

traces::DraftStop stop_at_limit(std::int32_t planned, const DraftLimits& limits) {
  if (planned == 0) return traces::DraftStop::no_draft;
  return limits.steps < planned ? traces::DraftStop::budget : traces::DraftStop::length;
}

}  // namespace draftscope::engine
