// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/clasp/engine.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "strategies/engine.h"

namespace draftscope::engine {

/// Reserves bank numbers for all states, including the anchor's and g(0, 0).
Result<void> ClaspSearch::begin(const Anchor& anchor, std::int32_t skip, Probe& probe) {
  StateBank& bank = probe.states();
  const std::int32_t boundaries = probe.shape().n_layers + 1;
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t first, bank.reserve(boundaries + 2 * (skip + 1) + skip));
  states_ = first + boundaries;
  next_ = states_ + skip + 1;
  kept_ = next_ + skip + 1;
  target_.clear();
  for (std::int32_t boundary = 0; boundary < boundaries; ++boundary)
    target_.push_back(anchor.states.empty() ? bank.of_round(boundary, anchor.row) : first + boundary);
  if (!anchor.states.empty()) DRAFTSCOPE_TRY(bank.put(first, anchor.states));
  return bank.move(std::array{StateMove{target_.front(), states_}});
}

/// Computes kept_ + j − 1 = f_layer(states_ + j) for the j of `states`, in one pass if there is room for all.
Result<void> ClaspSearch::apply_layer(std::int32_t layer, States states, std::int32_t position,
                                      Probe& probe) {
  const std::array<std::int32_t, 1> after{layer + 1};
  for (std::int32_t first = states.first; first <= states.last;) {
    const std::int32_t rows = std::min(states.last - first + 1, probe.room());
    if (rows < 1) return fail("clasp: no room for a pass beside the text, expected at least one cache row");
    rows_.clear();
    for (std::int32_t i = 0; i < rows; ++i)
      rows_.push_back({.token = -1, .hidden = states_ + first + i, .position = position});
    DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                              .reads_kept = true,
                              .context = position,
                              .chain = false,
                              .layers = {layer, layer + 1},
                              .wanted = {.hidden_after = after, .keep_at = kept_ + first - 1}},
                             outputs_));
    first += rows;
  }
  return {};
}

Result<void> ClaspSearch::choose(std::int32_t i, States applied, std::int32_t skip, StateBank& bank) {
  const std::int32_t target = target_[to_size(i)];
  const std::int32_t last = std::min(i, skip);
  pairs_.clear();
  for (std::int32_t j = applied.first; j <= last; ++j) pairs_.push_back({states_ + j - 1, target});
  for (std::int32_t j = applied.first; j <= applied.last; ++j) pairs_.push_back({kept_ + j - 1, target});
  DRAFTSCOPE_TRY(bank.compare(pairs_, cosines_));
  moves_.assign(1, {target, next_});
  for (std::int32_t j = applied.first; j <= last; ++j) {
    const std::size_t skipped = to_size(j - applied.first);
    const std::size_t kept = to_size(last - applied.first + 1) + skipped;
    const bool skips = j > applied.last || !(cosines_[kept] > cosines_[skipped]);
    moves_.push_back({(skips ? states_ : kept_) + j - 1, next_ + j});
    skips_[to_size(i) * to_size(skip + 1) + to_size(j)] = skips ? 1 : 0;
  }
  std::swap(states_, next_);
  return bank.move(moves_);
}

Result<std::span<const std::int32_t>> ClaspSearch::run(const Anchor& anchor, std::int32_t skip,
                                                       Probe& probe) {
  const std::int32_t n_layers = probe.shape().n_layers;
  skips_.assign(to_size(n_layers + 1) * to_size(skip + 1), 0);
  DRAFTSCOPE_TRY(begin(anchor, skip, probe));
  for (std::int32_t i = 1; i <= n_layers; ++i) {
    // Only j from which skipping all later layers can still reach `skip` are computed; up to min(i − 1,
    // skip), layer i − 1 may be kept or skipped.
    const States applied{std::max(1, skip - (n_layers - i)), std::min(i - 1, skip)};
    DRAFTSCOPE_TRY(apply_layer(i - 1, applied, anchor.position, probe));
    DRAFTSCOPE_TRY(choose(i, applied, skip, probe.states()));
  }
  DRAFTSCOPE_TRY(probe.states().compare(std::array{StatePair{states_ + skip, target_.back()}}, cosines_));
  similarity_ = cosines_.front();
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
  // A search is due right after the prefill. If the set is carried on, it is also due if the last request
  // ended where one was due.
  due_ = due_ || !options_.carries || !has_searched_;
  if (due_) since_ = 0;
}

std::span<const std::int32_t> ClaspMask::states() const {
  if (since_ + 1 < options_.interval) return {};
  return boundaries_;
}

void ClaspMask::observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* /*log*/) {
  const bool has_states = !states().empty();
  since_ += options_.counts_tokens ? static_cast<std::int32_t>(outcome.emitted.size()) : 1;
  if (!has_states) return;
  since_ = 0;
  due_ = true;
  // The last token that the target processed and kept is the anchor.
  const std::size_t row =
      outcome.accepted_nodes.empty() ? 0 : static_cast<std::size_t>(outcome.accepted_nodes.back()) + 1;
  anchor_row_ = static_cast<std::int32_t>(row);
  anchor_position_ = round.root_position + outcome.accepted();
  anchor_.clear();
  if (outcome.states.empty()) return;
  const std::size_t rows = outcome.nodes.size() + 1;
  const std::size_t d_model = outcome.states.size() / (boundaries_.size() * rows);
  anchor_.resize(boundaries_.size() * d_model);
  for (std::size_t boundary = 0; boundary < boundaries_.size(); ++boundary)
    std::copy_n(outcome.states.begin() + static_cast<std::ptrdiff_t>((boundary * rows + row) * d_model),
                d_model, anchor_.begin() + static_cast<std::ptrdiff_t>(boundary * d_model));
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
                        search_.run({anchor_position_, anchor_, anchor_row_}, options_.skip, probe));
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

namespace {

Result<void> add_clasp(const speculation::StrategySpecification& mix, const speculation::ModelShape& shape,
                       Parts& parts) {
  parts.mask = learn(
      parts, std::make_shared<ClaspMask>(ClaspMask::Options{.n_layers = shape.n_layers,
                                                            .skip = mix.integer("skip"),
                                                            .interval = mix.integer("interval"),
                                                            .counts_tokens = mix.text("unit") == "tokens",
                                                            .carries = mix.text("carry-set") == "yes"}));
  return {};
}

}  // namespace

StrategyMakers engine_of_clasp() {
  return {.parts = {{speculation::PartKind::mask, "clasp", add_clasp}}};
}

}  // namespace draftscope::engine
