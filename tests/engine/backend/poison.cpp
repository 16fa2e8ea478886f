// SPDX-License-Identifier: GPL-3.0-or-later
#include "poison.h"

#include <cstring>

namespace draftscope::engine::test {

void poison(const TensorView& tensor, std::int64_t row, std::int64_t column, Poison value) {
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  std::uint32_t bits = value == Poison::nan ? 0x7FC0'0000U : 0x7F80'0000U;
  if (tensor.dtype == DType::f16) bits = value == Poison::nan ? 0x7E00'0000U : 0x7C00'0000U;
  if (value == Poison::minus_inf) bits |= 0x8000'0000U;
  if (bytes == 2) bits >>= 16;
  auto* at =
      const_cast<std::byte*>(tensor.data) + static_cast<std::size_t>(row * tensor.columns + column) * bytes;
  std::memcpy(at, &bits, bytes);  // the low bytes come first
}

void poison_head(const Checkpoint& checkpoint, BadLogits kind, Random& random) {
  const TensorView& head = checkpoint.weights.head;
  if (kind == BadLogits::one_nan || kind == BadLogits::inf)
    return poison(head, pick(random, 0, checkpoint.shape.vocab - 1), 0,
                  kind == BadLogits::inf ? Poison::inf : Poison::nan);
  for (std::int64_t token = 0; token < head.rows; ++token)
    poison(head, token, 0, kind == BadLogits::all_nan ? Poison::nan : Poison::minus_inf);
}

std::int32_t poison_layer(const Checkpoint& checkpoint, Random& random) {
  const std::int32_t layer = pick(random, 0, checkpoint.shape.n_layers - 1);
  const LayerWeights& weights = checkpoint.weights.layers[static_cast<std::size_t>(layer)];
  const TensorView& first = weights.gate.present() ? weights.gate : weights.up;
  const TensorView* const matrices[] = {&weights.q, &weights.k,  &weights.v,   &weights.o,
                                        &first,     &weights.up, &weights.down};
  const TensorView& matrix = *matrices[pick(random, 0, 6)];
  poison(matrix, pick(random, 0, static_cast<std::int32_t>(matrix.rows) - 1),
         pick(random, 0, static_cast<std::int32_t>(matrix.columns) - 1),
         chance(random, 0.5) ? Poison::nan : Poison::inf);
  return layer;
}

}  // namespace draftscope::engine::test
