// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drafts a round's tokens: one forward a step, the best (or drawn) token goes on, siblings stay beside it.

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
  /// Nothing is owned. `recorder` may be null.
  Drafter(Backend& backend, const DecodeRequest& request, Chooser& chooser, profiler::SpanRecorder* recorder);

  /// Forgets the last round's draft.
  void clear();

  /// Drafts with a part of the target (plan.mask) or another model (plan.draft_model) after the text, whose
  /// last token is the root. `stop` is set if anything but the length ends the draft. Logits that make no
  /// distribution end it too, as a confidence below any threshold does, and what was drafted before stands.
  [[nodiscard]] Result<void> draft(const RoundPlan& plan, std::span<const std::int32_t> text,
                                   const DraftLimits& limits, traces::DraftStop& stop);
  /// Drafts in stages (drafter_stages.cpp). `stop` is set if anything but the depth ends the draft.
  [[nodiscard]] Result<void> draft_in_stages(DraftStages& stages, std::span<const std::int32_t> text,
                                             const DraftLimits& limits, traces::DraftStop& stop);
  /// Takes a plan's guesses as they are, as far as they fit: those beyond the limits, and their children, are
  /// left out.
  void take(std::span<const Proposal> proposals, const DraftLimits& limits);
  /// Takes what a backend drafted by itself.
  void take(const ChainRoundOutputs& chain);

  [[nodiscard]] const std::vector<DraftNode>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<DraftStep>& steps() const { return steps_; }
  /// Distributions that each step's tokens were drawn from; empty if greedy or guessed.
  [[nodiscard]] std::span<const Distribution> distributions() const {
    return {distributions_.data(), drawn_};
  }
  /// Place among distributions() that each node of a draft in stages was drawn from, −1 = it is a guess;
  /// empty of other drafts, and where nothing is drawn.
  [[nodiscard]] std::span<const std::int32_t> drawn_from() const { return drawn_from_; }
  /// The node of each step that the next step started from.
  [[nodiscard]] std::span<const std::int32_t> spine() const { return spine_; }
  [[nodiscard]] bool is_chain() const { return is_chain_; }
  /// For verification above the exit: the layer boundaries whose states the draft kept, its exit last, and
  /// those states, [steps][boundaries][d_model].
  [[nodiscard]] std::span<const std::int32_t> boundaries() const { return boundaries_; }
  [[nodiscard]] std::span<const float> states() const { return states_; }

 private:
  [[nodiscard]] Result<void> forward_step(const RoundPlan& plan, std::span<const std::int32_t> text,
                                          std::int32_t step);
  void penalise(std::span<const std::int32_t> text);
  void list_boundaries(const RoundPlan& plan);
  [[nodiscard]] Result<void> catch_up(DraftModel& model, std::span<const std::int32_t> text);
  void add_level(const RoundPlan& plan, std::int32_t step, std::int32_t position, std::int32_t room);
  void choose_tokens(std::int32_t width, std::int32_t position, Acceptance acceptance);
  [[nodiscard]] std::int32_t width_of(const RoundPlan& plan, double confidence) const;

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
  /// Row of the cache where the drafter of a stage has its K/V of a node; -1 = it did not run it.
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
  std::vector<Distribution> distributions_;  // by step; reused for their memory
  std::size_t drawn_ = 0;
  std::vector<std::int32_t> drawn_from_;
  std::vector<double> shares_;            // by node, of a draft in stages
  std::vector<std::int32_t> stage_rows_;  // [root, then nodes][drafter], as row_of() has it
  std::vector<std::int32_t> path_;        // whose rows a stage runs: nodes, −1 = the root
  std::vector<std::uint64_t> ancestors_;
  std::int32_t next_row_ = 0;  // of the cache, for the stages' passes
  bool is_chain_ = true;
  std::vector<std::int32_t> boundaries_;
  std::vector<float> states_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> candidates_;
  std::vector<double> probabilities_;  // those of candidates_
  std::vector<std::int32_t> place_;    // each proposal's among the nodes; -1 = left out
  Distribution rest_;
  Repetition repetition_;
  Outputs outputs_;
};

}  // namespace draftscope::engine
