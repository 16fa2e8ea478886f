// SPDX-License-Identifier: GPL-3.0-or-later
#include "rank_tensors.h"

#include <draftscope/base/parallel.h>
#include <draftscope/base/to_size.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "checkpoint/gguf/block_formats.h"
#include "workspace.h"

namespace draftscope::engine::cpu {
namespace {

constexpr std::int64_t fixed_parts = 8;

Result<void> check_divides(const speculation::ModelShape& shape, std::string_view name, std::int32_t value,
                           std::int32_t ranks) {
  if (value % ranks == 0) return {};
  return fail("model {}: {} is {}, expected a multiple of {} ranks", shape.name, name, value, ranks);
}

Result<void> check_shape_divides(const speculation::ModelShape& shape, std::int32_t ranks) {
  DRAFTSCOPE_TRY(check_divides(shape, "n_kv_heads", shape.n_kv_heads, ranks));
  DRAFTSCOPE_TRY(check_divides(shape, "n_heads", shape.n_heads, ranks));
  DRAFTSCOPE_TRY(check_divides(shape, "d_ff", shape.d_ff, ranks));
  if (shape.traits.qk_norm == speculation::QkNorm::whole)
    return fail("model {}: found a norm over all heads of queries and keys, expected one a head for {} ranks",
                shape.name, ranks);
  return {};
}

TensorView outputs_of(const TensorView& whole, RankPlace place) {
  if (!whole.present()) return whole;
  const std::int64_t rows = whole.rows / place.size;
  return whole.rows_from(place.rank * rows, rows);
}

/// A rank's values of a bias.
TensorView values_of(const TensorView& whole, RankPlace place) {
  if (!whole.present()) return whole;
  TensorView part = whole;
  part.columns /= place.size;
  part.data += static_cast<std::size_t>(place.rank * part.columns) * dtype_bytes(whole.dtype);
  return part;
}

/// Parts that a rank's columns of a matrix are cut into.
Result<std::int64_t> parts_of(const TensorView& whole, std::string_view matrix, std::string_view model,
                              RankPlace place, std::int64_t granule) {
  const std::int64_t block = whole.blocks == nullptr ? granule : whole.blocks->weights;
  if (fixed_parts % place.size == 0 && whole.columns % (fixed_parts * block) == 0)
    return fixed_parts / place.size;
  if (whole.columns % (place.size * block) == 0) return 1;
  return fail("model {}: {} has {} columns in blocks of {}, expected whole blocks for each of {} ranks",
              model, matrix, whole.columns, block, place.size);
}

std::vector<TensorView> column_parts(const TensorView& whole, std::int64_t parts, RankPlace place) {
  TensorView part = whole;
  part.columns = whole.columns / place.size / parts;
  return std::vector<TensorView>(static_cast<std::size_t>(parts), part);
}

/// Copies the rank's columns of a matrix into its parts, which follow one another from `memory` on.
void fill_parts(const TensorView& whole, RankPlace place, std::vector<TensorView>& parts, std::byte* memory) {
  const std::size_t part_bytes = parts.front().row_bytes();
  const std::byte* const first =
      whole.data + static_cast<std::size_t>(place.rank) * parts.size() * part_bytes;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    parts[p].data = memory;
    for (std::int64_t row = 0; row < whole.rows; ++row, memory += part_bytes)
      std::memcpy(memory, first + static_cast<std::size_t>(row) * whole.row_bytes() + p * part_bytes,
                  part_bytes);
  }
}

std::size_t bytes_of(const std::vector<TensorView>& parts) {
  return parts.size() * parts.front().bytes();
}

/// o and down of every layer.
Result<void> divide_columns(const Checkpoint& checkpoint, RankPlace place, std::int64_t granule,
                            RankTensors& tensors) {
  constexpr std::size_t alignment = 64;
  const auto aligned = [](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (std::size_t layer = 0; layer < tensors.layers.size(); ++layer) {
    const LayerWeights& whole = checkpoint.weights.layers[layer];
    RankTensors::Parts& own = tensors.layers[layer];
    const std::string& name = checkpoint.shape.name;
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t o_parts, parts_of(whole.o, "o", name, place, granule));
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t down_parts, parts_of(whole.down, "down", name, place, granule));
    own.o = column_parts(whole.o, o_parts, place);
    own.down = column_parts(whole.down, down_parts, place);
    offsets.push_back(bytes);
    bytes += aligned(bytes_of(own.o)) + aligned(bytes_of(own.down));
  }
  DRAFTSCOPE_TRY_ASSIGN(tensors.memory, Memory::allocate(bytes, Pages::large));
  for_each_index(tensors.layers.size(), usable_processors(), [&](std::size_t layer) {
    const LayerWeights& whole = checkpoint.weights.layers[layer];
    RankTensors::Parts& own = tensors.layers[layer];
    std::byte* const memory = tensors.memory.data() + offsets[layer];
    fill_parts(whole.o, place, own.o, memory);
    fill_parts(whole.down, place, own.down, memory + aligned(bytes_of(own.o)));
  });
  return {};
}

