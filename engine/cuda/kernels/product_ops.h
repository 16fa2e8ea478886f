// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The products of a layer and the head: which rows of weights a tile of 16 outputs takes, and how its sums
// are processed. The operation after a product (rotation and the K/V write, the gate, the residual sum, a
// tile's maximum) is done before sums leave the block.
//
// clang-format off
//   | member                                         | meaning                                                                  |
//   | ---------------------------------------------- | ------------------------------------------------------------------------ |
//   | weight_row(p, half, tile, r)                   | row r of a half of a tile, and the product's matrix that it is in        |
//   | finish(p, tile, r, row, present, upper, lower) | takes output r of both halves of a tile for one row; all lanes of a warp |
//   |                                                | call it together, 8 lanes per row                                        |
// clang-format on

#include "params.h"
#include "row_norm.h"
#include "weights.h"

namespace draftscope::engine::cuda {

/// Row `row` of one of a product's matrices. A matrix has one row per output and none beyond.
struct WeightRow {
  std::int32_t matrix;
  std::int32_t row;
  std::int32_t outputs;
};

/// Weights of the norm before a sublayer or the head, or null.
DRAFTSCOPE_DEVICE const float* norm_weights(const PassView& p, Norm sublayer) {
  if (sublayer == Norm::head) return p.model.final_norm;
  return sublayer == Norm::attention ? p.layer.attention_norm : p.layer.mlp_norm;
}

/// Completes a sum: multiplies it by its channel's scale and adds the bias.
DRAFTSCOPE_DEVICE float completed(const DeviceMatrix& matrix, int output, float sum) {
  if (matrix.scale != nullptr) sum *= matrix.scale[output];
  return matrix.bias != nullptr ? sum + matrix.bias[output] : sum;
}

/// Whether the kernels of a format multiply this matrix.
template <typename Format>
DRAFTSCOPE_DEVICE bool takes(const DeviceMatrix& matrix) {
  if constexpr (matrix_support<Format> == MatrixSupport::all) return true;
  return (matrix.is_beside != 0) == (matrix_support<Format> == MatrixSupport::plain_only);
}

/// Two dimensions of a head that a tile holds together.
struct HeadPair {
  int first, second;
  bool rotates;
};

/// Pair `i` of head_dim / 2: pairs that rotate come first, then the rest.
DRAFTSCOPE_DEVICE HeadPair pair_of(const DeviceModel& model, int i) {
  if (i < model.rotary_pairs) return {i, i + model.rotary_pairs, true};
  const int first = model.rotary_pairs + i;
  return {first, first + model.head_dim / 2 - model.rotary_pairs, false};
}

/// Numbers in device memory that completing an output needs. They are loaded before its tile is multiplied,
/// because memory latency is long while weights stream.
struct Early {
  float first = 0.0F, second = 0.0F;
};

/// Whether pair `i` of a head is rotated. `head` counts the heads of q, then k, then v.
DRAFTSCOPE_DEVICE bool rotates(const PassView& p, int head, int i) {
  return head < p.model.n_heads + p.model.n_kv_heads && i < p.model.rotary_pairs && p.layer.rotates != 0;
}
/// Cosine and sine of a row's pair `i`, if it is rotated.
DRAFTSCOPE_DEVICE Early angle_of(const PassView& p, int row, int head, int i) {
  if (!rotates(p, head, i)) return {};
  const std::int64_t angle = std::int64_t{p.row[row - p.row_begin].input.position} * p.model.rotary_pairs + i;
  return {p.model.cosine[angle], p.model.sine[angle]};
}

/// Rotates pair `i` of a head by `angle` and stores it, in `queries` or the cache.
template <typename Element>
DRAFTSCOPE_DEVICE void store_pair(const PassView& p, int row, int head, int i, float a, float b,
                                  const Early& angle) {
  const DeviceModel& model = p.model;
  const DeviceLayer& layer = p.layer;
  const HeadPair pair = pair_of(model, i);
  const int k_head = head - model.n_heads;
  const int v_head = k_head - model.n_kv_heads;
  if (rotates(p, head, i)) {
    const float rotated = a * angle.first - b * angle.second;
    b = b * angle.first + a * angle.second;
    a = rotated;
  }
  std::uint16_t* out = p.work.queries + (std::int64_t{row} * model.n_heads + head) * model.head_dim;
  if (k_head >= 0) {
    const std::int64_t cache_row =
        std::int64_t{v_head < 0 ? k_head : v_head} * model.cache_rows + p.extent.first_row + row;
    out = (v_head < 0 ? layer.keys : layer.values) + cache_row * model.head_dim;
  }
  out[pair.first] = Element::from_float(a);
  out[pair.second] = Element::from_float(b);
}

/// q, k and v in one product, as far as they are in the format. A tile pairs the dimensions of a head that
/// rotate together. Where a norm follows, q and k are left in `wide`.
template <typename Format>
struct QkvOp {
  struct HeadPlace {
    int head;       ///< Head index over q, then k, then v.
    int dimension;  ///< The dimension of r = 0 in the upper half.
  };
  DRAFTSCOPE_DEVICE static HeadPlace place(const PassView& p, int tile) {
    const int tiles_per_head = p.model.head_dim / tile_outputs;
    int head = tile / tiles_per_head;
    if (!takes<Format>(p.layer.q)) head += p.model.n_heads;
    if (!takes<Format>(p.layer.k) && head >= p.model.n_heads) head += p.model.n_kv_heads;
    return {head, tile % tiles_per_head * tile_half};
  }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const PassView& p, int half, int tile, int r) {
    const HeadPlace at = place(p, tile);
    const int k_head = at.head - p.model.n_heads;
    const int v_head = k_head - p.model.n_kv_heads;
    const int head = k_head < 0 ? at.head : v_head < 0 ? k_head : v_head;
    const HeadPair pair = pair_of(p.model, at.dimension + r);
    const int heads = k_head < 0 ? p.model.n_heads : p.model.n_kv_heads;
    return {k_head < 0   ? 0
            : v_head < 0 ? 1
                         : 2,
            head * p.model.head_dim + (half == 0 ? pair.first : pair.second), heads * p.model.head_dim};
  }
  DRAFTSCOPE_DEVICE static Early bring(const PassView& p, int tile, int r, int row) {
    if (p.model.normalises_qk != 0) return {};
    const HeadPlace at = place(p, tile);
    return angle_of(p, row, at.head, at.dimension + r);
  }
  DRAFTSCOPE_DEVICE static void finish(const PassView& p, int tile, int r, int row, bool present, float upper,
                                       float lower, const Early& angle) {
    if (!present) return;
    const DeviceLayer& layer = p.layer;
    const DeviceModel& model = p.model;
    const HeadPlace at = place(p, tile);
    const HeadPair pair = pair_of(model, at.dimension + r);
    const int k_head = at.head - model.n_heads;
    const int v_head = k_head - model.n_kv_heads;
    const DeviceMatrix& matrix = k_head < 0 ? layer.q : v_head < 0 ? layer.k : layer.v;
    const int head = k_head < 0 ? at.head : v_head < 0 ? k_head : v_head;
    const float a = completed(matrix, head * model.head_dim + pair.first, upper);
    const float b = completed(matrix, head * model.head_dim + pair.second, lower);
    if (model.normalises_qk != 0 && v_head < 0) {
      const std::int64_t heads = model.n_heads + 2 * model.n_kv_heads;
      float* out = p.work.wide + (row * heads + at.head) * model.head_dim;
      out[pair.first] = a;
      out[pair.second] = b;
      return;
    }
    store_pair<typename Format::Activation>(p, row, at.head, at.dimension + r, a, b, angle);
  }
};

