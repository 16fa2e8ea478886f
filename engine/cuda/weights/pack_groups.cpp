// SPDX-License-Identifier: GPL-3.0-or-later
#include "pack_groups.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>

#include "checkpoint/element_bits.h"
#include "checkpoint/quantised/quantised_matrix.h"
#include "cpu/model.h"
#include "cpu/quantised/packed_matrix.h"
#include "cpu/quantised/quantise.h"
#include "formats/block_formats.h"
#include "numbers/bf16.h"
#include "two_levels.h"

namespace draftscope::engine::cuda {

namespace {

static_assert(cpu::block_depth == part_depth);

/// Names in files, by cuda::WeightFormat.
constexpr speculation::WeightFormat stored_names[] = {
#define DRAFTSCOPE_STORED(name, Struct, groups, stored) speculation::WeightFormat::stored,
    DRAFTSCOPE_WEIGHT_FORMATS(DRAFTSCOPE_STORED)
#undef DRAFTSCOPE_STORED
};

bool is_finite(const cpu::QuantisedBlock& block) {
  return std::isfinite(f16_to_float(block.scale)) && std::isfinite(f16_to_float(block.minimum));
}

/// Rows of a matrix on their way.
class Packing {
 public:
  Packing(const TensorView& source, const cpu::PackedLayout& blocks, const GroupedLayout& layout)
      : source_(source), blocks_(blocks), layout_(layout), out_(layout.bytes(source.rows, source.columns)) {}

  /// False if a group holds what is no finite number.
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

std::optional<WeightFormat> grouped_format(speculation::WeightFormat format, DType activations) {
  if (format == speculation::WeightFormat::int4 && activations == DType::f16) return WeightFormat::int4_f16;
  for (std::size_t i = 0; i < std::size(stored_names); ++i)
    if (const auto held = static_cast<WeightFormat>(i);
        stored_names[i] == format && grouped_layout(held) != nullptr)
      return held;
  return std::nullopt;
}

speculation::WeightFormat stored_name(WeightFormat format) {
  return stored_names[static_cast<std::size_t>(format)];
}

bool takes_plain_beside(WeightFormat format) {
  return speculation::weight_format_row(stored_name(format)).mixes_on_gpu;
}

std::optional<WeightFormat> stored_groups(const TensorView& tensor) {
  if (tensor.is_fp8()) return std::nullopt;
  if (tensor.quantised != nullptr)
    return tensor.quantised->form == PackedForm::fp8
               ? WeightFormat::fp8_block
               : grouped_format(speculation::WeightFormat::int4, tensor.dtype);
  if (tensor.blocks == nullptr || !tensor.blocks->multiplied) return std::nullopt;
  return grouped_format(*tensor.blocks->multiplied);
}

std::optional<WeightFormat> head_groups(const TensorView& head) {
  const auto groups = stored_groups(head);
  return groups && takes_plain_beside(*groups) ? std::nullopt : groups;
}

std::optional<std::vector<std::byte>> pack_groups(const TensorView& matrix, WeightFormat format) {
  if (stored_name(format) == speculation::WeightFormat::int4) return pack_int4(matrix);
  if (format == WeightFormat::fp8_block) return pack_fp8_block(matrix);
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
