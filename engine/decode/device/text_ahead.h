// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds without a draft that the backend runs ahead of the text, several in one go (Backend::runs_ahead()):
// of a greedy text that nothing but the model decides. Each is taken as a round of its own, with the token
// and the time that it took on the device.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/acceptance.h"
#include "decode/draft_limits.h"

namespace draftscope::engine {

class TextAhead {
 public:
  /// Nothing is owned.
  TextAhead(Backend& backend, const DecodeRequest& request) : backend_(backend), request_(request) {}

  /// Whether a round can be taken from here. The cache's last row is left to a pass of its own.
  [[nodiscard]] bool can_run(const RoundPlan& plan, const RoundRoom& room) const;

  /// Takes the round after `text`, whose last token is the root; runs it and up to plan.ahead − 1 more, if
  /// none is left of those that were run.
  [[nodiscard]] Result<void> run(const RoundPlan& plan, std::span<const std::int32_t> text,
                                 const RoundRoom& room);

  /// The target's best token after the root. One, whose probability is a NaN if its logits make no
  /// distribution.
  [[nodiscard]] std::span<const TopToken> best() const { return {&best_, 1}; }
  /// How long after the round was taken the device was done with all that it ran.
  [[nodiscard]] std::int64_t lead_ns() const;

 private:
  Backend& backend_;
  const DecodeRequest& request_;
  ChainRoundOutputs outputs_;
  std::size_t taken_ = 0;           ///< of outputs_.drafted
  std::int32_t root_position_ = 0;  ///< of the round that is taken next
  TopToken best_;
};

}  // namespace draftscope::engine
