// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The target's part of a request: prefill, verification of a draft, and the choice of what the text goes on
// with.

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
  /// Nothing is owned.
  Target(Backend& backend, const DecodeRequest& request, Chooser& chooser);

  /// Writes the prompt's K/V, pass by pass; returns the text's first token. Fails with what non_finite() says
  /// if the logits after the prompt make no distribution.
  [[nodiscard]] Result<std::int32_t> prefill();

  /// Runs the layers that the plan says over the root (`text`'s last token), every draft token and every
  /// extra row, and leaves what they predict in best() and top().
  [[nodiscard]] Result<void> verify(const RoundPlan& plan, const Drafter& drafter,
                                    std::span<const std::int32_t> text);

  /// Decides on the draft that was verified last.
  void judge(const Drafter& drafter, Acceptance acceptance, std::int32_t root_position, Verdict& verdict);

  /// Best tokens of the last verification: after the root, the draft tokens and the extra rows.
  [[nodiscard]] std::span<const TopToken> best() const {
    return top_ > 1 ? std::span<const TopToken>(best_) : outputs_.top;
  }
  /// As many of each of these rows as its plan asked for.
  [[nodiscard]] std::span<const TopToken> top() const { return outputs_.top; }
  /// Hidden states of root and draft tokens that its plan asked for.
  [[nodiscard]] std::span<const float> states() const {
    return went_above_ ? std::span<const float>(states_) : outputs_.hidden;
  }

 private:
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
  // The present pass of a verification that takes several.
  std::vector<Row> part_rows_;
  std::vector<std::uint64_t> part_ancestors_;
  Outputs part_outputs_;
  std::int32_t top_ = 1;        // best tokens a row of the pass at hand
  std::vector<TopToken> best_;  // of the last verification, where it has several a row
  bool went_above_ = false;     // the last verification, an exit
  std::vector<float> below_;    // then: states of the draft's boundaries, [boundaries][rows][d_model]
  std::vector<float> states_;   // and those that the plan asked for, [plan.states][rows][d_model]
  SampledJudge judge_;
  Distribution distribution_;
  Repetition repetition_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
