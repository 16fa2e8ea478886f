// SPDX-License-Identifier: GPL-3.0-or-later
// ConfLayers' sets are compared with its rule on outputs that are computed anew, each sublayer's from the
// text.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "decoded.h"
#include "narrow_backend.h"
#include "small_model.h"
#include "strategies/conflayers/engine.h"

namespace draftscope::engine {
namespace {

using Layers = std::vector<std::int32_t>;

constexpr std::int32_t window = 6;

/// States of the last tokens before the root after layers [0, end), without the MLP of the last layer.
std::vector<float> states(Backend& backend, const std::vector<std::int32_t>& text, std::int32_t end,
                          bool without_last_mlp) {
  speculation::SublayerMask mask(backend.shape().n_layers);
  if (without_last_mlp) mask.skip_mlp(end - 1);
  const auto from = static_cast<std::int32_t>(text.size()) - 1 - window;
  std::vector<Row> rows;
  rows.reserve(window);
  for (std::int32_t position = from; position < from + window; ++position)
    rows.push_back({.token = text[static_cast<std::size_t>(position)], .position = position});
  const Layers after{end};
  Probe probe(backend, static_cast<std::int32_t>(text.size()) - 1);
  Outputs outputs;
  const auto done = probe.run(
      {.rows = rows, .context = from, .mask = &mask, .layers = {0, end}, .wanted = {.hidden_after = after}},
      outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs.hidden;
}

double mean_confidence(const std::vector<float>& before, const std::vector<float>& behind,
                       std::size_t width) {
  const std::size_t rows = before.size() / width;
  double sum = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> added(width);
    for (std::size_t i = 0; i < width; ++i) added[i] = behind[row * width + i] - before[row * width + i];
    sum += speculation::output_confidence(added);
  }
  return sum / static_cast<double>(rows);
}

Layers expected_layers(Backend& backend, const std::vector<std::int32_t>& text, double lambda) {
  const std::int32_t n_layers = backend.shape().n_layers;
  const auto width = static_cast<std::size_t>(backend.shape().d_model);
  std::vector<double> confidences;
  for (std::int32_t layer = 1; layer < n_layers - 1; ++layer) {
    const auto before = states(backend, text, layer, false);
    const auto between = states(backend, text, layer + 1, true);
    const auto behind = states(backend, text, layer + 1, false);
    confidences.push_back(mean_confidence(before, between, width) + mean_confidence(between, behind, width));
  }
  Layers layers = speculation::low_confidences(confidences, lambda, n_layers);
  for (std::int32_t& layer : layers) ++layer;
  return layers;
}

Layers left_out(const speculation::SublayerMask& mask) {
  Layers layers;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    EXPECT_EQ(mask.runs_attention(layer), mask.runs_mlp(layer));
    if (!mask.runs_attention(layer)) layers.push_back(layer);
  }
  return layers;
}

speculation::ConfidenceSearches::Options options_of(const Backend& backend) {
  return {.n_layers = backend.shape().n_layers, .ratio = 0.3, .window = window};
}

TEST(ConfLayers, LeavesOutLayersOfUnsureOutputs) {
  std::mt19937 random(29);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Checkpoint checkpoint = small_model(
        {.n_layers = 5 + static_cast<std::int32_t>(seed), .vocab = 40, .redundancy = 0.3, .seed = seed});
    const auto backend = cpu_backend(checkpoint, 1, 120);
    const auto text = random_tokens(random, 20, 40);
    (void)run_target(*backend, std::span(text).first(text.size() - 1), 0);
    NarrowBackend narrow(*backend, window);
    for (Backend* const at : {backend.get(), static_cast<Backend*>(&narrow)}) {
      ConfLayersMask mask(options_of(*backend));
      EXPECT_EQ(left_out(*mask.mask({})).front(), 1) << "begins with every second layer";
      Probe probe(*at, static_cast<std::int32_t>(text.size()) - 1);
      double lambda = 0.0;
      for (int search = 0; search < 3; ++search) {
        ASSERT_TRUE(mask.optimise({.text = text}, probe, nullptr));
        const Layers found = left_out(*mask.mask({}));
        ASSERT_EQ(found, expected_layers(*backend, text, lambda)) << "seed " << seed << " search " << search;
        const double share = static_cast<double>(found.size()) / (backend->shape().n_layers - 2);
        lambda += share > 0.3 + 0.25 ? 0.05 : share < 0.3 ? -0.05 : 0.0;
      }
    }
  }
}

TEST(ConfLayers, KeepsItsSetWithoutRoomForItsWindow) {
  const Checkpoint checkpoint = small_model({.n_layers = 7});
  const auto backend = cpu_backend(checkpoint, 1, 60);
  const auto text = std::vector<std::int32_t>(20, 3);
  (void)run_target(*backend, std::span(text).first(text.size() - 1), 0);
  NarrowBackend narrow(*backend, window - 1);
  ConfLayersMask mask(options_of(*backend));
  const Layers before = left_out(*mask.mask({}));
  Probe probe(narrow, static_cast<std::int32_t>(text.size()) - 1);
  ASSERT_TRUE(mask.optimise({.text = text}, probe, nullptr));
  EXPECT_EQ(left_out(*mask.mask({})), before);
}

TEST(ConfLayers, LeavesASearchThatWasDueAfterTheLastRoundOfARequest) {
  const Checkpoint checkpoint = small_model({.n_layers = 7});
  const auto backend = cpu_backend(checkpoint, 1, 60);
  ConfLayersMask mask(options_of(*backend));
  mask.begin_request({});
  const std::vector<std::int32_t> emitted(window + 1, 3);
  mask.observe({}, {.emitted = emitted}, nullptr);
  ASSERT_TRUE(mask.wants_to_optimise());
  mask.begin_request({});
  EXPECT_FALSE(mask.wants_to_optimise()) << "a prompt may be shorter than the window";
}

TEST(ConfLayers, SearchesWhenItsScheduleSaysSo) {
  std::mt19937 random(7);
  const Checkpoint checkpoint = small_model({.n_layers = 8, .redundancy = 0.9});
  const auto backend = cpu_backend(checkpoint, 1, 220);
  const auto prompt = random_tokens(random, 12, 40);
  struct Searches final : DecodeListener, DecisionLog {
    DecisionLog* decisions() override { return this; }
    void add(const Decision& decision) override { found += decision.kind == "layer set" ? 1 : 0; }
    void on_round(const RoundReport& report) override {
      searched += report.round.optimise_ns > 0 ? 1 : 0;
      const bool is_due = schedule->follows({.emitted = report.round.emitted,
                                             .accepted = report.round.accepted,
                                             .steps = report.round.tree_depth},
                                            last);
      if (is_due) due += 1;
      if (is_due) schedule->found(8);
    }
    speculation::ConfidenceSearches* schedule = nullptr;
    std::int32_t last = 8;
    int found = 0;
    int searched = 0;
    int due = 0;
  } listener;
  // The ratio asks for so few layers that every set has enough.
  speculation::ConfidenceSearches schedule({.n_layers = 8, .ratio = 0.0, .window = window, .interval = 4});
  schedule.begin_request();
  listener.schedule = &schedule;
  expect_decoded(*backend, "conflayers:ratio=0,window=6,interval=4,gamma=4",
                 {.prompt = prompt, .max_new_tokens = 150}, listener);
  EXPECT_GT(listener.searched, 2);
  EXPECT_EQ(listener.found, listener.searched);
  EXPECT_NEAR(listener.due, listener.searched, 1) << "after the last round there is nothing to search for";
}

}  // namespace
}  // namespace draftscope::engine
