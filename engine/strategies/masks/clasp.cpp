// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/masks/clasp.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "strategies/masks/state_cosine.h"

namespace draftscope::engine {

/// kept_[j − 1] = f_layer(states_[j]) for the j of `states`, in one pass if there is room for all of them.
Result<void> ClaspSearch::apply_layer(std::int32_t layer, States states, std::int32_t position,
                                      Probe& probe) {
  const std::size_t d_model = to_size(probe.shape().d_model);
  const std::array<std::int32_t, 1> after{layer + 1};
  for (std::int32_t first = states.first; first <= states.last;) {
    const std::int32_t rows = std::min(states.last - first + 1, probe.room());
    if (rows < 1) return fail("clasp: no room for a pass beside the text, expected at least one cache row");
    rows_.clear();
    for (std::int32_t i = 0; i < rows; ++i) rows_.push_back({.token = -1, .hidden = i, .position = position});
    const std::span<const float> inputs(states_.data() + to_size(first) * d_model, to_size(rows) * d_model);
    DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                              .hidden = inputs,
                              .context = position,
                              .chain = false,
                              .layers = {layer, layer + 1},
                              .wanted = {.hidden_after = after}},
                             outputs_));
    std::copy(outputs_.hidden.begin(), outputs_.hidden.end(),
              kept_.begin() + static_cast<std::ptrdiff_t>(to_size(first - 1) * d_model));
    first += rows;
  }
  return {};
}

Result<std::span<const std::int32_t>> ClaspSearch::run(const Anchor& anchor, std::int32_t skip,
                                                       Probe& probe) {
  const std::int32_t n_layers = probe.shape().n_layers;
  const std::size_t d_model = to_size(probe.shape().d_model);
  const auto target = [&](std::int32_t boundary) {
    return anchor.states.subspan(to_size(boundary) * d_model, d_model);
  };
  const auto state = [&](std::vector<float>& states, std::int32_t j) {
    return std::span<float>(states).subspan(to_size(j) * d_model, d_model);
  };
  states_.resize(to_size(skip + 1) * d_model);
  next_.resize(states_.size());
  kept_.resize(to_size(std::max(skip, 1)) * d_model);
  skips_.assign(to_size(n_layers + 1) * to_size(skip + 1), 0);
  std::copy_n(target(0).begin(), d_model, states_.begin());
  for (std::int32_t i = 1; i <= n_layers; ++i) {
    // Only j from which `skip` can still be reached by skipping all that follows; up to `both`, layer i − 1
    // may be kept or skipped.
    const std::int32_t least = std::max(1, skip - (n_layers - i));
    const std::int32_t both = std::min(i - 1, skip);
    DRAFTSCOPE_TRY(apply_layer(i - 1, {least, both}, anchor.position, probe));
    std::copy_n(target(i).begin(), d_model, state(next_, 0).begin());
    for (std::int32_t j = least; j <= std::min(i, skip); ++j) {
      const auto skipped = state(states_, j - 1);
      bool skips = true;
      if (j <= both) {
        const auto kept = state(kept_, j - 1);
        skips = !(state_cosine(kept, target(i)) > state_cosine(skipped, target(i)));
        if (!skips) std::copy_n(kept.begin(), d_model, state(next_, j).begin());
      }
      if (skips) std::copy_n(skipped.begin(), d_model, state(next_, j).begin());
      skips_[to_size(i) * to_size(skip + 1) + to_size(j)] = skips ? 1 : 0;
    }
    states_.swap(next_);
  }
  similarity_ = state_cosine(state(states_, skip), target(n_layers));
  layers_.clear();
  std::int32_t j = skip;
  for (std::int32_t i = n_layers; i > 0 && j > 0; --i)
    if (skips_[to_size(i) * to_size(skip + 1) + to_size(j)] != 0) {
      layers_.push_back(i - 1);
      --j;
    }
  std::reverse(layers_.begin(), layers_.end());
  return std::span<const std::int32_t>(layers_);
}

ClaspMask::ClaspMask(const Options& options)
    : options_(options),
      everything_(options.n_layers),
      mask_(everything_),
      boundaries_(to_size(options.n_layers + 1)) {
  std::iota(boundaries_.begin(), boundaries_.end(), 0);
}

void ClaspMask::begin_request(const RequestView& /*request*/) {
  anchor_position_ = -1;
  // Right after the prefill; carried on, also if the last request ended where a search was due.
  due_ = due_ || !options_.carries || !has_searched_;
  if (due_) since_ = 0;
}

std::span<const std::int32_t> ClaspMask::states() const {
  if (since_ + 1 < options_.interval) return {};
  return boundaries_;
}

void ClaspMask::observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* /*log*/) {
  since_ += options_.counts_tokens ? static_cast<std::int32_t>(outcome.emitted.size()) : 1;
  if (outcome.states.empty()) return;
  since_ = 0;
  due_ = true;
  // The last token that the target processed and kept.
  const std::size_t row =
      outcome.accepted_nodes.empty() ? 0 : static_cast<std::size_t>(outcome.accepted_nodes.back()) + 1;
  const std::size_t rows = outcome.nodes.size() + 1;
  const std::size_t d_model = outcome.states.size() / (boundaries_.size() * rows);
  anchor_.resize(boundaries_.size() * d_model);
  for (std::size_t boundary = 0; boundary < boundaries_.size(); ++boundary)
    std::copy_n(outcome.states.begin() + static_cast<std::ptrdiff_t>((boundary * rows + row) * d_model),
                d_model, anchor_.begin() + static_cast<std::ptrdiff_t>(boundary * d_model));
  anchor_position_ = round.root_position + outcome.accepted();
}

Result<void> ClaspMask::read_prompts_last_token(const RoundView& view, Probe& probe) {
  anchor_position_ = probe.committed() - 1;
  rows_.assign(1,
               {.token = view.text[to_size(anchor_position_)], .hidden = -1, .position = anchor_position_});
  DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                            .context = anchor_position_,
                            .layers = {0, options_.n_layers},
                            .wanted = {.hidden_after = boundaries_}},
                           outputs_));
  anchor_.assign(outputs_.hidden.begin(), outputs_.hidden.end());
  return {};
}

Result<void> ClaspMask::optimise(const RoundView& view, Probe& probe, DecisionLog* log) {
  due_ = false;
  if (probe.room() < 1) return {};
  has_searched_ = true;
  const std::int64_t start_ns = now_ns();
  if (anchor_position_ < 0) DRAFTSCOPE_TRY(read_prompts_last_token(view, probe));
  DRAFTSCOPE_TRY_ASSIGN(const std::span<const std::int32_t> layers,
                        search_.run({anchor_position_, anchor_}, options_.skip, probe));
  mask_ = everything_;
  for (const std::int32_t layer : layers) mask_.skip_attention(layer).skip_mlp(layer);
  if (log == nullptr) return {};
  log->add({.kind = "layer set",
            .score = search_.similarity(),
            .has_score = true,
            .start_ns = start_ns,
            .end_ns = now_ns(),
            .detail = [&] {
              return fmt::format(R"({{"skipped":[{}],"anchor_position":{},"cosine":{}}})",
                                 fmt::join(layers, ","), anchor_position_, search_.similarity());
            }});
  return {};
}

}  // namespace draftscope::engine
