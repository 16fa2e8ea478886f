// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda/ranks/rank_part.h"

#include <algorithm>
#include <utility>

#include "cpu/model.h"
#include "cpu/workspace.h"
#include "cuda/kernels/launch_shape.h"
#include "cuda/kernels/rank_params.h"
#include "cuda/model_upload.h"

namespace draftscope::engine::cuda {
namespace {

/// Parts that follow one another in memory as one matrix. `scales` are its own, a part's rows behind
/// another's.
TensorView joined(const std::vector<TensorView>& parts, const float* scales) {
  TensorView matrix = parts.front();
  matrix.rows *= static_cast<std::int64_t>(parts.size());
  if (matrix.scales != nullptr) matrix.scales = scales;
  return matrix;
}

/// Makes one matrix of each layer's parts, whose scales are every part's.
void join_columns(const Checkpoint& whole, cpu::RankTensors& tensors, RankPart& part) {
  const auto d_model = static_cast<std::size_t>(whole.shape.d_model);
  std::size_t values = 0;
  for (const cpu::RankTensors::Parts& layer : tensors.layers)
    for (const auto* parts : {&layer.o, &layer.down})
      if (parts->front().scales != nullptr) values += parts->size() * d_model;
  part.scales.resize(values);
  float* scales = part.scales.data();
  const auto join = [&](const std::vector<TensorView>& parts, TensorView& matrix) {
    matrix = joined(parts, scales);
    if (parts.front().scales == nullptr) return;
    for (const TensorView& each : parts) scales = std::copy_n(each.scales, d_model, scales);
  };
  for (std::size_t i = 0; i < tensors.layers.size(); ++i) {
    LayerWeights& layer = part.checkpoint.weights.layers[i];
    join(tensors.layers[i].o, layer.o);
    join(tensors.layers[i].down, layer.down);
    layer.o_bias = whole.weights.layers[i].o_bias;
    layer.down_bias = whole.weights.layers[i].down_bias;
  }
  part.o_parts = static_cast<std::int32_t>(tensors.layers.front().o.size());
  part.down_parts = static_cast<std::int32_t>(tensors.layers.front().down.size());
}

/// Columns that a part's are a multiple of: as fp8 wants them wherever that goes, so that drafts can have it.
std::int32_t part_granule(const Checkpoint& checkpoint, CudaWeights weights, std::int32_t ranks) {
  const std::int32_t of_fp8 = width_granule(WeightFormat::fp8);
  return checkpoint.shape.d_ff % (ranks * of_fp8) == 0 ? of_fp8
                                                       : width_granule(layer_format(checkpoint, weights));
}

}  // namespace

std::int32_t RankPart::max_tokens() const {
  std::int32_t most = 0;
  for (std::int32_t rank = 0; rank < place.size; ++rank) most = std::max(most, tokens(rank));
  return most;
}

Result<std::unique_ptr<RankPart>> make_rank_part(const Checkpoint& checkpoint, CudaWeights weights,
                                                 cpu::RankPlace place) {
  const speculation::ModelShape& shape = checkpoint.shape;
  if (place.size > max_device_ranks)
    return fail("model {}: {} ranks share it, expected at most {} on cuda devices", shape.name, place.size,
                max_device_ranks);
  if (!checkpoint.matrices_in_memory)
    return fail("cuda backend: {}'s matrices are not in memory, expected a model opened with them for ranks",
                shape.name);
  if (const WeightFormat format = layer_format(checkpoint, weights); grouped_layout(format) != nullptr)
    return fail("model {}: layers are in {}, expected bf16, fp16 or fp8 for ranks on cuda devices",
                shape.name, weights_name(format));
  const std::int32_t granule = part_granule(checkpoint, weights, place.size);
  DRAFTSCOPE_TRY_ASSIGN(cpu::RankTensors tensors, cpu::divided_tensors(checkpoint, place, granule));
  if (tensors.shape.d_ff % granule != 0)
    return fail("model {}: d_ff is {}, expected a multiple of {} for each of {} ranks on cuda devices",
                shape.name, shape.d_ff, granule, place.size);
  DRAFTSCOPE_TRY(cpu::prepare_model(tensors));
  auto part = std::make_unique<RankPart>();
  part->place = place;
  part->checkpoint = checkpoint;
  part->checkpoint.shape = tensors.shape;
  part->checkpoint.weights = tensors.weights;
  join_columns(checkpoint, tensors, *part);
  part->columns = std::move(tensors.memory);
  static_assert(cpu::head_block % tile_outputs == 0);
  for (std::int32_t rank = 0; rank < place.size; ++rank)
    part->first_tokens.push_back(
        static_cast<std::int32_t>(cpu::head_tokens(shape.vocab, {rank, place.size}).first));
  part->first_tokens.push_back(shape.vocab);
  return part;
}

}  // namespace draftscope::engine::cuda
