// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The draft-cost coefficient c, one draft step's cost / one target step's, as it can be known: from layer
// counts (what the papers' tables assume), from weight bytes (what a memory-bound decode pays, the head
// included, which every draft token reads), or from measured times. Bytes of 16-bit weights, 10⁶ of them a
// megabyte. Pure functions, safe from any thread; an argument outside its domain is an error that names it.

#include <draftscope/base/result.h>
#include <cstdint>

namespace draftscope::simulator {

/// Sublayers that a draft keeps: an exit layer E keeps E of each.
struct KeptSublayers {
  double attention = 0.0;
  double mlp = 0.0;
};

/// Bytes that one pass reads of each part.
struct WeightBytes {
  std::int32_t n_layers = 0;
  double attention = 0.0;  ///< of one attention sublayer, its norm included
  double mlp = 0.0;        ///< of one MLP sublayer, its norm included
  double head = 0.0;       ///< final norm and LM head, tied to the embedding or not; 0 leaves it out

  [[nodiscard]] double layer() const { return attention + mlp; }
  /// The head in units of a layer: 0.65 of Llama-2-7B, 4.3 of Llama-3.2-1B.
  [[nodiscard]] double head_in_layers() const { return head / layer(); }
};

/// A dense Llama-style decoder: grouped-query attention, gated MLP of three matrices, two norms a layer.
struct WeightShape {
  std::int64_t n_layers = 0;
  std::int64_t d_model = 0;
  std::int64_t n_heads = 0;
  std::int64_t n_kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t d_ff = 0;
  std::int64_t vocab = 0;
  bool qkv_bias = false;
  double bytes_per_weight = 2.0;
};

/// Every size in [1, 2²⁴], bytes a weight in (0, 8].
[[nodiscard]] Result<WeightBytes> weight_bytes(const WeightShape& shape);

/// c = kept sublayers / all, half a layer each: E / L of an exit layer (DEL), 1 − r of skip ratio r (SWIFT).
/// Kept in [0, L] each, L ≥ 1.
[[nodiscard]] Result<double> draft_cost_by_layers(const KeptSublayers& kept, std::int32_t n_layers);

/// c = (bytes of the kept sublayers + head) / (bytes of all + head). Expects bytes ≥ 0, of a layer above 0.
[[nodiscard]] Result<double> draft_cost_by_bytes(const KeptSublayers& kept, const WeightBytes& weights);

/// c = draft step / target step, in any unit of time. Draft step ≥ 0, target step above 0.
[[nodiscard]] Result<double> draft_cost_by_time(double draft_step_ns, double target_step_ns);

}  // namespace draftscope::simulator
