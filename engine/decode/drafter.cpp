// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/drafter.h"

#include <algorithm>
#include <array>
#include <limits>

#include "decode/acceptance.h"

namespace draftscope::engine {

using traces::DraftStop;

Drafter::Drafter(Backend& backend, const DecodeRequest& request, Chooser& chooser,
                 profiler::SpanRecorder* recorder)
    : backend_(backend),
      request_(request),
      chooser_(chooser),
      recorder_(recorder),
      step_name_id_(recorder != nullptr ? recorder->name_id("draft step") : traces::StringId()),
      repetition_(request.sampling, request.prompt.size(), backend.shape().vocab) {
  const auto widest = static_cast<std::size_t>(backend.max_verified_rows());
  nodes_.reserve(widest);
  steps_.reserve(widest);
  spine_.reserve(widest);
  candidates_.reserve(widest);
  probabilities_.reserve(widest);
}

void Drafter::clear() {
  nodes_.clear();
  steps_.clear();
  spine_.clear();
  states_.clear();
  boundaries_.clear();
  drawn_ = 0;
  drawn_from_.clear();
  shares_.clear();
  stage_rows_.clear();
  is_chain_ = true;
}

Result<void> Drafter::draft(const RoundPlan& plan, std::span<const std::int32_t> text,
                            const DraftLimits& limits, DraftStop& stop) {
  if (limits.steps < 1) return {};
  if (distributions_.size() < static_cast<std::size_t>(limits.steps))
    distributions_.resize(static_cast<std::size_t>(limits.steps));
  if (plan.draft_model != nullptr)
    DRAFTSCOPE_TRY(plan.draft_model->join != nullptr ? read_states(*plan.draft_model, text)
                                                     : catch_up(*plan.draft_model, text));
  else if (plan.verification == Verification::above_exit)
    list_boundaries(plan);
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  for (std::int32_t k = 0; k < limits.steps; ++k) {
    const std::int32_t room = limits.nodes - static_cast<std::int32_t>(nodes_.size());
    if (room < 1) {
      stop = DraftStop::budget;
      break;
    }
    const profiler::ScopedSpan span(recorder_, profiler::Level::layers, step_name_id_);
    DRAFTSCOPE_TRY(forward_step(plan, text, k));
    const bool goes_on = plan.draft_model == nullptr || keep_shared(*plan.draft_model);
    if (goes_on && repetition_.is_on()) penalise(text);
    if (!goes_on || !has_distribution(outputs_.top[0])) {
      stop = DraftStop::threshold;
      break;
    }
    if (plan.draft_model == nullptr)
      states_.insert(states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());
    add_level(plan, k, root_position + k + 1, room);
    const DraftStep& step = steps_.back();
    const auto& eos = request_.eos_tokens;
    if (std::find(eos.begin(), eos.end(), step.token) != eos.end()) {
      stop = DraftStop::eos;
      break;
    }
    // Computed in the precision of the confidence, so that a device decides alike.
    const double sureness =
        plan.entropy_weight > 0.0 ? acceptance_bound(outputs_.logits, plan.entropy_weight) : step.confidence;
    if (static_cast<float>(sureness) < static_cast<float>(plan.threshold)) {
      if (k + 1 < limits.steps) stop = DraftStop::threshold;
      break;
    }
  }
  return {};
}

/// Leaves the tokens that target and draft model share: others have probability 0, and the logits get the
/// target's rows. Returns false where the best token is none of them, which ends the draft.
bool Drafter::keep_shared(const DraftModel& model) {
  if (model.shared_tokens == nullptr) return true;
  const std::vector<bool>& shared = *model.shared_tokens;
  const auto is_shared = [&shared](std::size_t token) { return token < shared.size() && shared[token]; };
  constexpr float never = -std::numeric_limits<float>::infinity();
  if (!outputs_.logits.empty()) {
    outputs_.logits.resize(to_size(backend_.shape().vocab), never);
    for (std::size_t token = 0; token < outputs_.logits.size(); ++token)
      if (!is_shared(token)) outputs_.logits[token] = never;
  }
  if (!is_shared(to_size(outputs_.top[0].token))) return false;
  std::erase_if(outputs_.top, [&](const TopToken& top) { return !is_shared(to_size(top.token)); });
  return true;
}

/// The token as the draft model reads it: of one beyond its rows it reads its last.
std::int32_t Drafter::read_by(const DraftModel& model, std::int32_t token) {
  return std::min(token, model.backend->shape().vocab - 1);
}

/// Penalises the step's logits by the text and by the earlier steps' tokens.
void Drafter::penalise(std::span<const std::int32_t> text) {
  repetition_.follow(text);
  for (const DraftStep& step : steps_) repetition_.push(step.token);
  repetition_.apply(outputs_.logits, outputs_.top);
  for (std::size_t i = 0; i < steps_.size(); ++i) repetition_.pop();
}

/// Lists the draft's boundaries whose states the plan wants, and its exit.
void Drafter::list_boundaries(const RoundPlan& plan) {
  const std::int32_t exit = plan.mask->exit_layer();
  for (const std::int32_t boundary : plan.states)
    if (boundary < exit) boundaries_.push_back(boundary);
  boundaries_.push_back(exit);
}

/// Runs the part of the text that a draft model has not seen, up to the root.
Result<void> Drafter::catch_up(DraftModel& model, std::span<const std::int32_t> text) {
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  const std::int32_t layers = model.backend->shape().n_layers;
  while (model.valid < root_position) {
    const std::int32_t count = std::min(model.backend->max_rows(), root_position - model.valid);
    rows_.clear();
    for (std::int32_t i = model.valid; i < model.valid + count; ++i)
      rows_.push_back(
          {.token = read_by(model, text[static_cast<std::size_t>(i)]), .hidden = -1, .position = i});
    DRAFTSCOPE_TRY(model.backend->forward(
        {.rows = rows_, .committed = model.valid, .first_row = model.valid, .layers = {0, layers}},
        outputs_));
    model.valid += count;
  }
  return {};
}

Result<void> Drafter::read_states(DraftModel& layer, std::span<const std::int32_t> text) {
  const Backend& backend = *layer.backend;
  const auto d_model = to_size(backend.shape().d_model);
  const std::int32_t end = std::min(static_cast<std::int32_t>(text.size()) - 2,
                                    layer.valid + static_cast<std::int32_t>(layer.states.size() / d_model));
  std::size_t read = 0;
  while (layer.valid < end) {
    const std::int32_t count = std::min(backend.max_invariant_rows(), end - layer.valid);
    layer.join->join(text.subspan(to_size(layer.valid) + 1, to_size(count)),
                     std::span(layer.states).subspan(read * d_model, to_size(count) * d_model),
                     StateFrom::target, inputs_);
    rows_.clear();
    for (std::int32_t i = 0; i < count; ++i)
      rows_.push_back({.token = -1, .hidden = i, .position = layer.valid + i});
    DRAFTSCOPE_TRY(layer.backend->forward({.rows = rows_,
                                           .hidden = inputs_,
                                           .committed = layer.valid,
                                           .first_row = layer.valid,
                                           .layers = {0, backend.shape().n_layers}},
                                          outputs_));
    layer.valid += count;
    read += to_size(count);
  }
  layer.states.erase(layer.states.begin(),
                     layer.states.begin() + static_cast<std::ptrdiff_t>(read * d_model));
  return {};
}

/// Runs a step of a next-token layer: the first on the target's state before the root, each further one on
/// the layer's own state.
Result<void> Drafter::step_next_token_layer(DraftModel& layer, Batch& batch, std::int32_t step) {
  const auto d_model = to_size(layer.backend->shape().d_model);
  const std::int32_t row = batch.first_row - 1;
  if (step == 0 && (layer.valid != row || layer.states.size() != d_model))
    return fail("next-token layer: found states of {} positions from {} on, expected that of position {}",
                layer.states.size() / d_model, layer.valid, row);
  const std::int32_t token = rows_.front().token;
  layer.join->join({&token, 1}, step == 0 ? layer.states : outputs_.hidden,
                   step == 0 ? StateFrom::target : StateFrom::next_token_layer, inputs_);
  const std::array boundary{batch.layers.end};
  rows_.front() = {.token = -1, .hidden = 0, .position = row};
  batch.rows = rows_;
  batch.hidden = inputs_;
  batch.committed = batch.first_row = row;
  batch.wanted.hidden_after = boundary;
  DRAFTSCOPE_TRY(layer.backend->forward(batch, outputs_));
  if (step > 0) return {};
  layer.valid = row + 1;
  layer.states.clear();
  return {};
}

Result<void> Drafter::forward_step(const RoundPlan& plan, std::span<const std::int32_t> text,
                                   std::int32_t step) {
  const std::int32_t position = static_cast<std::int32_t>(text.size()) - 1 + step;
  rows_.assign(1,
               {.token = step == 0 ? text.back() : steps_.back().token, .hidden = -1, .position = position});
  std::int32_t widest = 1;
  for (const speculation::BranchWidth& branch : plan.branches) widest = std::max(widest, branch.width);
  const bool greedy = request_.sampling.greedy();
  Wanted wanted{.head = true,
                .logits = !greedy || plan.entropy_weight > 0.0 || repetition_.is_on(),
                .top_k = greedy ? widest : 1};
  Batch batch{.rows = rows_, .committed = position, .first_row = position, .wanted = wanted};
  if (plan.draft_model != nullptr) {
    Backend& model = *plan.draft_model->backend;
    rows_[0].token = read_by(*plan.draft_model, rows_[0].token);
    batch.layers = {0, model.shape().n_layers};
    batch.wanted.top_k = std::min(batch.wanted.top_k, model.shape().vocab);
    if (plan.draft_model->join != nullptr) return step_next_token_layer(*plan.draft_model, batch, step);
    DRAFTSCOPE_TRY(model.forward(batch, outputs_));
    plan.draft_model->valid = position + 1;
    return {};
  }
  const std::int32_t exit = plan.mask->exit_layer();
  batch.mask = plan.mask;
  batch.layers = {0, exit};
  batch.wanted.top_k = std::min(batch.wanted.top_k, backend_.shape().vocab);
  const bool keep_states = plan.verification == Verification::above_exit;
  batch.weights = plan.weights;
  if (keep_states) batch.wanted.hidden_after = boundaries_;
  return backend_.forward(batch, outputs_);
}

void Drafter::add_level(const RoundPlan& plan, std::int32_t step, std::int32_t position, std::int32_t room) {
  const double confidence = static_cast<double>(outputs_.top[0].probability);
  const std::int32_t width = std::min(speculation::width_at(plan.branches, confidence), room);
  if (!request_.sampling.greedy())
    warp(outputs_.logits, request_.sampling, distributions_[static_cast<std::size_t>(step)]);
  choose_tokens(width, position, plan.acceptance);
  const auto first = static_cast<std::int32_t>(nodes_.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    nodes_.push_back(
        {candidates_[i], spine_.empty() ? -1 : spine_.back(), step + 1, confidence, probabilities_[i]});
  spine_.push_back(first);
  is_chain_ = is_chain_ && candidates_.size() == 1;
  steps_.push_back({step, candidates_.front(), confidence});
  if (!request_.sampling.greedy()) drawn_ = static_cast<std::size_t>(step) + 1;
}

/// Chooses the step's tokens, with their probabilities when they were drawn.
void Drafter::choose_tokens(std::int32_t width, std::int32_t position, Acceptance acceptance) {
  candidates_.clear();
  probabilities_.clear();
  if (request_.sampling.greedy()) {
    for (std::int32_t i = 0; i < width && i < static_cast<std::int32_t>(outputs_.top.size()); ++i)
      candidates_.push_back(outputs_.top[static_cast<std::size_t>(i)].token);
    probabilities_.assign(candidates_.size(), 1.0);
    return;
  }
  const Distribution& distribution = distributions_[steps_.size()];
  if (request_.sampling.coupled) {
    coupled_tokens(distribution, *chooser_.counter_key(), position, width, candidates_);
    for (const std::int32_t token : candidates_) probabilities_.push_back(distribution.probability(token));
    return;
  }
  copy_distribution(distribution, rest_);
  for (std::int32_t i = 0; i < width && !rest_.tokens.empty(); ++i) {
    // A block has one token per step, and the root lies as many steps before it as there were.
    const std::int32_t branch = acceptance == Acceptance::by_block
                                    ? block_branch(position - 1 - static_cast<std::int32_t>(steps_.size()))
                                    : i;
    const std::int32_t token = draw_token(rest_, {DrawPurpose::draft, position, branch}, chooser_);
    candidates_.push_back(token);
    probabilities_.push_back(rest_.probability(token));
    if (i + 1 < width) remove_token(rest_, token);
  }
}

void Drafter::take(std::span<const Proposal> proposals, const DraftLimits& limits) {
  place_.assign(proposals.size(), -1);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& proposal = proposals[i];
    const std::int32_t parent = proposal.parent < 0 ? -1 : place_[static_cast<std::size_t>(proposal.parent)];
    if (proposal.parent >= 0 && parent < 0) continue;
    const std::int32_t depth = parent < 0 ? 1 : nodes_[static_cast<std::size_t>(parent)].depth + 1;
    if (depth > limits.steps || static_cast<std::int32_t>(nodes_.size()) >= limits.nodes) continue;
    place_[i] = static_cast<std::int32_t>(nodes_.size());
    is_chain_ = is_chain_ && parent == place_[i] - 1;
    nodes_.push_back({proposal.token, parent, depth, 1.0, 1.0});
  }
}

void Drafter::take(const ChainRoundOutputs& chain) {
  for (std::size_t k = 0; k < chain.drafted.size(); ++k) {
    const auto index = static_cast<std::int32_t>(k);
    const double confidence = static_cast<double>(chain.drafted[k].probability);
    steps_.push_back({index, chain.drafted[k].token, confidence});
    spine_.push_back(index);
    nodes_.push_back(
        {chain.drafted[k].token, index - 1, index + 1, confidence, chain.drawn_probabilities[k]});
  }
}

}  // namespace draftscope::engine
