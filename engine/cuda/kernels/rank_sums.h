// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What ranks that share a model do beside the kernels of one that has all of it: a product over a rank's
// columns of o or down, the sums over ranks, and the head put together.
//
// Partial sums are added as neighbours, (0+1)+(2+3), as everywhere in engine/ranks (add_neighbours of
// collective.h): of eight parts a rank may add its own first, and the number of ranks shows in no bit.

#include "pass_ops.h"
#include "rank_params.h"

namespace draftscope::engine::cuda {

/// Sums of parts of the depth, completed but for the bias: parts lie one below the other in the matrix, and
/// each has tiles of its own.
template <typename Format, int half_outputs>
struct RankProductOp {
  using Params = RankProductParams;
  static constexpr bool normalises = false;
  DRAFTSCOPE_DEVICE static bool runs(const Params& p) { return runs_sublayer(p, p.sublayer); }
  DRAFTSCOPE_DEVICE static int tiles_of_part(const Params& p) {
    return (p.model.d_model + (2 * half_outputs) - 1) / (2 * half_outputs);
  }
  DRAFTSCOPE_DEVICE static ProductJob job(const Params& p) {
    return {p.parts * tiles_of_part(p), p.part_depth};
  }
  DRAFTSCOPE_DEVICE static const DeviceMatrix& matrix(const Params& p) {
    return p.sublayer == Norm::attention ? layer_of(p).o : layer_of(p).down;
  }
  struct Weights {
    const std::byte* matrix;
  };
  DRAFTSCOPE_DEVICE static Weights weights(const Params& p) { return {matrix(p).data}; }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const Params& p, const Weights& weights, int half, int tile,
                                                int r) {
    const int tiles = tiles_of_part(p);
    const int row = tile % tiles * (2 * half_outputs) + half * half_outputs + r;
    const int inside = row < p.model.d_model ? row : p.model.d_model - 1;
    return {weights.matrix, tile / tiles * p.model.d_model + inside, p.parts * p.model.d_model};
  }
  /// Those that part `tile`'s is multiplied with.
  DRAFTSCOPE_DEVICE static const std::uint16_t* activations_of_tile(const Params& p, int tile, int row) {
    return p.activations + (std::int64_t{row} * p.parts + tile / tiles_of_part(p)) * p.part_depth;
  }
  DRAFTSCOPE_DEVICE static void finish(const Params& p, const ProductJob& /*job*/, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    if (!present) return;
    const int part = tile / tiles_of_part(p);
    const int first = tile % tiles_of_part(p) * (2 * half_outputs) + r;
    const int second = first + half_outputs;
    const float* scale = matrix(p).scale;
    if (scale != nullptr) scale += std::int64_t{part} * p.model.d_model;
    float* sums = p.sums + (std::int64_t{part} * p.sum_rows + row) * p.model.d_model;
    if (first < p.model.d_model) sums[first] = scale != nullptr ? upper * scale[first] : upper;
    if (second < p.model.d_model) sums[second] = scale != nullptr ? lower * scale[second] : lower;
  }
};

/// Sum of the values of parts 0 … n - 1, up to `most`, as neighbours; `value(part)` brings one.
template <int most, typename Value>
DRAFTSCOPE_DEVICE float sum_of_neighbours(int first, int n, const Value& value) {
  if constexpr (most == 1) {
    return value(first);
  } else {
    constexpr int half = most / 2;
    if (n <= half) return sum_of_neighbours<half>(first, n, value);
    return sum_of_neighbours<half>(first, half, value) +
           sum_of_neighbours<half>(first + half, n - half, value);
  }
}

/// Rows of a launch that there are.
DRAFTSCOPE_DEVICE int rows_of(const RankSumParams& p) {
  const int rows = p.pass.work.state->rows - p.pass.row_begin;
  return rows < 0 ? 0 : rows < p.rows ? rows : p.rows;
}

