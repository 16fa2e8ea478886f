// SPDX-License-Identifier: GPL-3.0-or-later
// Drafts that several drafters make in stages (DraftStages). A drafter reads its own K/V of the draft tokens
// and the target's of the text: what it has not run of a path it runs in the same pass. Each pass takes rows
// of the cache after those of earlier ones, so that rows of a path are in its order; the verification writes
// over them all.
#include <draftscope/base/clock.h>

#include <algorithm>

#include "decode/acceptance.h"
#include "decode/drafter.h"

namespace draftscope::engine {

using traces::DraftStop;

Result<void> Drafter::draft_in_stages(DraftStages& stages, std::span<const std::int32_t> text,
                                      const DraftLimits& limits, DraftStop& stop) {
  if (limits.steps < 1) return {};
  next_row_ = static_cast<std::int32_t>(text.size()) - 1;
  stage_rows_.assign(max_stage_drafters, -1);
  const auto draft = [&] { return StagedDraft{text, nodes_, shares_, limits.steps}; };
  bool has_room = true;
  std::int32_t deepest = 0;
  while (has_room && static_cast<std::int32_t>(nodes_.size()) < limits.nodes) {
    const std::optional<DraftStage> stage = stages.next(draft());
    if (!stage) break;
    if (stage->drafter >= max_stage_drafters || depth_of(stage->parent) >= limits.steps)
      return fail("draft stage: found drafter {} at depth {}, expected below {} and {}", stage->drafter,
                  depth_of(stage->parent), max_stage_drafters, limits.steps);
    const std::size_t before = nodes_.size();
    StageOutcome outcome{.first_node = static_cast<std::int32_t>(before)};
    if (stage->drafter < 0) {
      add_guesses(*stage, limits);
    } else {
      DRAFTSCOPE_TRY_ASSIGN(has_room, run_stage(*stage, text, limits, outcome));
    }
    for (std::size_t i = before; i < nodes_.size(); ++i) deepest = std::max(deepest, nodes_[i].depth);
    stages.end_stage(draft(), *stage, outcome);
    // Logits that form no distribution end a draft.
    if (nodes_.size() == before) break;
  }
  if (nodes_.empty())
    stop = DraftStop::no_draft;
  else if (!has_room)
    stop = DraftStop::budget;
  else if (deepest < limits.steps)
    stop = DraftStop::threshold;
  return {};
}

/// Adds guesses. They are point masses, and each is the only child of its parent.
void Drafter::add_guesses(const DraftStage& stage, const DraftLimits& limits) {
  std::int32_t parent = stage.parent;
  for (const std::int32_t token : stage.guesses) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    const std::int32_t depth = depth_of(parent) + 1;
    if (depth > limits.steps || node >= limits.nodes) return;
    is_chain_ = is_chain_ && parent == node - 1;
    nodes_.push_back({token, parent, depth, 1.0, 1.0});
    shares_.push_back(1.0);
    stage_rows_.insert(stage_rows_.end(), max_stage_drafters, -1);
    if (!request_.sampling.greedy()) drawn_from_.push_back(-1);
    parent = node;
  }
}

/// Lists in rows_ the nodes on the path to the stage's parent that the drafter has not run, and the parent's
/// token itself.
void Drafter::list_stage_rows(const DraftStage& stage, std::span<const std::int32_t> text) {
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  path_.clear();
  for (std::int32_t at = stage.parent;; at = nodes_[static_cast<std::size_t>(at)].parent) {
    if (at == stage.parent || row_of(at, stage.drafter) < 0) path_.push_back(at);
    if (at < 0) break;
  }
  std::reverse(path_.begin(), path_.end());
  rows_.clear();
  for (const std::int32_t node : path_)
    rows_.push_back({.token = node < 0 ? text.back() : nodes_[static_cast<std::size_t>(node)].token,
                     .hidden = -1,
                     .position = root_position + depth_of(node)});
}

