// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/device/text_ahead.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace draftscope::engine {

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
    // The first step's logits make no distribution.
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
