// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The five products of a layer and the head, as Ops of skinny_product.h. What a product is followed by
// (rotation and the K/V write, the gate, the residual sum, a tile's maximum) happens on its sums before they
// leave the block.

#include "params.h"
#include "skinny_product.h"

namespace draftscope::engine::cuda {

DRAFTSCOPE_DEVICE const DeviceLayer& layer_of(const PassParams& p) {
  return p.layers[p.work.slots[p.slot].layer];
}
DRAFTSCOPE_DEVICE const DeviceLayer& layer_of(const PassView& p) {
  return p.layer;
}

/// Whether a sublayer runs; the head always does.
DRAFTSCOPE_DEVICE bool runs_sublayer(const PassParams& p, Norm sublayer) {
  if (sublayer == Norm::head) return true;
  const LayerSlot& slot = p.work.slots[p.slot];
  return (sublayer == Norm::attention ? slot.attention : slot.mlp) != 0;
}
/// A program holds the sublayers that run.
DRAFTSCOPE_DEVICE bool runs_sublayer(const PassView& /*p*/, Norm /*sublayer*/) {
  return true;
}
/// Weights of the norm ahead of it, or null.
DRAFTSCOPE_DEVICE const float* norm_weights(const auto& p, Norm sublayer) {
  if (sublayer == Norm::head) return p.model.final_norm;
  const DeviceLayer& layer = layer_of(p);  // found once, whichever norm it is
  return sublayer == Norm::attention ? layer.attention_norm : layer.mlp_norm;
}

/// Row `row` of a matrix, or its last one: rows beyond the end are read and forgotten.
DRAFTSCOPE_DEVICE WeightRow matrix_row(const std::byte* matrix, int row, int outputs) {
  return {matrix, row < outputs ? row : outputs - 1, outputs};
}

/// A sum made a result: its channel's scale, its bias.
DRAFTSCOPE_DEVICE float completed(const DeviceMatrix& matrix, int output, float sum) {
  if (matrix.scale != nullptr) sum *= matrix.scale[output];
  return matrix.bias != nullptr ? sum + matrix.bias[output] : sum;
}

/// Where a matrix lies that kernels of the format multiply; null if it is in another format.
template <typename Format>
DRAFTSCOPE_DEVICE const std::byte* data_of(const DeviceMatrix& matrix) {
  return takes_of<Format> == Takes::plain ? matrix.plain : matrix.data;
}
/// Whether kernels of the format multiply a matrix, from its data_of().
template <typename Format>
DRAFTSCOPE_DEVICE bool takes(const std::byte* data) {
  return takes_of<Format> == Takes::all || data != nullptr;
}

/// Two dimensions of a head that a tile holds together.
struct HeadPair {
  int first, second;
  bool rotates;
};

/// Pair `i` of head_dim / 2: those that rotate together first, then the rest.
DRAFTSCOPE_DEVICE HeadPair pair_of(const DeviceModel& model, int i) {
  if (i < model.rotary_pairs) return {i, i + model.rotary_pairs, true};
  const int first = model.rotary_pairs + i;
  return {first, first + model.head_dim / 2 - model.rotary_pairs, false};
}

/// Rotates pair `i` of a head and stores it, in `queries` or the cache. `head` counts q's, k's, then v's.
template <typename Element>
DRAFTSCOPE_DEVICE void store_pair(const auto& p, int row, int head, int i, float a, float b) {
  const DeviceModel& model = p.model;
  const DeviceLayer& layer = layer_of(p);
  const HeadPair pair = pair_of(model, i);
  const int k_head = head - model.n_heads;
  const int v_head = k_head - model.n_kv_heads;
  if (v_head < 0 && pair.rotates && layer.rotates != 0) {
    const std::int64_t angle = std::int64_t{p.work.state->row[row].input.position} * model.rotary_pairs + i;
    const float cosine = model.cosine[angle];
    const float sine = model.sine[angle];
    const float rotated = a * cosine - b * sine;
    b = b * cosine + a * sine;
    a = rotated;
  }
  std::uint16_t* out = p.work.queries + (std::int64_t{row} * model.n_heads + head) * model.head_dim;
  if (k_head >= 0) {
    const std::int64_t cache_row =
        std::int64_t{v_head < 0 ? k_head : v_head} * model.cache_rows + p.work.state->first_row + row;
    out = (v_head < 0 ? layer.keys : layer.values) + cache_row * model.head_dim;
  }
  out[pair.first] = Element::from_float(a);
  out[pair.second] = Element::from_float(b);
}

/// q, k and v in one launch, or those that the format takes; a tile pairs dimensions of a head that rotate
/// together. Where a norm follows, q and k are left in `wide`.
template <typename Format, int half_outputs>
struct QkvOp {
  using Params = PassParams;
  static constexpr bool normalises = true;
  struct Weights {
    const std::byte *q, *k, *v;
  };
  DRAFTSCOPE_DEVICE static Weights weights(const auto& p) {
    const DeviceLayer& layer = layer_of(p);
    return {data_of<Format>(layer.q), data_of<Format>(layer.k), data_of<Format>(layer.v)};
  }
  DRAFTSCOPE_DEVICE static bool runs(const auto& p) { return runs_sublayer(p, Norm::attention); }
  DRAFTSCOPE_DEVICE static const float* norm(const auto& p) { return norm_weights(p, Norm::attention); }
  DRAFTSCOPE_DEVICE static ProductJob job(const auto& p) {
    const Weights own = weights(p);
    const int heads = (takes<Format>(own.q) ? p.model.n_heads : 0) +
                      (takes<Format>(own.k) ? p.model.n_kv_heads : 0) +
                      (takes<Format>(own.v) ? p.model.n_kv_heads : 0);
    return {heads * p.model.head_dim / (2 * half_outputs), p.model.d_model};
  }