LayerWeights layer_outputs(const LayerWeights& whole, RankPlace place) {
  LayerWeights own = whole;
  own.o = {};
  own.down = {};
  for (TensorView LayerWeights::*matrix :
       {&LayerWeights::q, &LayerWeights::k, &LayerWeights::v, &LayerWeights::gate, &LayerWeights::up})
    own.*matrix = outputs_of(whole.*matrix, place);
  for (TensorView LayerWeights::*bias : {&LayerWeights::q_bias, &LayerWeights::k_bias, &LayerWeights::v_bias,
                                         &LayerWeights::gate_bias, &LayerWeights::up_bias})
    own.*bias = values_of(whole.*bias, place);
  if (place.rank != 0) own.o_bias = own.down_bias = {};
  return own;
}

}  // namespace

TokenRange head_tokens(std::int64_t vocab, RankPlace place) {
  const std::int64_t blocks = (vocab + head_block - 1) / head_block;
  const auto begin = [&](std::int64_t rank) {
    return std::min(vocab, blocks * rank / place.size * head_block);
  };
  return {begin(place.rank), begin(place.rank + 1) - begin(place.rank)};
}

RankTensors whole_tensors(const Checkpoint& checkpoint) {
  RankTensors tensors;
  tensors.shape = checkpoint.shape;
  tensors.weights = checkpoint.weights;
  tensors.tokens = {0, checkpoint.shape.vocab};
  for (const LayerWeights& layer : checkpoint.weights.layers)
    tensors.layers.push_back({{layer.o}, {layer.down}});
  return tensors;
}

Result<RankTensors> divided_tensors(const Checkpoint& checkpoint, RankPlace place, std::int64_t granule) {
  // Shapes of tensors are what prepare_model() checks, of the parts; what is cut here must be there.
  const speculation::ModelShape& shape = checkpoint.shape;
  DRAFTSCOPE_TRY(check_shape_divides(shape, place.size));
  RankTensors tensors = whole_tensors(checkpoint);
  tensors.shape.n_heads /= place.size;
  tensors.shape.n_kv_heads /= place.size;
  tensors.shape.d_ff /= place.size;
  DRAFTSCOPE_TRY(divide_columns(checkpoint, place, granule, tensors));
  for (std::size_t layer = 0; layer < tensors.weights.layers.size(); ++layer)
    tensors.weights.layers[layer] = layer_outputs(checkpoint.weights.layers[layer], place);
  tensors.tokens = head_tokens(shape.vocab, place);
  TensorView& head = tensors.weights.head;
  if (head.rows == shape.vocab) head = head.rows_from(tensors.tokens.first, tensors.tokens.count);
  return tensors;
}

}  // namespace draftscope::engine::cpu
