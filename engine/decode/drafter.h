// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drafts a round's tokens with one forward per step. The best (or drawn) token continues the draft; its
// siblings do not.

#include <draftscope/base/to_size.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/profiler/span_recorder.h>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/draft_limits.h"
#include "decode/repetition.h"

namespace draftscope::engine {

class Drafter {
 public:
  /// Does not own its arguments. `recorder` may be null.
  Drafter(Backend& backend, const DecodeRequest& request, Chooser& chooser, profiler::SpanRecorder* recorder);

  /// Forgets the last round's draft.
  void clear();

  /// Drafts with a part of the target (plan.mask) or another model (plan.draft_model) after the text, whose
  /// last token is the root. `stop` is set if anything except the length ends the draft. Logits that form no
  /// distribution also end it, like a confidence below any threshold; earlier draft tokens stay.
  [[nodiscard]] Result<void> draft(const RoundPlan& plan, std::span<const std::int32_t> text,
                                   const DraftLimits& limits, traces::DraftStop& stop);
  /// Drafts in stages (drafter_stages.cpp). `stop` is set if anything except the depth ends the draft.
  [[nodiscard]] Result<void> draft_in_stages(DraftStages& stages, std::span<const std::int32_t> text,
                                             const DraftLimits& limits, traces::DraftStop& stop);
  /// Takes a plan's guesses as they are, up to the limits: guesses beyond them, and their children, are
  /// dropped.
  void take(std::span<const Proposal> proposals, const DraftLimits& limits);
  /// Takes the tokens that a backend drafted by itself.
  void take(const ChainRoundOutputs& chain);

  [[nodiscard]] const std::vector<DraftNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<DraftStep>& steps() const { return steps_; }
  /// Distributions from which each step's tokens were drawn; empty if greedy or guessed.
  [[nodiscard]] std::span<const Distribution> distributions() const {
    return {distributions_.data(), drawn_};
  }
  /// Index in distributions() of the distribution that each node of a staged draft was drawn from; −1 = it is
  /// a guess. Empty for other drafts, and if nothing is drawn.
  [[nodiscard]] std::span<const std::int32_t> drawn_from() const { return drawn_from_; }
  /// The node of each step from which the next step started.
  [[nodiscard]] std::span<const std::int32_t> spine() const { return spine_; }
  [[nodiscard]] bool is_chain() const { return is_chain_; }
  /// For verification above the exit: the layer boundaries whose states the draft left, its exit last, and
  /// those states, [steps][boundaries][d_model].
  [[nodiscard]] std::span<const std::int32_t> boundaries() const { return boundaries_; }
  [[nodiscard]] std::span<const float> states() const { return states_; }

  /// Feeds a next-token layer what it has states for, up to the row before the last one of the text.
  [[nodiscard]] Result<void> read_states(DraftModel& layer, std::span<const std::int32_t> text);

 private:
  [[nodiscard]] Result<void> forward_step(const RoundPlan& plan, std::span<const std::int32_t> text,
                                          std::int32_t step);
  [[nodiscard]] bool keep_shared(const DraftModel& model);
  [[nodiscard]] static std::int32_t read_by(const DraftModel& model, std::int32_t token);
  void penalise(std::span<const std::int32_t> text);
  void list_boundaries(const RoundPlan& plan);
  [[nodiscard]] Result<void> catch_up(DraftModel& model, std::span<const std::int32_t> text);
  [[nodiscard]] Result<void> step_next_token_layer(DraftModel& layer, Batch& batch, std::int32_t step);
  void add_level(const RoundPlan& plan, std::int32_t step, std::int32_t position, std::int32_t room);
  void choose_tokens(std::int32_t width, std::int32_t position, Acceptance acceptance);

  [[nodiscard]] Result<bool> run_stage(const DraftStage& stage, std::span<const std::int32_t> text,
                                       const DraftLimits& limits, StageOutcome& outcome);
  void list_stage_rows(const DraftStage& stage, std::span<const std::int32_t> text);
  void list_stage_ancestors(const DraftStage& stage, std::int32_t root_position);
  [[nodiscard]] bool add_staged(const DraftStage& stage, std::size_t head, std::int32_t parent,
                                std::int32_t root_position, std::int32_t room);
  void penalise_staged(std::span<const std::int32_t> text, std::size_t head, std::int32_t parent);
  void add_guesses(const DraftStage& stage, const DraftLimits& limits);
  [[nodiscard]] std::int32_t depth_of(std::int32_t node) const {
    return node < 0 ? 0 : nodes_[static_cast<std::size_t>(node)].depth;
  }
  /// Cache row where the drafter of a stage has its K/V of a node; -1 = it did not run the node.
  [[nodiscard]] std::int32_t& row_of(std::int32_t node, std::int32_t drafter) {
    return stage_rows_[to_size((node + 1) * max_stage_drafters + drafter)];
  }

  Backend& backend_;
  const DecodeRequest& request_;
  Chooser& chooser_;
  profiler::SpanRecorder* recorder_;
  traces::StringId step_name_id_;

  std::vector<DraftNode> nodes_;
  std::vector<DraftStep> steps_;
  std::vector<std::int32_t> spine_;
  std::vector<Distribution> distributions_;  // one per step; a member to reuse its memory
  std::size_t drawn_ = 0;
  std::vector<std::int32_t> drawn_from_;
  std::vector<double> shares_;            // by node, for a staged draft
  std::vector<std::int32_t> stage_rows_;  // [root, then nodes][drafter]; see row_of()
  std::vector<std::int32_t> path_;        // nodes that a stage runs; −1 = the root
  std::vector<std::uint64_t> ancestors_;
  std::int32_t next_row_ = 0;  // next free cache row for the stages' passes
  bool is_chain_ = true;
  std::vector<std::int32_t> boundaries_;
  std::vector<float> states_;
  std::vector<Row> rows_;
  std::vector<float> inputs_;  // of a next-token layer's pass, [rows][d_model]
  std::vector<std::int32_t> candidates_;
  std::vector<double> probabilities_;  // probabilities that belong to candidates_
  std::vector<std::int32_t> place_;    // node of each proposal; -1 = dropped
  Distribution rest_;
  Repetition repetition_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