  struct Place {
    int head;       ///< among q's, k's, then v's
    int dimension;  ///< of r = 0 in the upper half
  };
  DRAFTSCOPE_DEVICE static Place place(const auto& p, const Weights& own, int tile) {
    const int tiles_per_head = p.model.head_dim / (2 * half_outputs);
    int head = tile / tiles_per_head;
    if (!takes<Format>(own.q)) head += p.model.n_heads;
    if (!takes<Format>(own.k) && head >= p.model.n_heads) head += p.model.n_kv_heads;
    return {head, tile % tiles_per_head * half_outputs};
  }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const auto& p, const Weights& weights, int half, int tile,
                                                int r) {
    const Place at = place(p, weights, tile);
    const int k_head = at.head - p.model.n_heads;
    const int v_head = k_head - p.model.n_kv_heads;
    const std::byte* matrix = k_head < 0 ? weights.q : v_head < 0 ? weights.k : weights.v;
    const int head = k_head < 0 ? at.head : v_head < 0 ? k_head : v_head;
    const HeadPair pair = pair_of(p.model, at.dimension + r);
    const int heads = k_head < 0 ? p.model.n_heads : p.model.n_kv_heads;
    return {matrix, head * p.model.head_dim + (half == 0 ? pair.first : pair.second),
            heads * p.model.head_dim};
  }
  DRAFTSCOPE_DEVICE static void finish(const auto& p, const ProductJob& /*job*/, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    if (!present) return;
    const DeviceLayer& layer = layer_of(p);
    const DeviceModel& model = p.model;
    const Place at = place(p, weights(p), tile);
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
    store_pair<typename Format::Activation>(p, row, at.head, at.dimension + r, a, b);
  }
};

/// A product whose sums are added to the residual stream, or left in `wide` where a norm follows.
template <typename Format, int half_outputs>
struct ResidualOp {
  using Params = PassParams;
  static constexpr bool normalises = false;
  struct Weights {
    const std::byte* matrix;
  };
  DRAFTSCOPE_DEVICE static ProductJob job_of(const auto& p, const Weights& own, int depth) {
    const int tiles = (p.model.d_model + (2 * half_outputs) - 1) / (2 * half_outputs);
    return {takes<Format>(own.matrix) ? tiles : 0, depth};
  }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const auto& p, const Weights& weights, int half, int tile,
                                                int r) {
    return matrix_row(weights.matrix, tile * (2 * half_outputs) + half * half_outputs + r, p.model.d_model);
  }
  DRAFTSCOPE_DEVICE static void add(const auto& p, const DeviceMatrix& matrix, int tile, int r, int row,
                                    bool present, float upper, float lower) {
    if (!present) return;
    const int first = tile * (2 * half_outputs) + r;
    const int second = first + half_outputs;
    if (p.model.normalises_outputs != 0) {
      float* sums = p.work.wide + std::int64_t{row} * p.model.d_model;
      if (first < p.model.d_model) sums[first] = upper;
      if (second < p.model.d_model) sums[second] = lower;
      return;
    }
    const float scale = p.model.residual_scale;
    float* residual = p.work.residual + std::int64_t{row} * p.model.d_model;
    if (first < p.model.d_model) residual[first] += scale * completed(matrix, first, upper);
    if (second < p.model.d_model) residual[second] += scale * completed(matrix, second, lower);
  }
};

