// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/target.h"

#include <draftscope/base/to_size.h>
#include <draftscope/engine/strategy.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/non_finite.h"

namespace draftscope::engine {

namespace {

/// Visibility lists of a verification, in the form of Batch::ancestors with the root as its first row. A
/// draft token attends to the root and its ancestors, an extra row to the root and the extra rows that it
/// names. Rows are the root, then `nodes`, then `extra_rows`; words are [rows][ceil(rows / 64)].
void list_ancestors(std::span<const DraftNode> nodes, std::span<const ExtraRow> extra_rows,
                    std::vector<std::uint64_t>& words) {
  constexpr std::size_t bits = 64;
  const std::size_t rows = 1 + nodes.size() + extra_rows.size();
  const std::size_t row_words = (rows + bits - 1) / bits;
  words.assign(rows * row_words, 0);
  const auto see = [&](std::size_t row, std::size_t other) {
    words[row * row_words + other / bits] |= std::uint64_t{1} << (other % bits);
  };
  const auto see_what_is_seen_by = [&](std::size_t row, std::size_t other) {
    for (std::size_t word = 0; word < row_words; ++word)
      words[row * row_words + word] |= words[other * row_words + word];
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int32_t parent_row = nodes[i].parent + 1;
    const auto parent = static_cast<std::size_t>(parent_row);
    see_what_is_seen_by(i + 1, parent);
    see(i + 1, parent);
  }
  const std::size_t first = nodes.size() + 1;
  for (std::size_t i = 0; i < extra_rows.size(); ++i) {
    see(first + i, 0);
    for (const std::int32_t other : extra_rows[i].sees)
      see(first + i, first + static_cast<std::size_t>(other));
  }
}

}  // namespace

Target::Target(Backend& backend, const DecodeRequest& request, Chooser& chooser)
    : backend_(backend),
      request_(request),
      chooser_(chooser),
      n_layers_(backend.shape().n_layers),
      repetition_(request.sampling, request.prompt.size(), backend.shape().vocab) {
  rows_.reserve(static_cast<std::size_t>(backend.max_verified_rows()));
  best_.reserve(static_cast<std::size_t>(backend.max_verified_rows()));
}

/// Cuts what a next-token layer has of an earlier request to the tokens that this one shares with it. States
/// that it has never seen, since another strategy decoded them, are zeros.
void Target::begin_states(DraftModel& layer) const {
  layer.valid = std::min(layer.valid, request_.cached_tokens);
  layer.states.resize(to_size(request_.cached_tokens - layer.valid) * to_size(backend_.shape().d_model));
}

Result<std::int32_t> Target::prefill(DraftModel* layer, Drafter& drafter) {
  const auto length = static_cast<std::int32_t>(request_.prompt.size());
  const std::array boundary{n_layers_};
  if (layer != nullptr) begin_states(*layer);
  for (std::int32_t done = request_.cached_tokens; done < length;) {
    const std::int32_t count = std::min(backend_.max_rows(), length - done);
    rows_.clear();
    for (std::int32_t i = done; i < done + count; ++i)
      rows_.push_back({.token = request_.prompt[static_cast<std::size_t>(i)], .hidden = -1, .position = i});
    Wanted wanted = done + count == length ? head_wanted(count - 1) : Wanted{};
    if (layer != nullptr) wanted.hidden_after = boundary;
    DRAFTSCOPE_TRY(backend_.forward(chain(done, {0, n_layers_}, wanted), outputs_));
    done += count;
    if (layer == nullptr) continue;
    layer->states.insert(layer->states.end(), outputs_.hidden.begin(), outputs_.hidden.end());
    DRAFTSCOPE_TRY(drafter.read_states(*layer, request_.prompt));
  }
  if (repetition_.is_on()) penalise({}, {}, request_.prompt);
  if (!has_distribution(outputs_.top[0])) return tl::unexpected(non_finite(backend_, {request_.prompt}));
  if (request_.sampling.greedy()) return outputs_.top[0].token;
  warp(outputs_.logits, request_.sampling, distribution_);
  return request_.sampling.coupled ? coupled_token(distribution_, *chooser_.counter_key(), length)
                                   : draw_token(distribution_, {DrawPurpose::target, length}, chooser_);
}

Result<void> Target::verify(const RoundPlan& plan, const Drafter& drafter,
                            std::span<const std::int32_t> text) {
  top_ = std::max(plan.top, 1);
  went_above_ = !drafter.nodes().empty() && plan.verification == Verification::above_exit;
  if (went_above_)
    DRAFTSCOPE_TRY(verify_above(plan, drafter, static_cast<std::int32_t>(text.size()) - 1));
  else
    DRAFTSCOPE_TRY(verify_all(plan, drafter, text));
  if (repetition_.is_on()) penalise(drafter.nodes(), plan.extra_rows, text);
  best_.clear();
  if (top_ > 1)
    for (std::size_t i = 0; i < outputs_.top.size(); i += static_cast<std::size_t>(top_))
      best_.push_back(outputs_.top[i]);
  return {};
}

/// Penalises the logits of one row of the outputs, and its best tokens.
void Target::penalise(std::size_t row) {
  const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
  repetition_.apply(
      std::span(outputs_.logits).subspan(row * vocab, vocab),
      std::span(outputs_.top).subspan(row * static_cast<std::size_t>(top_), static_cast<std::size_t>(top_)));
}

/// Penalises every row by the text and by the tokens on the path to the row: the ancestors of a draft token,
/// the rows that an extra row sees.
void Target::penalise(std::span<const DraftNode> nodes, std::span<const ExtraRow> extra_rows,
                      std::span<const std::int32_t> text) {
  repetition_.follow(text);
  penalise(0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (auto at = static_cast<std::int32_t>(i); at >= 0; at = nodes[static_cast<std::size_t>(at)].parent)
      repetition_.push(nodes[static_cast<std::size_t>(at)].token);
    penalise(i + 1);
    for (std::int32_t depth = 0; depth < nodes[i].depth; ++depth) repetition_.pop();
  }
  for (std::size_t i = 0; i < extra_rows.size(); ++i) {
    repetition_.push(extra_rows[i].token);
    for (const std::int32_t seen : extra_rows[i].sees)
      repetition_.push(extra_rows[static_cast<std::size_t>(seen)].token);
    penalise(nodes.size() + 1 + i);
    for (std::size_t popped = 0; popped <= extra_rows[i].sees.size(); ++popped) repetition_.pop();
  }
}

Result<void> Target::verify_all(const RoundPlan& plan, const Drafter& drafter,
                                std::span<const std::int32_t> text) {
  const std::vector<DraftNode>& nodes = drafter.nodes();
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  rows_.assign(1, {.token = text.back(), .hidden = -1, .position = root_position});
  for (const DraftNode& node : nodes)
    rows_.push_back({.token = node.token, .hidden = -1, .position = root_position + node.depth});
  for (const ExtraRow& extra_row : plan.extra_rows)
    rows_.push_back({.token = extra_row.token, .hidden = -1, .position = root_position + extra_row.offset});
  Wanted wanted = head_wanted(0);
  wanted.hidden_after = plan.states;
  Batch batch = chain(root_position, {0, n_layers_}, wanted);
  if (!drafter.is_chain() || !plan.extra_rows.empty()) {
    list_ancestors(nodes, plan.extra_rows, ancestors_);
    batch.ancestors = ancestors_;
  }
  return forward(batch);
}

/// Runs a batch. One that is wider than a batch-invariant pass is run pass by pass, since rows attend only to
/// earlier ones.
Result<void> Target::forward(const Batch& whole) {
  const auto width = static_cast<std::size_t>(backend_.max_invariant_rows());
  const std::size_t n = whole.rows.size();
  if (n <= width) return backend_.forward(whole, outputs_);
  outputs_.top.clear();
  outputs_.logits.clear();
  const auto d_model = static_cast<std::size_t>(backend_.shape().d_model);
  outputs_.hidden.resize(whole.wanted.hidden_after.size() * n * d_model);
  for (std::size_t done = 0; done < n; done += width) {
    const std::size_t count = std::min(width, n - done);
    DRAFTSCOPE_TRY(backend_.forward(part(whole, done, count), part_outputs_));
    outputs_.top.insert(outputs_.top.end(), part_outputs_.top.begin(), part_outputs_.top.end());
    outputs_.logits.insert(outputs_.logits.end(), part_outputs_.logits.begin(), part_outputs_.logits.end());
    for (std::size_t i = 0; i < whole.wanted.hidden_after.size(); ++i)
      std::copy_n(part_outputs_.hidden.begin() + static_cast<std::ptrdiff_t>(i * count * d_model),
                  count * d_model,
                  outputs_.hidden.begin() + static_cast<std::ptrdiff_t>((i * n + done) * d_model));
  }
  return {};
}

/// Rows [done, done + count) of a batch whose earlier rows have been computed.
Batch Target::part(const Batch& whole, std::size_t done, std::size_t count) {
  constexpr std::size_t bits = 64;
  const auto d_model = static_cast<std::size_t>(backend_.shape().d_model);
  Batch part = whole;
  part_rows_.assign(whole.rows.begin() + static_cast<std::ptrdiff_t>(done),
                    whole.rows.begin() + static_cast<std::ptrdiff_t>(done + count));
  for (std::size_t i = 0; i < count; ++i)
    if (part_rows_[i].token < 0) part_rows_[i].hidden = static_cast<std::int32_t>(i);
  part.rows = part_rows_;
  if (!whole.hidden.empty()) part.hidden = whole.hidden.subspan(done * d_model, count * d_model);
  part.first_row = whole.first_row + static_cast<std::int32_t>(done);
  if (whole.ancestors.empty()) {
    part.committed = part.first_row;
    return part;
  }
  const std::size_t words = (whole.rows.size() + bits - 1) / bits;
  const std::size_t part_words = (done + count + bits - 1) / bits;
  part_ancestors_.clear();
  for (std::size_t row = done; row < done + count; ++row) {
    const auto of_row = whole.ancestors.subspan(row * words, part_words);
    part_ancestors_.insert(part_ancestors_.end(), of_row.begin(), of_row.end());
  }
  part.ancestors = part_ancestors_;
  return part;
}

Result<void> Target::verify_above(const RoundPlan& plan, const Drafter& drafter, std::int32_t root_position) {
  // Every row but the last went through the layers below the exit during drafting, with the target's weights.
  const auto last = static_cast<std::int32_t>(drafter.nodes().size());
  const std::int32_t exit = plan.mask->exit_layer();
  rows_.assign(1, {.token = drafter.nodes().back().token, .hidden = -1, .position = root_position + last});
  Wanted below;
  below.hidden_after = drafter.boundaries();
  DRAFTSCOPE_TRY(backend_.forward(chain(root_position + last, {0, exit}, below), outputs_));
  gather_states(drafter);
  rows_.clear();
  for (std::int32_t k = 0; k <= last; ++k)
    rows_.push_back({.token = -1, .hidden = k, .position = root_position + k});
  const auto wanted_below = static_cast<std::size_t>(
      std::count_if(plan.states.begin(), plan.states.end(), [&](std::int32_t b) { return b <= exit; }));
  Wanted wanted = head_wanted(0);
  wanted.hidden_after = plan.states.subspan(wanted_below);
  Batch above = chain(root_position, {exit, n_layers_}, wanted);
  const std::size_t of_boundary = rows_.size() * static_cast<std::size_t>(backend_.shape().d_model);
  above.hidden = std::span(below_).last(of_boundary);
  DRAFTSCOPE_TRY(forward(above));
  if (plan.states.empty()) return {};
  states_.assign(below_.begin(), below_.begin() + static_cast<std::ptrdiff_t>(wanted_below * of_boundary));
  states_.insert(states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());
  return {};
}

/// Gathers the states of root and draft tokens at the draft's boundaries, from its steps and from the last
/// token's pass in outputs_: [boundaries][rows][d_model].
void Target::gather_states(const Drafter& drafter) {
  const auto d_model = static_cast<std::size_t>(backend_.shape().d_model);
  const std::size_t boundaries = drafter.boundaries().size();
  const std::size_t steps = drafter.nodes().size();
  below_.clear();
  for (std::size_t boundary = 0; boundary < boundaries; ++boundary) {
    for (std::size_t step = 0; step < steps; ++step) {
      const auto kept = drafter.states().subspan((step * boundaries + boundary) * d_model, d_model);
      below_.insert(below_.end(), kept.begin(), kept.end());
    }
    const auto of_last = std::span<const float>(outputs_.hidden).subspan(boundary * d_model, d_model);
    below_.insert(below_.end(), of_last.begin(), of_last.end());
  }
}

void Target::judge(const Drafter& drafter, Acceptance acceptance, std::int32_t root_position,
                   Verdict& verdict) {
  const std::vector<DraftNode>& nodes = drafter.nodes();
  if (request_.sampling.greedy()) return judge_greedily(nodes, best(), verdict);
  const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
  const TargetAt target_at = [&](std::int32_t row) -> const Distribution& {
    warp(std::span(outputs_.logits).subspan(static_cast<std::size_t>(row) * vocab, vocab), request_.sampling,
         distribution_);
    return distribution_;
  };
  if (request_.sampling.coupled)
    return judge_coupled(nodes, target_at, root_position, *chooser_.counter_key(), verdict);
  // Guesses gain nothing from being judged jointly.
  if (acceptance == Acceptance::by_block && !drafter.distributions().empty())
    return judge_.judge_block({nodes, drafter.distributions(), {}}, target_at, root_position, chooser_,
                              verdict);
  judge_.judge({nodes, drafter.distributions(), drafter.drawn_from()}, target_at, root_position, chooser_,
               verdict);
}

Wanted Target::head_wanted(std::int32_t from) const {
  return {.hidden_after = {},
          .head_from = from,
          .head = true,
          .logits = !request_.sampling.greedy() || repetition_.is_on(),
          .top_k = top_};
}

Batch Target::chain(std::int32_t first_row, LayerRange layers, const Wanted& wanted) const {
  return {.rows = rows_,
          .hidden = {},
          .committed = first_row,
          .first_row = first_row,
          .ancestors = {},
          .mask = nullptr,
          .layers = layers,
          .wanted = wanted};
}

}  // namespace draftscope::engine
