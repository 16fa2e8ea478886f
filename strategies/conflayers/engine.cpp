// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/conflayers/engine.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "strategies/engine.h"
#include "strategies/engine_window.h"

namespace draftscope::engine {

ConfLayersMask::ConfLayersMask(const speculation::ConfidenceSearches::Options& options)
    : options_(options), searches_(options), mask_(options.n_layers) {
  for (std::int32_t layer = 1; layer < options.n_layers - 1; layer += 2) left_out_.push_back(layer);
  draft_without(left_out_);
}

void ConfLayersMask::draft_without(std::span<const std::int32_t> layers) {
  mask_ = speculation::SublayerMask(options_.n_layers);
  for (const std::int32_t layer : layers) mask_.skip_attention(layer).skip_mlp(layer);
}

void ConfLayersMask::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* /*log*/) {
  due_ = searches_.follows({.emitted = static_cast<std::int32_t>(outcome.emitted.size()),
                            .accepted = outcome.accepted(),
                            .steps = static_cast<std::int32_t>(outcome.steps.size())},
                           static_cast<std::int32_t>(left_out_.size()));
  if (searches_.is_best()) best_ = left_out_;
}

/// Sets states_ to the states after one sublayer, and added_ to the change by that sublayer.
Result<void> ConfLayersMask::run_sublayer(std::int32_t layer, bool is_attention, std::int32_t from,
                                          Probe& probe) {
  speculation::SublayerMask alone(options_.n_layers);
  if (is_attention)
    alone.skip_mlp(layer);
  else
    alone.skip_attention(layer);
  const std::array<std::int32_t, 1> after{layer + 1};
  rows_.clear();
  for (std::int32_t i = 0; i < options_.window; ++i)
    rows_.push_back({.token = -1, .hidden = i, .position = from + i});
  DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                            .hidden = states_,
                            .context = from,
                            .mask = &alone,
                            .layers = {layer, layer + 1},
                            .wanted = {.hidden_after = after}},
                           outputs_));
  added_.resize(states_.size());
  for (std::size_t i = 0; i < states_.size(); ++i) added_[i] = outputs_.hidden[i] - states_[i];
  states_ = outputs_.hidden;
  return {};
}

/// Computes means over the window, adding up attention and MLP.
Result<void> ConfLayersMask::read_confidences(std::span<const std::int32_t> text, std::int32_t from,
                                              Probe& probe) {
  const auto window = to_size(options_.window);
  const auto d_model = to_size(probe.shape().d_model);
  rows_.clear();
  for (std::int32_t i = 0; i < options_.window; ++i)
    rows_.push_back({.token = text[to_size(from + i)], .hidden = -1, .position = from + i});
  const std::array<std::int32_t, 1> after{1};
  DRAFTSCOPE_TRY(probe.run(
      {.rows = rows_, .context = from, .layers = {0, 1}, .wanted = {.hidden_after = after}}, outputs_));
  states_ = outputs_.hidden;
  confidences_.clear();
  for (std::int32_t layer = 1; layer < options_.n_layers - 1; ++layer) {
    double sum = 0.0;
    for (const bool is_attention : {true, false}) {
      DRAFTSCOPE_TRY(run_sublayer(layer, is_attention, from, probe));
      for (std::size_t i = 0; i < window; ++i)
        sum += speculation::output_confidence(std::span(added_).subspan(i * d_model, d_model));
    }
    confidences_.push_back(sum / static_cast<double>(window));
  }
  return {};
}

Result<void> ConfLayersMask::optimise(const RoundView& view, Probe& probe, DecisionLog* log) {
  due_ = false;
  const auto from = window_before_root(view, options_.window);
  if (!from || probe.room() < options_.window) return {};
  const std::int64_t start_ns = now_ns();
  DRAFTSCOPE_TRY(read_confidences(view.text, *from, probe));
  // Layers whose outputs are not finite have no confidence, so the set stays.
  if (std::all_of(confidences_.begin(), confidences_.end(), [](double c) { return std::isfinite(c); })) {
    left_out_ = speculation::low_confidences(confidences_, searches_.lambda(), options_.n_layers);
    for (std::int32_t& layer : left_out_) ++layer;
  }
  const double lambda = searches_.lambda();
  searches_.found(static_cast<std::int32_t>(left_out_.size()));
  if (searches_.has_ended() && !best_.empty()) left_out_ = best_;
  draft_without(left_out_);
  if (log == nullptr) return {};
  log->add({.kind = "layer set", .adopted = true, .start_ns = start_ns, .end_ns = now_ns(), .detail = [&] {
              return fmt::format(R"({{"skipped":[{}],"lambda":{:.4g},"searches":{},"stopped":{}}})",
                                 fmt::join(left_out_, ","), lambda, searches_.searches(),
                                 searches_.has_ended());
            }});
  return {};
}

namespace {

Result<void> add_conflayers(const speculation::StrategySpecification& mix,
                            const speculation::ModelShape& shape, Parts& parts) {
  parts.mask =
      learn(parts, std::make_shared<ConfLayersMask>(speculation::confidence_options(mix, shape.n_layers)));
  return {};
}

}  // namespace

StrategyMakers engine_of_conflayers() {
  return {.parts = {{speculation::PartKind::mask, "conflayers", add_conflayers}}};
}

}  // namespace draftscope::engine