template <typename Format, int half_outputs>
struct OutputOp : ResidualOp<Format, half_outputs> {
  using Params = PassParams;
  using Base = ResidualOp<Format, half_outputs>;
  DRAFTSCOPE_DEVICE static bool runs(const auto& p) { return runs_sublayer(p, Norm::attention); }
  DRAFTSCOPE_DEVICE static ProductJob job(const auto& p) {
    return Base::job_of(p, weights(p), p.model.n_heads * p.model.head_dim);
  }
  DRAFTSCOPE_DEVICE static const std::uint16_t* activations(const auto& p) { return p.work.attended; }
  DRAFTSCOPE_DEVICE static typename Base::Weights weights(const auto& p) {
    return {data_of<Format>(layer_of(p).o)};
  }
  DRAFTSCOPE_DEVICE static void finish(const auto& p, const ProductJob& /*job*/, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    Base::add(p, layer_of(p).o, tile, r, row, present, upper, lower);
  }
};

template <typename Format, int half_outputs>
struct DownOp : ResidualOp<Format, half_outputs> {
  using Params = PassParams;
  using Base = ResidualOp<Format, half_outputs>;
  DRAFTSCOPE_DEVICE static bool runs(const auto& p) { return runs_sublayer(p, Norm::mlp); }
  DRAFTSCOPE_DEVICE static ProductJob job(const auto& p) { return Base::job_of(p, weights(p), p.model.d_ff); }
  DRAFTSCOPE_DEVICE static const std::uint16_t* activations(const auto& p) { return p.work.gated; }
  DRAFTSCOPE_DEVICE static typename Base::Weights weights(const auto& p) {
    return {data_of<Format>(layer_of(p).down)};
  }
  DRAFTSCOPE_DEVICE static void finish(const auto& p, const ProductJob& /*job*/, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    Base::add(p, layer_of(p).down, tile, r, row, present, upper, lower);
  }
};

/// gate(x) · sigmoid(gate(x)) · up(x): Hugging Face's SiLU-gated MLP.
DRAFTSCOPE_DEVICE float swiglu(float gate, float up) {
  return gate / (1.0F + expf(-gate)) * up;
}

/// gate and up, which are in one format, in one launch: the upper half of a tile holds gate's rows, the lower
/// half the same rows of up.
template <typename Format, int half_outputs>
struct GateUpOp {
  using Params = PassParams;
  static constexpr bool normalises = true;
  DRAFTSCOPE_DEVICE static bool runs(const auto& p) { return runs_sublayer(p, Norm::mlp); }
  DRAFTSCOPE_DEVICE static const float* norm(const auto& p) { return norm_weights(p, Norm::mlp); }
  DRAFTSCOPE_DEVICE static ProductJob job(const auto& p) {
    const int tiles = (p.model.d_ff + half_outputs - 1) / half_outputs;
    return {takes<Format>(weights(p).gate) ? tiles : 0, p.model.d_model};
  }
  struct Weights {
    const std::byte *gate, *up;
  };
  DRAFTSCOPE_DEVICE static Weights weights(const auto& p) {
    const DeviceLayer& layer = layer_of(p);
    return {data_of<Format>(layer.gate), data_of<Format>(layer.up)};
  }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const auto& p, const Weights& weights, int half, int tile,
                                                int r) {
    return matrix_row(half == 0 ? weights.gate : weights.up, tile * half_outputs + r, p.model.d_ff);
  }
  DRAFTSCOPE_DEVICE static void finish(const auto& p, const ProductJob& /*job*/, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    const int output = tile * half_outputs + r;
    if (!present || output >= p.model.d_ff) return;
    const DeviceLayer& layer = layer_of(p);
    p.work.gated[std::int64_t{row} * p.model.d_ff + output] = Format::Activation::from_float(
        swiglu(completed(layer.gate, output, upper), completed(layer.up, output, lower)));
  }
};

/// Better = a higher logit, of equal ones the lower token id.
DRAFTSCOPE_DEVICE bool is_better(float logit, int token, float than_logit, int than_token) {
  return logit > than_logit || (logit == than_logit && token < than_token);
}

/// Below every logit that counts. The softmax's share of −∞ is taken from here, where −∞ − −∞ would be a NaN.
constexpr float lowest_logit = -3.402823466e38F;

/// A NaN stays a NaN.
DRAFTSCOPE_DEVICE float at_least_lowest(float logit) {
  return logit < lowest_logit ? lowest_logit : logit;
}

