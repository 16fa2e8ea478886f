// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/closed_forms_cost.h"

#include <array>
#include <cmath>
#include <utility>

namespace draftscope::simulator {

namespace {

Result<void> check_kept(const KeptSublayers& kept, std::int32_t n_layers) {
  if (n_layers < 1) return fail("layers of the model: found {}, expected at least 1", n_layers);
  for (const auto& [name, count] : {std::pair{"attention", kept.attention}, std::pair{"MLP", kept.mlp}})
    if (!(count >= 0.0 && count <= n_layers))
      return fail("kept {} sublayers: found {}, expected 0 to the model's {}", name, count, n_layers);
  return {};
}

bool is_size(double bytes) {
  return bytes >= 0.0 && std::isfinite(bytes);
}

}  // namespace

Result<WeightBytes> weight_bytes(const WeightShape& shape) {
  constexpr std::int64_t largest = 1 << 24;
  const std::array<std::pair<const char*, std::int64_t>, 7> sizes{{{"n_layers", shape.n_layers},
                                                                   {"d_model", shape.d_model},
                                                                   {"n_heads", shape.n_heads},
                                                                   {"n_kv_heads", shape.n_kv_heads},
                                                                   {"head_dim", shape.head_dim},
                                                                   {"d_ff", shape.d_ff},
                                                                   {"vocab", shape.vocab}}};
  for (const auto& [name, size] : sizes)
    if (size < 1 || size > largest) return fail("{}: found {}, expected 1 to {}", name, size, largest);
  if (!(shape.bytes_per_weight > 0.0 && shape.bytes_per_weight <= 8.0))
    return fail("bytes a weight: found {}, expected above 0, to 8", shape.bytes_per_weight);

  const auto d_model = static_cast<double>(shape.d_model);
  const auto query_rows = static_cast<double>(shape.n_heads) * static_cast<double>(shape.head_dim);
  const auto kv_rows = 2.0 * static_cast<double>(shape.n_kv_heads) * static_cast<double>(shape.head_dim);
  const double bias = shape.qkv_bias ? query_rows + kv_rows : 0.0;
  const double attention = d_model * (2.0 * query_rows + kv_rows) + bias + d_model;
  const double mlp = 3.0 * d_model * static_cast<double>(shape.d_ff) + d_model;
  const double head = d_model * static_cast<double>(shape.vocab) + d_model;
  return WeightBytes{.n_layers = static_cast<std::int32_t>(shape.n_layers),
                     .attention = attention * shape.bytes_per_weight,
                     .mlp = mlp * shape.bytes_per_weight,
                     .head = head * shape.bytes_per_weight};
}

Result<double> draft_cost_by_layers(const KeptSublayers& kept, std::int32_t n_layers) {
  DRAFTSCOPE_TRY(check_kept(kept, n_layers));
  return (kept.attention + kept.mlp) / (2.0 * n_layers);
}

Result<double> draft_cost_by_bytes(const KeptSublayers& kept, const WeightBytes& weights) {
  DRAFTSCOPE_TRY(check_kept(kept, weights.n_layers));
  if (!is_size(weights.attention) || !is_size(weights.mlp) || !is_size(weights.head) ||
      weights.layer() <= 0.0)
    return fail(
        "weight bytes: found {} of attention, {} of MLP, {} of the head, expected finite numbers of at "
        "least 0 and a layer above 0",
        weights.attention, weights.mlp, weights.head);
  const double draft = kept.attention * weights.attention + kept.mlp * weights.mlp + weights.head;
  return draft / (weights.n_layers * weights.layer() + weights.head);
}

Result<double> draft_cost_by_time(double draft_step_ns, double target_step_ns) {
  if (!(draft_step_ns >= 0.0 && std::isfinite(draft_step_ns)))
    return fail("time of a draft step: found {}, expected a finite number of at least 0", draft_step_ns);
  if (!(target_step_ns > 0.0 && std::isfinite(target_step_ns)))
    return fail("time of a target step: found {}, expected a finite number above 0", target_step_ns);
  return draft_step_ns / target_step_ns;
}

}  // namespace draftscope::simulator
