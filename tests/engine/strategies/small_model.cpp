// SPDX-License-Identifier: GPL-3.0-or-later
#include "small_model.h"

#include <gtest/gtest.h>

#include <numeric>

namespace draftscope::engine {

Checkpoint small_model(const SmallModel& options) {
  speculation::ModelShape shape;
  shape.name = "small";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = options.n_layers;
  shape.n_heads = 4;
  shape.n_kv_heads = 2;
  shape.head_dim = 8;
  shape.d_model = 32;
  shape.d_ff = 48;
  shape.vocab = options.vocab;
  shape.max_positions = 512;
  auto checkpoint = make_synthetic(shape, options.redundancy, options.seed);
  EXPECT_TRUE(checkpoint) << checkpoint.error().message;
  return std::move(checkpoint).value();
}

std::vector<std::int32_t> all_boundaries(const speculation::ModelShape& shape) {
  std::vector<std::int32_t> boundaries(static_cast<std::size_t>(shape.n_layers) + 1);
  std::iota(boundaries.begin(), boundaries.end(), 0);
  return boundaries;
}

std::span<const float> TargetRows::state(std::int32_t boundary, std::int32_t row) const {
  const auto width = static_cast<std::size_t>(d_model);
  return std::span(outputs.hidden)
      .subspan((static_cast<std::size_t>(boundary) * static_cast<std::size_t>(rows) +
                static_cast<std::size_t>(row)) *
                   width,
               width);
}

TargetRows run_target(Backend& backend, std::span<const std::int32_t> tokens, std::int32_t first) {
  TargetRows result;
  result.rows = static_cast<std::int32_t>(tokens.size());
  result.d_model = backend.shape().d_model;
  EXPECT_LE(result.rows, backend.max_invariant_rows());
  const std::vector<std::int32_t> boundaries = all_boundaries(backend.shape());
  std::vector<Row> rows;
  for (std::int32_t i = 0; i < result.rows; ++i)
    rows.push_back({.token = tokens[static_cast<std::size_t>(i)], .hidden = -1, .position = first + i});
  const auto done =
      backend.forward({.rows = rows,
                       .committed = first,
                       .first_row = first,
                       .layers = {0, backend.shape().n_layers},
                       .wanted = {.hidden_after = boundaries, .head = true, .logits = true, .top_k = 1}},
                      result.outputs);
  EXPECT_TRUE(done) << done.error().message;
  return result;
}

TopToken head_of(Backend& backend, std::span<const float> state) {
  const Row row{.token = -1, .hidden = 0, .position = 0};
  const std::int32_t end = backend.shape().n_layers;
  Outputs outputs;
  const auto done = backend.forward({.rows = std::span(&row, 1),
                                     .hidden = state,
                                     .layers = {end, end},
                                     .wanted = {.head = true, .top_k = 1}},
                                    outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs.top.at(0);
}

Outputs look_at_root(Backend& backend, std::span<const std::int32_t> text) {
  const auto position = static_cast<std::int32_t>(text.size()) - 1;
  const std::int32_t last_row = backend.cache_rows() - 1;
  const std::vector<std::int32_t> boundaries = all_boundaries(backend.shape());
  const std::vector<std::uint64_t> nothing_more(static_cast<std::size_t>(last_row - position) / 64 + 1, 0);
  const Row row{.token = text.back(), .hidden = -1, .position = position};
  Outputs outputs;
  const auto done =
      backend.forward({.rows = std::span(&row, 1),
                       .committed = position,
                       .first_row = last_row,
                       .ancestors = nothing_more,
                       .layers = {0, backend.shape().n_layers},
                       .wanted = {.hidden_after = boundaries, .head = true, .logits = true, .top_k = 1}},
                      outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs;
}

}  // namespace draftscope::engine