/// Two tiles' statistics as one. A NaN among the logits makes the sum a NaN.
DRAFTSCOPE_DEVICE HeadPartial merged(const HeadPartial& a, const HeadPartial& b) {
  const bool b_is_better = is_better(b.maximum, b.token, a.maximum, a.token);
  // Values, not references: those would have to lie in memory.
  const float maximum = b_is_better ? b.maximum : a.maximum;
  const float lower = b_is_better ? a.maximum : b.maximum;
  const float sum = b_is_better ? b.sum : a.sum;
  const float rest = b_is_better ? a.sum : b.sum;
  return {maximum, b_is_better ? b.token : a.token, sum + rest * expf(lower - maximum)};
}

/// Best token and its probability, a NaN if the row's logits make no distribution (has_distribution() of
/// draftscope/engine/backend.h).
DRAFTSCOPE_DEVICE HeadResult result_of(const HeadPartial& best, int vocab) {
  const bool is_finite = best.maximum > lowest_logit && best.maximum <= -lowest_logit;
  const float sum = is_finite ? best.sum : nanf("");
  return {best.token < vocab ? best.token : 0, best.maximum, 1.0F / sum, best.maximum, sum};
}

/// Logits; per tile their maximum and the softmax's share of the sum, so that they need not be stored. Rows
/// count from head_from on.
template <typename Format, int half_outputs>
struct HeadOp {
  static_assert(half_outputs == tile_half);  // its statistics are those of tiles of 32
  using Params = PassParams;
  static constexpr bool normalises = true;
  DRAFTSCOPE_DEVICE static bool runs(const auto& p) { return runs_sublayer(p, Norm::head); }
  DRAFTSCOPE_DEVICE static const float* norm(const auto& p) { return norm_weights(p, Norm::head); }
  DRAFTSCOPE_DEVICE static ProductJob job(const auto& p) {
    return {(p.model.vocab + (2 * half_outputs) - 1) / (2 * half_outputs), p.model.d_model};
  }
  struct Weights {
    const std::byte* matrix;
  };
  DRAFTSCOPE_DEVICE static Weights weights(const auto& p) { return {p.model.head.data}; }
  DRAFTSCOPE_DEVICE static WeightRow weight_row(const auto& p, const Weights& weights, int half, int tile,
                                                int r) {
    return matrix_row(weights.matrix, tile * (2 * half_outputs) + half * half_outputs + r, p.model.vocab);
  }
  DRAFTSCOPE_DEVICE static void finish(const auto& p, const ProductJob& job, int tile, int r, int row,
                                       bool present, float upper, float lower) {
    const int first = tile * (2 * half_outputs) + r;
    const int second = first + half_outputs;
    const bool has_first = first < p.model.vocab;
    const bool has_second = second < p.model.vocab;
    const float a = has_first ? p.model.logit_scale * completed(p.model.head, first, upper) : 0.0F;
    const float b = has_second ? p.model.logit_scale * completed(p.model.head, second, lower) : 0.0F;
    const int head_row = row - p.work.state->head_from;
    const bool counts = present && head_row >= 0;
    if (counts && p.want_logits != 0) {
      float* logits = p.work.logits + std::int64_t{head_row} * p.model.vocab;
      if (has_first) logits[first] = a;
      if (has_second) logits[second] = b;
    }
    HeadPartial mine{has_first ? at_least_lowest(a) : lowest_logit, first, has_first ? 1.0F : 0.0F};
    if (has_second) mine = merged(mine, {at_least_lowest(b), second, 1.0F});
    for (int mask = 8; mask > 0; mask /= 2) {
      const HeadPartial other{shuffle_xor(mine.maximum, mask), shuffle_xor(mine.token, mask),
                              shuffle_xor(mine.sum, mask)};
      mine = merged(mine, other);
    }
    if (counts && r == 0) p.work.head_partials[std::int64_t{head_row} * job.tiles + tile] = mine;
  }
};

/// An op whose rows are normalised by a kernel of their own ahead of it (normalise_rows()), where a block's
/// shared memory does not hold them.
template <typename Op>
struct OfNormedRows : Op {
  using Params = PassParams;
  static constexpr bool normalises = false;
  DRAFTSCOPE_DEVICE static const std::uint16_t* activations(const auto& p) { return p.work.normed; }
};
template <typename Format, int half_outputs>
struct QkvOfNormedRows : OfNormedRows<QkvOp<Format, half_outputs>> {};
template <typename Format, int half_outputs>
struct GateUpOfNormedRows : OfNormedRows<GateUpOp<Format, half_outputs>> {};
template <typename Format, int half_outputs>
struct HeadOfNormedRows : OfNormedRows<HeadOp<Format, half_outputs>> {};

}  // namespace draftscope::engine::cuda
