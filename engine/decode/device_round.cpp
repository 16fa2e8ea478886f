// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/device_round.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace draftscope::engine {

using traces::DraftStop;

bool DeviceRound::can_run(const RoundPlan& plan, std::int32_t steps) const {
  if (!backend_.has_chain_rounds() || !plan.branches.empty() || !plan.proposals.empty() ||
      plan.stages != nullptr || !plan.extra_rows.empty() || plan.top > 0 || plan.draft_model != nullptr ||
      plan.entropy_weight > 0.0 || request_.sampling.penalises() || steps >= backend_.max_invariant_rows())
    return false;
  // Without a draft, a greedy round is one pass either way; a sampled one would copy its logits to the host.
  if (request_.sampling.greedy()) return steps > 0;
  if (plan.acceptance == Acceptance::by_block && !request_.sampling.coupled) return false;
  if (request_.sampling.min_p > 0.0) return false;  // A device warps by top-k and top-p alone.
  return chooser_.counter_key().has_value();
}

namespace {

bool verifies_above(const RoundPlan& plan, std::int32_t steps) {
  return steps > 0 && plan.verification == Verification::above_exit && plan.mask->exit_layer() > 0;
}

}  // namespace

Result<void> DeviceRound::run(const RoundPlan& plan, std::int32_t steps, std::span<const std::int32_t> text,
                              Drafter& drafter, DraftStop& stop) {
  const std::span<const std::int32_t> eos = request_.eos_tokens;
  DRAFTSCOPE_TRY(backend_.chain_round({.root = text.back(),
                                       .root_position = static_cast<std::int32_t>(text.size()) - 1,
                                       .draft_length = steps,
                                       .mask = steps > 0 ? plan.mask : nullptr,
                                       .layers = {0, steps > 0 ? plan.mask->exit_layer() : 0},
                                       .weights = steps > 0 ? plan.weights : std::nullopt,
                                       .above_exit = verifies_above(plan, steps),
                                       .states = plan.states,
                                       .keeps_states = plan.keeps_states && backend_.states() != nullptr,
                                       .threshold = plan.threshold,
                                       .stops = eos,
                                       .sampling = &request_.sampling,
                                       .key = chooser_.counter_key().value_or(CounterKey{})},
                                      outputs_));
  drafter.take(outputs_);
  if (drafter.steps().empty()) {
    if (steps > 0) stop = DraftStop::threshold;  // The first step's logits formed no distribution.
    return {};
  }
  const DraftStep& last = drafter.steps().back();
  if (std::find(eos.begin(), eos.end(), last.token) != eos.end())
    stop = DraftStop::eos;
  else if (last.index + 1 < steps)
    stop = DraftStop::threshold;
  return {};
}

void DeviceRound::judge(std::span<const DraftNode> nodes, Verdict& verdict) const {
  if (request_.sampling.greedy()) return judge_greedily(nodes, outputs_.verified, verdict);
  verdict.path.clear();
  verdict.tested.assign(nodes.size(), 0);
  for (std::int32_t i = 0; i < outputs_.accepted; ++i) verdict.path.push_back(i);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    verdict.tested[i] = static_cast<std::int32_t>(i) <= outputs_.accepted ? 1 : 0;
  verdict.bonus_token = outputs_.bonus_token;
  // The device's choice from such a row is meaningless, as is everything it accepted after it.
  verdict.undefined_row = -1;
  for (std::size_t row = 0; row <= verdict.path.size(); ++row) {
    if (has_distribution(outputs_.verified[row])) continue;
    verdict.path.resize(row);
    verdict.undefined_row = static_cast<std::int32_t>(row);
    return;
  }
}

bool TextAhead::can_run(const RoundPlan& plan, const RoundRoom& room) const {
  return plan.ahead > 1 && room.verify_rows > 1 && backend_.runs_ahead() && request_.sampling.greedy() &&
         !request_.sampling.penalises();
}

Result<void> TextAhead::run(const RoundPlan& plan, std::span<const std::int32_t> text,
                            const RoundRoom& room) {
  const bool is_left = taken_ < outputs_.drafted.size() && root_position_ == room.root_position;
  if (!is_left) {
    taken_ = 0;
    root_position_ = room.root_position;
    DRAFTSCOPE_TRY(backend_.chain_round(
        {.root = text.back(),
         .root_position = room.root_position,
         .draft_length = std::min({plan.ahead, room.remaining_tokens, room.verify_rows - 1}),
         .layers = {0, backend_.shape().n_layers},
         .verifies = false,
         .stops = request_.eos_tokens},
        outputs_));
    // The first step's logits form no distribution.
    if (outputs_.drafted.empty()) {
      best_ = {.probability = std::numeric_limits<float>::quiet_NaN()};
      return {};
    }
  }
  best_ = outputs_.drafted[taken_++];
  ++root_position_;
  return {};
}

std::int64_t TextAhead::lead_ns() const {
  const auto first = outputs_.drafted_ns.begin() + static_cast<std::ptrdiff_t>(taken_);
  return std::accumulate(first, outputs_.drafted_ns.end(), std::int64_t{0});
}

}  // namespace draftscope::engine
