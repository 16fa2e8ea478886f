// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A next-token layer for models that have none: a model's own first layer on the embedding of the token, to
// which the state adds a little. It is right about as often as an early exit after one layer.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/strategy.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace draftscope::engine::test {

[[nodiscard]] inline Checkpoint next_token_layer_of(const Checkpoint& model) {
  struct Storage {
    std::shared_ptr<const void> model;
    std::vector<float> ones, projection;
  };
  const auto d_model = static_cast<std::size_t>(model.shape.d_model);
  const auto storage = std::make_shared<Storage>(
      Storage{model.storage, std::vector<float>(d_model, 1.0F), std::vector<float>(2 * d_model * d_model)});
  for (std::size_t i = 0; i < d_model; ++i) {
    storage->projection[2 * d_model * i + (i + 1) % d_model] = 0.2F;
    storage->projection[2 * d_model * i + d_model + i] = 1.0F;
  }
  const auto view = [](const std::vector<float>& values, std::int64_t rows) {
    return TensorView{reinterpret_cast<const std::byte*>(values.data()), DType::f32, rows,
                      static_cast<std::int64_t>(values.size()) / rows};
  };
  Checkpoint layer = model;
  layer.shape.n_layers = 1;
  layer.weights.layers.resize(1);
  layer.weights.join = JoinWeights{view(storage->ones, 1), view(storage->ones, 1),
                                   view(storage->projection, model.shape.d_model)};
  layer.storage = storage;
  return layer;
}

using MakeBackend = std::function<std::unique_ptr<Backend>(const Checkpoint&)>;

/// Resources with the next-token layer of a model, on a backend made by `make_backend`.
[[nodiscard]] inline StrategyResources with_next_token_layer(const Checkpoint& model,
                                                             const MakeBackend& make_backend,
                                                             StrategyResources others = {}) {
  const auto layer = std::make_shared<const Checkpoint>(next_token_layer_of(model));
  auto join = StateJoin::make(model, *layer);
  const OpenedDraftModel opened{std::shared_ptr<Backend>(make_backend(*layer)), nullptr,
                                std::make_shared<const StateJoin>(std::move(join).value())};
  // The layer must outlive its backend.
  others.open_next_token_layer = [opened, layer]() -> Result<OpenedDraftModel> { return opened; };
  return others;
}

}  // namespace draftscope::engine::test
