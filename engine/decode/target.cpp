// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/target.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "decode/visibility.h"

namespace draftscope::engine {

Target::Target(Backend& backend, const DecodeRequest& request, Chooser& chooser)
    : backend_(backend), request_(request), chooser_(chooser), n_layers_(backend.shape().n_layers) {
  rows_.reserve(static_cast<std::size_t>(backend.max_invariant_rows()));
}

Result<std::int32_t> Target::prefill() {
  const auto length = static_cast<std::int32_t>(request_.prompt.size());
  for (std::int32_t done = 0; done < length;) {
    const std::int32_t count = std::min(backend_.max_rows(), length - done);
    rows_.clear();
    for (std::int32_t i = done; i < done + count; ++i)
      rows_.push_back({.token = request_.prompt[static_cast<std::size_t>(i)], .hidden = -1, .position = i});
    const Wanted wanted = done + count == length ? head_wanted(count - 1) : Wanted{};
    DRAFTSCOPE_TRY(backend_.forward(chain(done, {0, n_layers_}, wanted), outputs_));
    done += count;
  }
  if (request_.sampling.greedy()) return outputs_.top[0].token;
  warp(outputs_.logits, request_.sampling, distribution_);
  return request_.sampling.coupled ? coupled_token(distribution_, *chooser_.counter_key(), length)
                                   : draw_token(distribution_, {DrawPurpose::target, length}, chooser_);
}

Result<void> Target::verify(const RoundPlan& plan, const Drafter& drafter,
                            std::span<const std::int32_t> text) {
  const std::vector<DraftNode>& nodes = drafter.nodes();
  const auto root_position = static_cast<std::int32_t>(text.size()) - 1;
  if (!nodes.empty() && plan.verification == Verification::above_exit)
    return verify_above(plan.mask->exit_layer(), drafter, root_position);
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
  return backend_.forward(batch, outputs_);
}

Result<void> Target::verify_above(std::int32_t exit, const Drafter& drafter, std::int32_t root_position) {
  // Every row but the last went through the layers below the exit while drafting, with the target's weights.
  const auto last = static_cast<std::int32_t>(drafter.nodes().size());
  const std::array<std::int32_t, 1> boundary{exit};
  rows_.assign(1, {.token = drafter.nodes().back().token, .hidden = -1, .position = root_position + last});
  Wanted states;
  states.hidden_after = boundary;
  DRAFTSCOPE_TRY(backend_.forward(chain(root_position + last, {0, exit}, states), outputs_));
  exit_states_ = drafter.exit_states();
  exit_states_.insert(exit_states_.end(), outputs_.hidden.begin(), outputs_.hidden.end());
  rows_.clear();
  for (std::int32_t k = 0; k <= last; ++k)
    rows_.push_back({.token = -1, .hidden = k, .position = root_position + k});
  Batch above = chain(root_position, {exit, n_layers_}, head_wanted(0));
  above.hidden = exit_states_;
  return backend_.forward(above, outputs_);
}

void Target::judge(const Drafter& drafter, std::int32_t root_position, Verdict& verdict) {
  const std::vector<DraftNode>& nodes = drafter.nodes();
  if (request_.sampling.greedy()) return judge_greedily(nodes, outputs_.top, verdict);
  const auto vocab = static_cast<std::size_t>(backend_.shape().vocab);
  const TargetAt target_at = [&](std::int32_t row) -> const Distribution& {
    warp(std::span(outputs_.logits).subspan(static_cast<std::size_t>(row) * vocab, vocab), request_.sampling,
         distribution_);
    return distribution_;
  };
  if (request_.sampling.coupled)
    return judge_coupled(nodes, target_at, root_position, *chooser_.counter_key(), verdict);
  judge_.judge({nodes, drafter.distributions()}, target_at, root_position, chooser_, verdict);
}

Wanted Target::head_wanted(std::int32_t from) const {
  return {
      .hidden_after = {}, .head_from = from, .head = true, .logits = !request_.sampling.greedy(), .top_k = 1};
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