/// A product whose sums are added to the residual stream, or left in `wide` where a norm follows.
template <typename Format>
struct ResidualOp {
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const PassView& p, int half, int tile, int r) {
    return {0, tile * tile_outputs + half * tile_half + r, p.model.d_model};
  }
  DRAFTSCOPE_DEVICE static Early bring(const PassView& p, int tile, int r, int row) {
    if (p.model.normalises_outputs != 0) return {};
    const int first = tile * tile_outputs + r;
    const int second = first + tile_half;
    const float* const residual = p.work.residual + std::int64_t{row} * p.model.d_model;
    return {first < p.model.d_model ? residual[first] : 0.0F,
            second < p.model.d_model ? residual[second] : 0.0F};
  }
  DRAFTSCOPE_DEVICE static void add(const PassView& p, const DeviceMatrix& matrix, int tile, int r, int row,
                                    bool present, float upper, float lower, const Early& before) {
    if (!present) return;
    const int first = tile * tile_outputs + r;
    const int second = first + tile_half;
    if (p.model.normalises_outputs != 0) {
      float* sums = p.work.wide + std::int64_t{row} * p.model.d_model;
      if (first < p.model.d_model) sums[first] = upper;
      if (second < p.model.d_model) sums[second] = lower;
      return;
    }
    const float scale = p.model.residual_scale;
    float* residual = p.work.residual + std::int64_t{row} * p.model.d_model;
    if (first < p.model.d_model) residual[first] = before.first + scale * completed(matrix, first, upper);
    if (second < p.model.d_model) residual[second] = before.second + scale * completed(matrix, second, lower);
  }
};