/// Lists in ancestors_ the drafter's rows of each row's path, wherever they are in the cache, and the earlier
/// guesses.
void Drafter::list_stage_ancestors(const DraftStage& stage, std::int32_t root_position) {
  constexpr std::size_t bits = 64;
  const auto uncommitted = static_cast<std::size_t>(next_row_ - root_position) + rows_.size();
  const std::size_t words = (uncommitted + bits - 1) / bits;
  ancestors_.assign(words * rows_.size(), 0);
  const auto see = [&](std::size_t row, std::int32_t cache_row) {
    const auto bit = static_cast<std::size_t>(cache_row - root_position);
    ancestors_[row * words + bit / bits] |= std::uint64_t{1} << (bit % bits);
  };
  const auto see_path = [&](std::size_t row, std::int32_t node) {
    for (std::int32_t at = node;; at = nodes_[static_cast<std::size_t>(at)].parent) {
      see(row, row_of(at, stage.drafter));
      if (at < 0) return;
    }
  };
  for (std::size_t row = 0; row < path_.size(); ++row)
    if (path_[row] >= 0) see_path(row, nodes_[static_cast<std::size_t>(path_[row])].parent);
  for (std::size_t row = path_.size(); row < rows_.size(); ++row) {
    see_path(row, stage.parent);
    for (std::size_t other = path_.size(); other < row; ++other)
      see(row, next_row_ + static_cast<std::int32_t>(other));
  }
}

/// Runs the stage's pass. Returns false if there is no room for it.
Result<bool> Drafter::run_stage(const DraftStage& stage, std::span<const std::int32_t> text,
                                const DraftLimits& limits, StageOutcome& outcome) {
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  list_stage_rows(stage, text);
  const auto of_path = static_cast<std::int32_t>(path_.size());
  const std::int32_t depth = depth_of(stage.parent);
  const std::int32_t room = std::min(backend_.max_invariant_rows(), backend_.cache_rows() - next_row_);
  if (of_path > room) return false;
  const std::int32_t guesses =
      std::min({static_cast<std::int32_t>(stage.guesses.size()), room - of_path, limits.steps - depth - 1,
                limits.nodes - static_cast<std::int32_t>(nodes_.size()) - 1});
  for (std::int32_t i = 0; i < guesses; ++i)
    rows_.push_back({.token = stage.guesses[static_cast<std::size_t>(i)],
                     .hidden = -1,
                     .position = root_position + depth + 1 + i});
  for (std::int32_t i = 0; i < of_path; ++i)
    row_of(path_[static_cast<std::size_t>(i)], stage.drafter) = next_row_ + i;
  list_stage_ancestors(stage, root_position);
  const bool greedy = request_.sampling.greedy();
  const std::int32_t top = greedy ? std::clamp(stage.max_width, 1, backend_.shape().vocab) : 1;
  const std::int64_t start_ns = now_ns();
  const profiler::ScopedSpan span(recorder_, profiler::Level::layers, step_name_id_);
  DRAFTSCOPE_TRY(backend_.forward({.rows = rows_,
                                   .committed = root_position,
                                   .first_row = next_row_,
                                   .ancestors = ancestors_,
                                   .mask = stage.mask,
                                   .layers = {0, stage.mask->exit_layer()},
                                   .wanted = {.head_from = of_path - 1,
                                              .head = true,
                                              .logits = !greedy || repetition_.is_on(),
                                              .top_k = top},
                                   .weights = stage.weights},
                                  outputs_));
  outcome.ns = now_ns() - start_ns;
  outcome.rows = static_cast<std::int32_t>(rows_.size());
  std::int32_t at = stage.parent;
  for (std::int32_t head = 0; head <= guesses; ++head) {
    const auto first = static_cast<std::int32_t>(nodes_.size());
    const std::int32_t places = limits.nodes - first;
    if (places < 1) break;
    if (repetition_.is_on()) penalise_staged(text, static_cast<std::size_t>(head), at);
    if (!add_staged(stage, static_cast<std::size_t>(head), at, root_position, places)) break;
    const std::int32_t token = nodes_[static_cast<std::size_t>(first)].token;
    const auto& eos = request_.eos_tokens;
    if (std::find(eos.begin(), eos.end(), token) != eos.end()) break;
    outcome.last = first;
    if (head == guesses || token != stage.guesses[static_cast<std::size_t>(head)]) break;
    row_of(first, stage.drafter) = next_row_ + of_path + head;
    outcome.last = -1;
    at = first;
  }
  // If the last guess equalled the drafter's token, it has no token after it when there was no room or no
  // distribution.
  if (outcome.last < 0 && at != stage.parent && static_cast<std::size_t>(at) + 1 == nodes_.size())
    outcome.last = at;
  next_row_ += outcome.rows;
  return true;
}

