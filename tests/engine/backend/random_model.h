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

/// The shape with a family's traits, of such numbers that each shows in a small model: windows and caps are
/// met.
speculation::ModelShape of_family(speculation::ModelShape shape, const speculation::ModelFamily& family,
                                  Random& random);

/// Weights of such a size that activations stay near 1. Biases and norms are there if the shape asks for
/// them.
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

/// `n` tokens at positions and cache rows first, first + 1, …, over all layers; head and logits for every
/// row.
OwnedBatch chain(const speculation::ModelShape& shape, Random& random, std::int32_t n, std::int32_t first);

/// Each row's parent is a random earlier row or the committed context; positions follow the depth.
OwnedBatch tree(const speculation::ModelShape& shape, Random& random, std::int32_t n, std::int32_t committed);

speculation::SublayerMask random_mask(Random& random, std::int32_t n_layers, double skipped);

}  // namespace draftscope::engine::test
