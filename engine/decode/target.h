// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The target's part of a request: prefill, verification of a draft, and the choice of the text's next tokens.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/strategy.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/acceptance.h"
#include "decode/drafter.h"
#include "decode/repetition.h"

namespace draftscope::engine {

class Target {
 public:
  /// Does not own its arguments.
  Target(Backend& backend, const DecodeRequest& request, Chooser& chooser);

  /// Writes the prompt's K/V, pass by pass; returns the text's first token. A next-token layer, unless null,
  /// reads the states of all positions through `drafter`. Fails with the error of non_finite() if the logits
  /// after the prompt form no distribution.
  [[nodiscard]] Result<std::int32_t> prefill(DraftModel* layer, Drafter& drafter);

  /// Runs the layers of the plan over the root (`text`'s last token), every draft token and every extra row.
  /// Leaves their predictions in best() and top().
  [[nodiscard]] Result<void> verify(const RoundPlan& plan, const Drafter& drafter,
                                    std::span<const std::int32_t> text);

  /// Decides on the most recently verified draft.
  void judge(const Drafter& drafter, Acceptance acceptance, std::int32_t root_position, Verdict& verdict);

  /// Best tokens of the last verification: after the root, the draft tokens and the extra rows.
  [[nodiscard]] std::span<const TopToken> best() const {
    return top_ > 1 ? std::span<const TopToken>(best_) : outputs_.top;
  }
  /// The best tokens of root and draft tokens, as many per row as the plan asked for.
  [[nodiscard]] std::span<const TopToken> top() const { return outputs_.top; }
  /// Hidden states of root and draft tokens, as the plan asked for them.
  [[nodiscard]] std::span<const float> states() const {
    return went_above_ ? std::span<const float>(states_) : outputs_.hidden;
  }

 private:
  void begin_states(DraftModel& layer) const;
  [[nodiscard]] Result<void> verify_above(const RoundPlan& plan, const Drafter& drafter,
                                          std::int32_t root_position);
  void penalise(std::size_t row);
  void penalise(std::span<const DraftNode> nodes, std::span<const ExtraRow> extra_rows,
                std::span<const std::int32_t> text);
  [[nodiscard]] Result<void> verify_all(const RoundPlan& plan, const Drafter& drafter,
                                        std::span<const std::int32_t> text);
  void gather_states(const Drafter& drafter);
  [[nodiscard]] Result<void> forward(const Batch& whole);
  [[nodiscard]] Batch part(const Batch& whole, std::size_t done, std::size_t count);
  [[nodiscard]] Wanted head_wanted(std::int32_t from) const;
  [[nodiscard]] Batch chain(std::int32_t first_row, LayerRange layers, const Wanted& wanted) const;

  Backend& backend_;
  const DecodeRequest& request_;
  Chooser& chooser_;
  std::int32_t n_layers_;
  std::vector<Row> rows_;
  std::vector<std::uint64_t> ancestors_;
  // Buffers for the current pass of a verification that takes several.
  std::vector<Row> part_rows_;
  std::vector<std::uint64_t> part_ancestors_;
  Outputs part_outputs_;
  std::int32_t top_ = 1;        // best tokens per row of the current pass
  std::vector<TopToken> best_;  // best tokens of the last verification, if it has several per row
  bool went_above_ = false;     // whether the last verification ran above the exit
  std::vector<float> below_;    // if so: states of the draft's boundaries, [boundaries][rows][d_model]
  std::vector<float> states_;   // if so: states that the plan asked for, [plan.states][rows][d_model]
  SampledJudge judge_;
  Distribution distribution_;
  Repetition repetition_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