/// Adds a rank's own parts: a thread a value.
DRAFTSCOPE_DEVICE void sum_own_parts(const RankSumParams& p) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  if (!runs_sublayer(p.pass, p.sublayer)) return;
  const int d_model = p.pass.model.d_model;
  const int values = rows_of(p) * d_model;
  for (int i = block_index() * block_threads() + thread_index(); i < values;
       i += block_count() * block_threads())
    p.to[i] = sum_of_neighbours<max_column_parts>(0, p.n_parts, [&](int part) {
      const float sum = p.parts[part * p.part_stride + i];
      return p.scale == nullptr ? sum : sum * p.scale[part * d_model + i % d_model];
    });
}

/// Adds all ranks' sums and the bias to the residual stream, a thread a value; normalised, where the
/// architecture has such norms, a block a row.
DRAFTSCOPE_DEVICE void add_rank_sums(const RankSumParams& p) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  if (!runs_sublayer(p.pass, p.sublayer)) return;
  const DeviceModel& model = p.pass.model;
  const DeviceLayer& layer = layer_of(p.pass);
  const bool of_attention = p.sublayer == Norm::attention;
  const float* bias = of_attention ? layer.o.bias : layer.down.bias;
  const auto value = [&](int i) {
    const float sum = sum_of_neighbours<max_device_ranks>(
        0, p.n_parts, [&](int part) { return p.parts[part * p.part_stride + i]; });
    return bias == nullptr ? sum : sum + bias[i % model.d_model];
  };
  float* residual = p.pass.work.residual + std::int64_t{p.pass.row_begin} * model.d_model;
  const int rows = rows_of(p);
  if (model.normalises_outputs == 0) {
    for (int i = block_index() * block_threads() + thread_index(); i < rows * model.d_model;
         i += block_count() * block_threads())
      residual[i] += model.residual_scale * value(i);
    return;
  }
  const float* norm = of_attention ? layer.attention_output_norm : layer.mlp_output_norm;
  float* warp_sums = reinterpret_cast<float*>(shared_memory());
  for (int row = block_index(); row < rows; row += block_count()) {
    const int begin = row * model.d_model;
    float squares = 0.0F;
    for (int i = thread_index(); i < model.d_model; i += block_threads()) {
      const float here = value(begin + i);
      squares += here * here;
    }
    synchronise();  // the row before has been read
    const float scale = rms_factor(squares, model.d_model, model.rms_epsilon, warp_sums);
    for (int i = thread_index(); i < model.d_model; i += block_threads())
      residual[begin + i] += model.residual_scale * (value(begin + i) * scale * norm[i]);
  }
}

/// Puts statistics and logits of every rank's tokens where a head over the whole vocabulary would have left
/// them: a block a row.
DRAFTSCOPE_DEVICE void join_head(const RankHeadParams& p) {
  let_next_kernel_start();
  wait_for_previous_kernel();
  const PassState& state = *p.pass.work.state;
  const std::int64_t vocab = p.pass.model.vocab;
  for (int row = block_index(); row < state.rows - state.head_from; row += block_count()) {
    HeadPartial* partials = p.pass.work.head_partials + std::int64_t{row} * head_tiles(p.pass.model);
    float* logits = p.pass.work.logits + row * vocab;
    for (int rank = 0; rank < p.ranks; ++rank) {
      const int first = p.first_tokens[rank];
      const int tokens = p.first_tokens[rank + 1] - first;
      const int tiles = (tokens + tile_outputs - 1) / tile_outputs;
      const HeadPartial* found = p.partials + rank * p.partials_stride + std::int64_t{row} * tiles;
      for (int tile = thread_index(); tile < tiles; tile += block_threads())
        partials[first / tile_outputs + tile] = {found[tile].maximum, found[tile].token + first,
                                                 found[tile].sum};
      if (p.pass.want_logits == 0) continue;
      const float* from = p.logits + rank * p.logits_stride + std::int64_t{row} * tokens;
      for (int i = thread_index(); i < tokens; i += block_threads()) logits[first + i] = from[i];
    }
  }
}

}  // namespace draftscope::engine::cuda