/// Penalises the logits of a head row by the text and by the path to the row's node.
void Drafter::penalise_staged(std::span<const std::int32_t> text, std::size_t head, std::int32_t parent) {
  repetition_.follow(text);
  std::int32_t pushed = 0;
  for (std::int32_t at = parent; at >= 0; at = nodes_[static_cast<std::size_t>(at)].parent, ++pushed)
    repetition_.push(nodes_[static_cast<std::size_t>(at)].token);
  const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
  const std::size_t heads = outputs_.logits.size() / vocab;
  const std::size_t top = outputs_.top.size() / heads;
  repetition_.apply(std::span(outputs_.logits).subspan(head * vocab, vocab),
                    std::span(outputs_.top).subspan(head * top, top));
  for (; pushed > 0; --pushed) repetition_.pop();
}

/// Adds the drafter's tokens after `parent`, using its head row; returns false if the row forms no
/// distribution.
bool Drafter::add_staged(const DraftStage& stage, std::size_t head, std::int32_t parent,
                         std::int32_t root_position, std::int32_t room) {
  const bool greedy = request_.sampling.greedy();
  const std::size_t top =
      greedy ? static_cast<std::size_t>(std::clamp(stage.max_width, 1, backend_.shape().vocab)) : 1;
  const TopToken best = outputs_.top[head * top];
  if (!has_distribution(best)) return false;
  const std::size_t step = steps_.size();
  const std::int32_t depth = depth_of(parent) + 1;
  const std::int32_t position = root_position + depth;
  const std::int32_t width = std::min(stage.max_width, room);
  const auto confidence = static_cast<double>(best.probability);
  const auto first = static_cast<std::int32_t>(nodes_.size());
  double mass = 0.0;
  const auto add = [&](std::int32_t token, double share, double probability) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    is_chain_ = is_chain_ && parent == node - 1;
    nodes_.push_back({token, parent, depth, confidence, probability});
    shares_.push_back(share);
    stage_rows_.insert(stage_rows_.end(), max_stage_drafters, -1);
    if (!greedy) drawn_from_.push_back(static_cast<std::int32_t>(step));
    mass += share;
    return mass < stage.mass;
  };
  if (greedy) {
    for (std::int32_t i = 0; i < width; ++i) {
      const TopToken& token = outputs_.top[head * top + static_cast<std::size_t>(i)];
      if (!add(token.token, static_cast<double>(token.probability), 1.0)) break;
    }
  } else {
    if (distributions_.size() <= step) distributions_.resize(step + 1);
    Distribution& drawn = distributions_[step];
    const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
    warp(std::span(outputs_.logits).subspan(head * vocab, vocab), request_.sampling, drawn);
    if (request_.sampling.coupled) {
      coupled_tokens(drawn, *chooser_.counter_key(), position, width, candidates_);
      for (const std::int32_t token : candidates_)
        if (!add(token, drawn.probability(token), drawn.probability(token))) break;
    } else {
      copy_distribution(drawn, rest_);
      for (std::int32_t i = 0; i < width && !rest_.tokens.empty(); ++i) {
        // Draws get distinct numbers, since other branches of the draft draw at the same position.
        const std::int32_t branch = static_cast<std::int32_t>(step) * max_verification_rows + i;
        const std::int32_t token = draw_token(rest_, {DrawPurpose::draft, position, branch}, chooser_);
        const double probability = rest_.probability(token);
        remove_token(rest_, token);
        if (!add(token, drawn.probability(token), probability)) break;
      }
    }
    drawn_ = step + 1;
  }
  spine_.push_back(first);
  steps_.push_back(
      {static_cast<std::int32_t>(step), nodes_[static_cast<std::size_t>(first)].token, confidence});
  return true;
}

}  // namespace draftscope::engine
