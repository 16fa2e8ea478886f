// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_shape.h>

#include <algorithm>

#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

Result<void> check_range(std::int32_t value, Range<std::int32_t> range, std::string_view name,
                         std::string_view source) {
  if (value < range.min || value > range.max)
    return fail("{}: {} is {}, expected {} to {}", source, name, value, range.min, range.max);
  return {};
}

}  // namespace

bool same_sizes(const ModelShape& a, const ModelShape& b) {
  return std::all_of(shape_sizes.begin(), shape_sizes.end(),
                     [&](const auto& size) { return a.*size.second == b.*size.second; });
}

Result<void> check_sizes(const ModelShape& shape, std::string_view source) {
  constexpr std::array ranges{layers_range,   width_range, heads_range, heads_range,
                              head_dim_range, width_range, vocab_range};
  for (std::size_t i = 0; i < shape_sizes.size(); ++i)
    DRAFTSCOPE_TRY(check_range(shape.*shape_sizes[i].second, ranges[i], shape_sizes[i].first, source));
  if (shape.n_heads % shape.n_kv_heads != 0)
    return fail("{}: n_kv_heads is {}, expected a divisor of n_heads {}", source, shape.n_kv_heads,
                shape.n_heads);
  return {};
}

Result<void> check_shape(const ModelShape& shape, std::string_view source) {
  DRAFTSCOPE_TRY(check_sizes(shape, source));
  DRAFTSCOPE_TRY(check_range(shape.max_positions, positions_range, "max_positions", source));
  // Rotary embeddings turn pairs.
  if (shape.head_dim % 2 != 0)
    return fail("{}: head_dim is {}, expected an even number", source, shape.head_dim);
  const auto pairs = static_cast<std::size_t>(shape.head_dim / 2);
  if (!shape.rope.divisors.empty() && shape.rope.divisors.size() != pairs)
    return fail("{}: {} divisors of frequencies, expected one for each of {} pairs", source,
                shape.rope.divisors.size(), pairs);
  return {};
}

double head_in_layers(const ModelShape& shape) {
  const double model = shape.d_model;
  const double layer = model * (2.0 * shape.q_width() + 2.0 * shape.kv_width()) + 3.0 * model * shape.d_ff;
  return model * shape.vocab / layer;
}

}  // namespace draftscope::speculation
