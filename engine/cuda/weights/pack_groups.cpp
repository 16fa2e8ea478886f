// SPDX-License-Identifier: GPL-3.0-or-later
#include "pack_groups.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>

#include "checkpoint/element_bits.h"
#include "checkpoint/quantised/quantised_matrix.h"
#include "cpu/model.h"
#include "cpu/quantised/quantise.h"
#include "formats/block_formats.h"
#include "formats/packed_layout.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cuda {

namespace {

static_assert(cpu::block_depth == part_depth);

/// Names in files, by cuda::KernelFormat.
constexpr speculation::WeightFormat stored_names[] = {
#define DRAFTSCOPE_STORED(name, Struct, groups, stored) speculation::WeightFormat::stored,
    DRAFTSCOPE_KERNEL_FORMATS(DRAFTSCOPE_STORED)
#undef DRAFTSCOPE_STORED
};

bool is_finite(const cpu::QuantisedBlock& block) {
  return std::isfinite(f16_to_float(block.scale)) && std::isfinite(f16_to_float(block.minimum));
}

// Scales and minima of Q4_K (kernels/grouped_layout.h): 256 weights have two fp16 numbers. Each 32 of the
// weights have a scale and a minimum of 6 bits, which are multiples of these numbers.

constexpr float largest_code = 15.0F;
constexpr float largest_multiple = 63.0F;

struct Reach {
  float least = 0.0F;
  float largest = 0.0F;
  [[nodiscard]] float step() const { return (largest - least) / largest_code; }
};

/// Range of the weights and zero; both ends are NaN if a weight is NaN.
Reach reach_of(std::span<const float> weights) {
  Reach reach;
  for (const float weight : weights) {
    if (std::isnan(weight)) return {weight, weight};
    reach.least = std::min(reach.least, weight);
    reach.largest = std::max(reach.largest, weight);
  }
  return reach;
}

/// The nearest of 0 … `most`; 0 if the unit is zero or the result is not a number.
float multiple(float value, float unit, float most) {
  if (unit == 0.0F) return 0.0F;
  const float nearest = std::nearbyint(value / unit);
  return nearest > 0.0F ? std::min(nearest, most) : 0.0F;
}

/// Rounds 256 weights: each 32 to sixteen even steps from their minimum, or from 0, to their maximum; the
/// step sizes are rounded to multiples. Fewer weights are padded with zeros. Scales are not finite if a
/// weight is not, or if they exceed fp16's range.
std::array<cpu::QuantisedBlock, cpu::blocks_of_two_levels> round_to_two_levels(
    std::span<const float> weights) {
  std::array<cpu::QuantisedBlock, cpu::blocks_of_two_levels> blocks;
  const auto part_of = [&](std::size_t part) {
    const std::size_t first = std::min(weights.size(), part * part_depth);
    return weights.subspan(first, std::min<std::size_t>(part_depth, weights.size() - first));
  };
  float step = 0.0F;
  float least = 0.0F;
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    const Reach reach = reach_of(part_of(part));
    step = std::isnan(step) ? step : std::max(reach.step(), step);  // std::max() returns a NaN first value.
    least = std::min(reach.least, least);
  }
  const std::uint16_t unit = float_to_f16(step / largest_multiple);
  const std::uint16_t unit_of_minima = float_to_f16(-least / largest_multiple);
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    const std::span<const float> own = part_of(part);
    const Reach reach = reach_of(own);
    cpu::QuantisedBlock& block = blocks[part];
    block.scale = unit;
    block.minimum = unit_of_minima;
    const float scale = multiple(reach.step(), f16_to_float(unit), largest_multiple);
    const float minimum = multiple(-reach.least, f16_to_float(unit_of_minima), largest_multiple);
    block.own_scales[0] = static_cast<std::int8_t>(scale);
    block.own_minimum = static_cast<std::int8_t>(minimum);
    for (std::size_t i = 0; i < own.size(); ++i)
      block.quants[i] = static_cast<std::uint8_t>(multiple(own[i] + f16_to_float(unit_of_minima) * minimum,
                                                           f16_to_float(unit) * scale, largest_code));
  }
  return blocks;
}

/// Writes the fields of part `part` of 256 weights into their scale_bytes, which are zeros where no part was
/// written.
void put_two_levels(const cpu::QuantisedBlock& block, std::size_t part, std::byte* scales) {
  std::memcpy(scales, &block.scale, sizeof block.scale);
  std::memcpy(scales + sizeof block.scale, &block.minimum, sizeof block.minimum);
  const unsigned scale = static_cast<std::uint8_t>(block.own_scales[0]);
  const unsigned minimum = static_cast<std::uint8_t>(block.own_minimum);
  std::byte* const low_scales = scales + 4;
  std::byte* const low_minima = scales + 8;
  std::byte* const upper = scales + 12;
  constexpr std::size_t half = cpu::blocks_of_two_levels / 2;
  if (part < half) {
    low_scales[part] |= static_cast<std::byte>(scale);
    low_minima[part] |= static_cast<std::byte>(minimum);
    return;
  }
  low_scales[part - half] |= static_cast<std::byte>(scale >> 4U << 6U);
  low_minima[part - half] |= static_cast<std::byte>(minimum >> 4U << 6U);
  upper[part - half] = static_cast<std::byte>((scale & 15U) | (minimum & 15U) << 4U);
}

/// Rows of a matrix that is being packed.
class Packing {
 public:
  Packing(const TensorView& source, const cpu::PackedLayout& blocks, const GroupedLayout& layout)
      : source_(source), blocks_(blocks), layout_(layout), out_(layout.bytes(source.rows, source.columns)) {}

