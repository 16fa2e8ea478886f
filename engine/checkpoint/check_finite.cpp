// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>

#include <draftscope/base/parallel.h>
#include <cstring>
#include <mutex>

#include "checkpoint/element_bits.h"
#include "element_bits.h"
#include "row_parts.h"
#include "tensor_slots.h"

namespace draftscope::engine {
namespace {

/// Name of the value of an element that is not finite: "nan", "inf" or "-inf".
std::string_view value_name(const TensorView& tensor, std::int64_t element) {
  if (tensor.is_fp8()) return "nan";  // e4m3 has no infinities.
  if (!tensor.is_plain()) {
    const auto row = widened_rows(tensor, element / tensor.columns, 1);
    return value_name({row.data(), tensor.dtype, 1, tensor.columns}, element % tensor.columns);
  }
  const std::byte* at = tensor.data + static_cast<std::size_t>(element) * dtype_bytes(tensor.dtype);
  std::uint32_t bits = 0;
  if (tensor.dtype == DType::f32) {
    std::memcpy(&bits, at, 4);
  } else {
    std::uint16_t half = 0;
    std::memcpy(&half, at, 2);
    bits = std::uint32_t{half} << 16;
  }
  const std::uint32_t mantissa = tensor.dtype == DType::f16 ? 0x03FF'0000U : 0x007F'FFFFU;
  if ((bits & mantissa) != 0) return "nan";
  return bits >> 31 == 0 ? "inf" : "-inf";
}

/// Whether a slot is in a place as non_finite_weight() counts layers; tied weights have no separate head.
bool is_of(const TensorSlot& slot, std::int32_t layer, const speculation::ModelShape& shape) {
  if (slot.kind == TensorKind::embedding)
    return layer == -1 || (layer == shape.n_layers && shape.tied_embeddings);
  return (slot.layer < 0 ? shape.n_layers : slot.layer) == layer;
}

}  // namespace

Result<void> check_finite(const Checkpoint& checkpoint) {
  // There is nothing to read, and the recipe has no infinities.
  if (!checkpoint.matrices_in_memory) return {};
  const auto tensors = named_tensors(checkpoint.shape, checkpoint.weights);
  constexpr std::int64_t part_elements = std::int64_t{1} << 23;  // about 16 MB
  const auto parts = row_parts(tensors, part_elements,
                               [](const NamedTensor& tensor) -> const TensorView& { return tensor.view; });
  std::mutex mutex;
  std::size_t worst = parts.size();  // The lowest failing part, in any order of threads.
  std::int64_t element = 0;
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const auto& part = parts[index];
    const auto view = tensors[part.tensor].view.rows_from(part.first_row, part.rows);
    const auto found = first_non_finite(view);
    if (!found) return;
    const std::scoped_lock lock(mutex);
    if (index >= worst) return;
    worst = index;
    element = part.first_row * view.columns + *found;
  });
  if (worst == parts.size()) return {};
  const auto& [name, view] = tensors[parts[worst].tensor];
  return fail("{}: tensor {}: row {} column {} is not finite, expected finite numbers",
              checkpoint.synthetic ? checkpoint.shape.name : checkpoint.path.string(), name,
              element / view.columns, element % view.columns);
}

std::string non_finite_weight(const Checkpoint& checkpoint, std::int32_t layer) {
  if (!checkpoint.matrices_in_memory) return {};
  Weights copy = checkpoint.weights;  // Only views are needed, but the slots require writable ones.
  for (const TensorSlot& slot : tensor_slots(checkpoint.shape, copy)) {
    if (!slot.view->present() || !is_of(slot, layer, checkpoint.shape)) continue;
    if (const auto found = first_non_finite(*slot.view))
      return fmt::format("{} holds {}", slot.name, value_name(*slot.view, *found));
  }
  return {};
}

}  // namespace draftscope::engine
