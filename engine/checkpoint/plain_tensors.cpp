// SPDX-License-Identifier: GPL-3.0-or-later
#include "plain_tensors.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "element_bits.h"
#include "numbers/bf16.h"
#include "row_parts.h"

namespace draftscope::engine {
namespace {

/// Rounds to fp32 so that rounding the result again, to fewer bits, is as if it were rounded once: towards
/// zero, with the last bit set if anything was lost ("round to odd").
float round_to_odd(double number) {
  const auto nearest = static_cast<float>(number);
  if (static_cast<double>(nearest) == number || std::isnan(number)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(number)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

/// Writes `count` numbers of a tensor from `first` on, in its wanted type.
void write_numbers(const PlainTensor& tensor, std::int64_t first, std::int64_t count, std::byte* out) {
  const DType wanted = tensor.slot->view->dtype;
  const auto stored_bytes = static_cast<std::int64_t>(tensor.is_fp64 ? 8 : dtype_bytes(tensor.dtype));
  const auto wanted_bytes = static_cast<std::int64_t>(dtype_bytes(wanted));
  const std::byte* const data = tensor.data + first * stored_bytes;
  if (!tensor.is_fp64 && tensor.dtype == wanted) {
    std::memcpy(out, data, static_cast<std::size_t>(count * stored_bytes));
    return;
  }
  std::array<float, 1024> wide{};
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t run = std::min(count - done, static_cast<std::int64_t>(wide.size()));
    const std::byte* const stored = data + done * stored_bytes;
    if (tensor.is_fp64) {
      for (std::int64_t i = 0; i < run; ++i) {
        const auto number = load_unaligned<double>(stored + 8 * i);
        wide[static_cast<std::size_t>(i)] =
            wanted == DType::f32 ? static_cast<float>(number) : round_to_odd(number);
      }
    } else {
      copy_row({stored, tensor.dtype, 1, run}, 0, wide.data());
    }
    store_values(std::span(wide).first(static_cast<std::size_t>(run)), wanted, out + done * wanted_bytes);
    done += run;
  }
}

double number_at(const PlainTensor& tensor, std::int64_t element) {
  if (tensor.is_fp64) return load_unaligned<double>(tensor.data + 8 * element);
  float number = 0.0F;
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  copy_row({tensor.data + element * bytes, tensor.dtype, 1, 1}, 0, &number);
  return number;
}

/// Fails on a number that became an infinity.
Result<void> check_range(const PlainCopy& copy) {
  const TensorView& view = *copy.tensor.slot->view;
  const auto element = first_non_finite({copy.out, view.dtype, view.rows, view.columns});
  if (!element) return {};
  const double stored = number_at(copy.tensor, *element);
  if (!std::isfinite(stored)) return {};  // check_finite() says so, as of any other tensor.
  return fail("{}: tensor {}: element {} is {}, expected numbers that {} holds, the type of most matrices",
              copy.tensor.file, copy.tensor.slot->name, *element, stored, dtype_name(view.dtype));
}

}  // namespace

bool PlainTensor::is_usable_as(DType wanted) const {
  return !is_fp64 && dtype == wanted && reinterpret_cast<std::uintptr_t>(data) % dtype_bytes(dtype) == 0;
}

std::string expected_extents(const TensorSlot& slot) {
  return slot.is_vector() ? fmt::format("[{}]", slot.columns)
                          : fmt::format("[{}, {}]", slot.rows_in_file(), slot.columns);
}

Result<PlainTensor> plain_tensor(const TensorSlot& slot, const FileTensor& place) {
  const auto& [shard, entry] = place;
  const auto& extents = entry->shape;
  const auto rows = static_cast<std::uint64_t>(slot.rows_in_file());
  const auto columns = static_cast<std::uint64_t>(slot.columns);
  // A number may have no dimensions.
  const bool matches = slot.is_number() && extents.empty() ? true
                       : slot.is_vector()
                           ? extents.size() == 1 && extents[0] == columns
                           : extents.size() == 2 && extents[0] == rows && extents[1] == columns;
  if (!matches)
    return fail("{}: tensor {}: shape is [{}], expected {}", shard->file, slot.name, fmt::join(extents, ", "),
                expected_extents(slot));
  PlainTensor tensor{&slot, place.data(), DType::f32, entry->dtype == "F64", shard->file};
  if (!tensor.is_fp64) {
    DRAFTSCOPE_TRY_ASSIGN(tensor.dtype, parse_dtype(place));
  }
  const auto bytes = static_cast<std::int64_t>(tensor.is_fp64 ? 8 : dtype_bytes(tensor.dtype));
  tensor.data += slot.first_row * slot.columns * bytes;
  return tensor;
}

DType matrix_type(const std::vector<PlainTensor>& tensors) {
  const bool has_layers = std::any_of(tensors.begin(), tensors.end(), [](const PlainTensor& tensor) {
    return tensor.slot->layer >= 0 && !tensor.slot->is_vector();
  });
  std::vector<std::pair<DType, std::int64_t>> weights;
  for (const PlainTensor& tensor : tensors) {
    const TensorSlot& slot = *tensor.slot;
    if (slot.is_vector() || (has_layers && slot.layer < 0)) continue;
    const auto known = std::find_if(weights.begin(), weights.end(),
                                    [&](const auto& type) { return type.first == tensor.dtype; });
    auto& [type, count] = known == weights.end() ? weights.emplace_back(tensor.dtype, 0) : *known;
    count += slot.rows * slot.columns;
  }
  if (weights.empty()) return DType::bf16;
  return std::max_element(weights.begin(), weights.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

Result<void> write_copies(const std::vector<PlainCopy>& copies) {
  constexpr std::int64_t part_numbers = std::int64_t{1} << 22;
  const auto parts = row_parts(copies, part_numbers,
                               [](const PlainCopy& copy) -> const TensorSlot& { return *copy.tensor.slot; });
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const RowPart& part = parts[index];
    const PlainCopy& copy = copies[part.tensor];
    const TensorView& view = *copy.tensor.slot->view;
    const std::int64_t first = part.first_row * view.columns;
    write_numbers(copy.tensor, first, part.rows * view.columns,
                  copy.out + first * static_cast<std::int64_t>(dtype_bytes(view.dtype)));
  });
  for (const PlainCopy& copy : copies) DRAFTSCOPE_TRY(check_range(copy));
  return {};
}

std::vector<std::string> copy_lines(const std::vector<PlainCopy>& copies) {
  std::vector<std::string> lines;
  std::size_t unaligned = 0;
  std::size_t bytes = 0;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<std::string_view>> converted;
  for (const auto& [tensor, out] : copies) {
    const TensorView& view = *tensor.slot->view;
    if (tensor.is_fp64 || tensor.dtype != view.dtype) {
      converted[{tensor.type_name(), dtype_name(view.dtype)}].push_back(tensor.slot->name);
      continue;
    }
    ++unaligned;
    bytes += view.bytes();
  }
  if (unaligned > 0)
    lines.push_back(fmt::format("copied {} bytes of {} tensors, whose data is not aligned to their numbers",
                                bytes, unaligned));
  for (const auto& [types, names] : converted)
    lines.push_back(fmt::format("converted {} tensor{} ({}{}) from {} to {}", names.size(),
                                names.size() == 1 ? "" : "s", names.front(), names.size() == 1 ? "" : ", …",
                                types.first, types.second));
  return lines;
}

}  // namespace draftscope::engine
