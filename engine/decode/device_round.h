// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds that the backend drafts, verifies and judges by itself (Backend::chain_round).

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/random.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/traces/records.h>
#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/acceptance.h"
#include "decode/draft_limits.h"
#include "decode/drafter.h"

namespace draftscope::engine {

class DeviceRound {
 public:
  /// Does not own its arguments.
  DeviceRound(Backend& backend, const DecodeRequest& request, const Chooser& chooser)
      : backend_(backend), request_(request), chooser_(chooser) {}

  /// Whether the backend can do draft and verification of such a round in one go. The round must be a chain,
  /// drafted by a mask in `steps` steps, with no extra rows and without a repetition penalty.
  [[nodiscard]] bool can_run(const RoundPlan& plan, std::int32_t steps) const;

  /// Runs the round after `text`, whose last token is the root, and passes the draft to `drafter`. `stop` is
  /// set if anything except the length ended the draft.
  [[nodiscard]] Result<void> run(const RoundPlan& plan, std::int32_t steps,
                                 std::span<const std::int32_t> text, Drafter& drafter,
                                 traces::DraftStop& stop);

  /// Copies the device's decision on the draft.
  void judge(std::span<const DraftNode> nodes, Verdict& verdict) const;

  /// The target's best tokens after the root and after each draft token.
  [[nodiscard]] std::span<const TopToken> verified() const { return outputs_.verified; }
  /// Hidden states of the root and draft tokens, as the plan asked for them.
  [[nodiscard]] std::span<const float> states() const { return outputs_.hidden; }
  /// Duration of the verification by the device's clock.
  [[nodiscard]] std::int64_t verify_ns() const { return outputs_.verify_ns; }

 private:
  Backend& backend_;
  const DecodeRequest& request_;
  const Chooser& chooser_;
  ChainRoundOutputs outputs_;
};

/// Rounds without a draft that the backend runs ahead of the text, several in one go (Backend::runs_ahead()).
/// They belong to a greedy text that depends on nothing except the model. Each is reported as a separate
/// round, with its token and its time on the device.
class TextAhead {
 public:
  /// Does not own its arguments.
  TextAhead(Backend& backend, const DecodeRequest& request) : backend_(backend), request_(request) {}

  /// Whether a round can be taken at this point. The cache's last row is left to an ordinary pass.
  [[nodiscard]] bool can_run(const RoundPlan& plan, const RoundRoom& room) const;

  /// Takes the round after `text`, whose last token is the root. If no round run ahead is left, it first runs
  /// this round and up to plan.ahead − 1 more.
  [[nodiscard]] Result<void> run(const RoundPlan& plan, std::span<const std::int32_t> text,
                                 const RoundRoom& room);

  /// The target's best token after the root: one token, whose probability is a NaN if its logits form no
  /// distribution.
  [[nodiscard]] std::span<const TopToken> best() const { return {&best_, 1}; }
  /// Time from the end of the taken round to the end of all rounds that the device has run.
  [[nodiscard]] std::int64_t lead_ns() const;

 private:
  Backend& backend_;
  const DecodeRequest& request_;
  ChainRoundOutputs outputs_;
  std::size_t taken_ = 0;           ///< number of tokens of outputs_.drafted that were taken
  std::int32_t root_position_ = 0;  ///< root position of the round to be taken next
  TopToken best_;
};

}  // namespace draftscope::engine
