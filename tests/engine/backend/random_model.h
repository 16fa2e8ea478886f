// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small models with random weights, of any shape and type, and random batches for them.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/model_families.h>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace draftscope::engine::test {

using Random = std::mt19937_64;

/// Uniform in [low, high].
std::int32_t pick(Random& random, std::int32_t low, std::int32_t high);
bool chance(Random& random, double probability);

/// A shape with every width different; even head_dim from 2 up, GQA groups of 1 to 5.
speculation::ModelShape random_shape(Random& random);

/// The shape with a family's traits. Windows and caps are so small that they take effect in a small model.
speculation::ModelShape of_family(speculation::ModelShape shape, const speculation::ModelFamily& family,
                                  Random& random);

/// Scales the weights so that activations stay near 1. Biases and norms exist if the shape has them.
Checkpoint random_checkpoint(const speculation::ModelShape& shape, DType dtype, std::uint64_t seed);

/// A batch that owns its arrays.
struct OwnedBatch {
  std::vector<Row> rows;
  std::vector<float> hidden;
  std::vector<std::uint64_t> ancestors;
  std::vector<std::int32_t> hidden_after;
  std::int32_t committed = 0;
  std::int32_t first_row = 0;
  LayerRange layers;
  Wanted wanted;
  std::optional<speculation::SublayerMask> mask;
  [[nodiscard]] Batch view() const;
};

/// Runs a batch, or throws with the backend's error.
[[nodiscard]] Outputs outputs_of(Backend& backend, const Batch& batch);

/// `n` tokens at positions and cache rows first, first + 1, …, over all layers, with head and logits for
/// every row.
OwnedBatch chain(const speculation::ModelShape& shape, Random& random, std::int32_t n, std::int32_t first);

/// A tree in which each row's parent is a random earlier row or the committed context. Positions follow the
/// depth.
OwnedBatch tree(const speculation::ModelShape& shape, Random& random, std::int32_t n, std::int32_t committed);

speculation::SublayerMask random_mask(Random& random, std::int32_t n_layers, double skipped);

}  // namespace draftscope::engine::test