/// gate(x) · sigmoid(gate(x)) · up(x): Hugging Face's SiLU-gated MLP.
DRAFTSCOPE_DEVICE float swiglu(float gate, float up) {
  return gate / (1.0F + expf(-gate)) * up;
}

/// gate and up, which share a format, in one product: the upper half of a tile holds rows of gate, the lower
/// half the same rows of up.
template <typename Format>
struct GateUpOp {
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const PassView& p, int half, int tile, int r) {
    return {half, tile * tile_half + r, p.model.d_ff};
  }
  DRAFTSCOPE_DEVICE static void finish(const PassView& p, int tile, int r, int row, bool present, float upper,
                                       float lower) {
    const int output = tile * tile_half + r;
    if (!present || output >= p.model.d_ff) return;
    const DeviceLayer& layer = p.layer;
    p.work.gated[std::int64_t{row} * p.model.d_ff + output] = Format::Activation::from_float(
        swiglu(completed(layer.gate, output, upper), completed(layer.up, output, lower)));
  }
};

/// A candidate is better if its logit is higher or, at equal logits, its token id lower.
DRAFTSCOPE_DEVICE bool is_better(float logit, int token, float than_logit, int than_token) {
  return logit > than_logit || (logit == than_logit && token < than_token);
}

/// Below every logit that counts. It replaces −∞ in the softmax's sum, where −∞ − −∞ would be a NaN.
constexpr float lowest_logit = -3.402823466e38F;

/// Raises a logit to at least lowest_logit; a NaN stays a NaN.
DRAFTSCOPE_DEVICE float at_least_lowest(float logit) {
  return logit < lowest_logit ? lowest_logit : logit;
}

/// Combines the statistics of two tiles. A NaN among the logits makes the sum a NaN.
DRAFTSCOPE_DEVICE HeadPartial merged(const HeadPartial& a, const HeadPartial& b) {
  const bool b_is_better = is_better(b.maximum, b.token, a.maximum, a.token);
  // These are values, since references would force them into memory.
  const float maximum = b_is_better ? b.maximum : a.maximum;
  const float lower = b_is_better ? a.maximum : b.maximum;
  const float sum = b_is_better ? b.sum : a.sum;
  const float rest = b_is_better ? a.sum : b.sum;
  return {maximum, b_is_better ? b.token : a.token, sum + rest * expf(lower - maximum)};
}

/// Best token and its probability, a NaN if the row's logits form no distribution (has_distribution() of
/// draftscope/engine/backend.h).
DRAFTSCOPE_DEVICE HeadResult result_of(const HeadPartial& best, int vocab) {
  const bool is_finite = best.maximum > lowest_logit && best.maximum <= -lowest_logit;
  const float sum = is_finite ? best.sum : nanf("");
  return {best.token < vocab ? best.token : 0, best.maximum, 1.0F / sum, best.maximum, sum};
}

/// Computes logits and, per tile, their maximum and their part of the softmax's sum, so that logits need not
/// be stored. Rows count from head_from on.
template <typename Format>
struct HeadOp {
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const PassView& p, int half, int tile, int r) {
    return {0, tile * tile_outputs + half * tile_half + r, p.model.vocab};
  }
  DRAFTSCOPE_DEVICE static void finish(const PassView& p, int tile, int r, int row, bool present, float upper,
                                       float lower) {
    const int first = tile * tile_outputs + r;
    const int second = first + tile_half;
    const bool has_first = first < p.model.vocab;
    const bool has_second = second < p.model.vocab;
    const float a = has_first ? p.model.logit_scale * completed(p.model.head, first, upper) : 0.0F;
    const float b = has_second ? p.model.logit_scale * completed(p.model.head, second, lower) : 0.0F;
    const int head_row = row - p.extent.head_from;
    const bool counts = present && head_row >= 0;
    if (counts && p.want_logits != 0) {
      float* logits = p.work.logits + std::int64_t{head_row} * p.model.vocab;
      if (has_first) logits[first] = a;
      if (has_second) logits[second] = b;
    }
    HeadPartial mine{has_first ? at_least_lowest(a) : lowest_logit, first, has_first ? 1.0F : 0.0F};
    if (has_second) mine = merged(mine, {at_least_lowest(b), second, 1.0F});
    for (int mask = tile_half / 2; mask > 0; mask /= 2) {
      const HeadPartial other{shuffle_xor(mine.maximum, mask), shuffle_xor(mine.token, mask),
                              shuffle_xor(mine.sum, mask)};
      mine = merged(mine, other);
    }
    if (counts && r == 0)
      p.work.head_partials[std::int64_t{head_row} * tiles_of(p.model.vocab) + tile] = mine;
  }
};

}  // namespace draftscope::engine::cuda