  /// Packs a row. False if a group has a number that is not finite.
  bool pack(std::int64_t row) {
    const bool is_moved = source_.blocks != nullptr && source_.blocks->multiplied == blocks_.format;
    return is_moved ? move(row) : round(row);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

 private:
  bool move(std::int64_t row) {
    const std::byte* const stored = source_.data + static_cast<std::size_t>(row) * source_.row_bytes();
    bool finite = true;
    for (std::int64_t block = 0; block * part_depth < source_.columns; ++block)
      finite &= put(row, block, source_.blocks->read(stored, block));
    return finite;
  }

  bool round(std::int64_t row) {
    std::vector<float> values(static_cast<std::size_t>(source_.columns));
    copy_row(source_, row, values.data());
    if (blocks_.has_two_levels()) return round_to_levels(row, values);
    bool finite = true;
    for (std::int64_t block = 0; block * part_depth < source_.columns; ++block)
      finite &= put(row, block, cpu::quantise_block(blocks_, values.data() + block * part_depth, part_depth));
    return finite;
  }

  bool round_to_levels(std::int64_t row, std::span<const float> values) {
    constexpr std::size_t together = cpu::blocks_of_two_levels * part_depth;
    bool finite = true;
    for (std::size_t k = 0; k < values.size(); k += together) {
      const auto rounded = round_to_two_levels(values.subspan(k, std::min(together, values.size() - k)));
      for (std::size_t part = 0; part < rounded.size() && k + part * part_depth < values.size(); ++part)
        finite &= put(row, static_cast<std::int64_t>(k / part_depth + part), rounded[part]);
    }
    return finite;
  }

  bool put(std::int64_t row, std::int64_t block, const cpu::QuantisedBlock& values) {
    const std::int64_t k = block * part_depth;
    std::byte* const run =
        out_.data() + row * layout_.row_bytes(source_.columns) + k / layout_.run_depth() * run_bytes;
    put_codes(layout_, values.quants.data(), k % layout_.run_depth() / part_depth, run);
    std::byte* const scales = out_.data() + layout_.scales_offset(source_.rows, source_.columns, row) +
                              k / layout_.scale_depth * GroupedLayout::scale_step;
    const std::int64_t part = k % layout_.scale_depth / part_depth;
    if (blocks_.has_two_levels())
      put_two_levels(values, static_cast<std::size_t>(part), scales);
    else
      std::memcpy(scales + part * 2, &values.scale, sizeof values.scale);
    return is_finite(values);
  }

  const TensorView& source_;
  const cpu::PackedLayout& blocks_;
  const GroupedLayout& layout_;
  std::vector<std::byte> out_;
};

}  // namespace

void put_codes(const GroupedLayout& layout, const std::uint8_t* codes, std::int64_t part, std::byte* run) {
  constexpr std::size_t lane_values = part_depth / run_lanes;
  for (std::size_t lane = 0; lane < run_lanes; ++lane, codes += lane_values) {
    std::byte* const chunk = run + lane * chunk_bytes + part * layout.code_bits;
    if (layout.code_bits == 8) {
      std::memcpy(chunk, codes, lane_values);
      continue;
    }
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < lane_values; ++i) word |= std::uint32_t{codes[i]} << code_place(i);
    std::memcpy(chunk, &word, sizeof word);
  }
}

std::optional<KernelFormat> grouped_format(speculation::WeightFormat format, DType activations) {
  if (format == speculation::WeightFormat::int4 && activations == DType::f16) return KernelFormat::int4_f16;
  for (std::size_t i = 0; i < std::size(stored_names); ++i)
    if (const auto held = static_cast<KernelFormat>(i);
        stored_names[i] == format && grouped_layout(held) != nullptr)
      return held;
  return std::nullopt;
}

speculation::WeightFormat stored_name(KernelFormat format) {
  return stored_names[static_cast<std::size_t>(format)];
}

bool takes_plain_beside(KernelFormat format) {
  return speculation::weight_format_row(stored_name(format)).mixes_on_gpu;
}

std::optional<KernelFormat> stored_groups(const TensorView& tensor) {
  if (tensor.is_fp8()) return std::nullopt;
  if (tensor.quantised != nullptr)
    return tensor.quantised->form == PackedForm::fp8
               ? KernelFormat::fp8_block
               : grouped_format(speculation::WeightFormat::int4, tensor.dtype);
  if (tensor.blocks == nullptr || !tensor.blocks->multiplied) return std::nullopt;
  return grouped_format(*tensor.blocks->multiplied);
}

std::optional<KernelFormat> head_groups(const TensorView& head) {
  const auto groups = stored_groups(head);
  return groups && takes_plain_beside(*groups) ? std::nullopt : groups;
}

std::optional<std::vector<std::byte>> pack_groups(const TensorView& matrix, KernelFormat format) {
  if (stored_name(format) == speculation::WeightFormat::int4) return pack_int4(matrix);
  if (format == KernelFormat::fp8_block) return pack_fp8_block(matrix);
  Packing packing(matrix, *cpu::packed_layout(stored_name(format)), *grouped_layout(format));
  std::atomic<bool> finite = true;
  constexpr std::int64_t rows_at_a_time = 64;
  const auto parts = static_cast<std::size_t>((matrix.rows + rows_at_a_time - 1) / rows_at_a_time);
  for_each_index(parts, usable_processors(), [&](std::size_t part) {
    const std::int64_t first = static_cast<std::int64_t>(part) * rows_at_a_time;
    const std::int64_t end = std::min(matrix.rows, first + rows_at_a_time);
    for (std::int64_t row = first; row < end; ++row)
      if (!packing.pack(row)) finite = false;
  });
  if (!finite) return std::nullopt;
  return packing.take();
}

}  // namespace draftscope::engine::cuda
