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
#include <span>
#include <utility>
#include <vector>

#include "checkpoint/element_bits.h"
#include "checkpoint/quantised/fp8_block.h"
#include "checkpoint/quantised/quantised_matrix.h"
#include "numbers/bf16.h"
#include "numbers/e4m3.h"

namespace draftscope::engine::cuda {

namespace {

static_assert(fp8_block_layout.sharing_rows == fp8_block_outputs && fp8_block_depth == fp8_block_inputs &&
              part_depth == fp8_block_granule);

constexpr std::int64_t rounded_rows = 128;  ///< Rows that share a scale when plain numbers are rounded.

/// Values of k that share a scale, in one row; codes are padded with zeros.
struct Fp8Group {
  std::array<std::uint8_t, fp8_block_depth> codes{};
  float scale = 0.0F;
};

/// Whether all numbers of a group are finite in bf16, too.
bool is_finite(const Fp8Group& group) {
  std::uint8_t largest = 0;
  for (const std::uint8_t code : group.codes) largest = std::max<std::uint8_t>(largest, code & 0x7fU);
  if (largest == e4m3_nan) return false;
  return std::isfinite(bf16_to_float(float_to_bf16(e4m3_value(largest) * group.scale)));
}

/// A matrix that is being packed.
class Fp8BlockPacking {
 public:
  explicit Fp8BlockPacking(const TensorView& source)
      : source_(source),
        is_moved_(source.quantised != nullptr && source.quantised->form == PackedForm::fp8),
        out_(fp8_block_layout.bytes(source.rows, source.columns)) {}

  /// Packs rows [first, end), starting at a multiple of rounded_rows. False if a number is not finite.
  bool pack(std::int64_t first, std::int64_t end) { return is_moved_ ? move(first, end) : round(first, end); }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

 private:
  [[nodiscard]] std::int64_t columns_from(std::int64_t first) const {
    return std::min<std::int64_t>(fp8_block_depth, source_.columns - first);
  }

  bool move(std::int64_t first, std::int64_t end) {
    const QuantisedMatrix& matrix = *source_.quantised;
    bool finite = true;
    for (std::int64_t row = first; row < end; ++row) {
      const std::int64_t stored = source_.first_row + row;
      for (std::int64_t k = 0; k < source_.columns; k += fp8_block_depth) {
        Fp8Group group{.scale = fp8_scale(matrix, stored, k)};
        std::memcpy(group.codes.data(), matrix.values + stored * matrix.columns + k,
                    static_cast<std::size_t>(columns_from(k)));
        put(row, k, group);
        finite &= is_finite(group);
      }
    }
    return finite;
  }

  bool round(std::int64_t first, std::int64_t end) {
    const auto columns = static_cast<std::size_t>(source_.columns);
    std::vector<float> values(static_cast<std::size_t>(end - first) * columns);
    for (std::int64_t row = first; row < end; ++row)
      copy_row(source_, row, values.data() + static_cast<std::size_t>(row - first) * columns);
    bool finite = std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
    for (std::int64_t k = 0; finite && k < source_.columns; k += fp8_block_depth) {
      const auto row_values = [&](std::int64_t row) {
        return std::span(values.data() + static_cast<std::size_t>((row - first) * source_.columns + k),
                         static_cast<std::size_t>(columns_from(k)));
      };
      float largest = 0.0F;
      for (std::int64_t row = first; row < end; ++row)
        for (const float value : row_values(row)) largest = std::max(largest, std::abs(value));
      Fp8Group group{.scale = largest / largest_e4m3_value};
      for (std::int64_t row = first; row < end; ++row) {
        std::transform(row_values(row).begin(), row_values(row).end(), group.codes.begin(), [&](float value) {
          return group.scale == 0.0F ? std::uint8_t{0} : nearest_e4m3_code(value / group.scale);
        });
        put(row, k, group);
        finite &= is_finite(group);
      }
    }
    return finite;
  }

  void put(std::int64_t row, std::int64_t k, const Fp8Group& group) {
    std::array<std::uint8_t, fp8_block_depth> words{};
    for (std::size_t i = 0; i < words.size(); i += sizeof(std::uint32_t)) {
      const std::uint32_t word = e4m3_word(group.codes.data() + i);
      std::memcpy(words.data() + i, &word, sizeof word);
    }
    constexpr std::int64_t run_depth = fp8_block_layout.run_depth();
    std::byte* const codes = out_.data() + row * fp8_block_layout.row_bytes(source_.columns);
    for (std::int64_t at = 0; at < columns_from(k); at += part_depth)
      put_codes(fp8_block_layout, words.data() + at, (k + at) % run_depth / part_depth,
                codes + (k + at) / run_depth * run_bytes);
    if (row % fp8_block_layout.sharing_rows != 0) return;
    const float times_256 = group.scale * 256.0F;
    std::byte* const scales = out_.data() +
                              fp8_block_layout.scales_offset(source_.rows, source_.columns, row) +
                              k / fp8_block_layout.scale_depth * GroupedLayout::scale_step;
    std::memcpy(scales + k % fp8_block_layout.scale_depth / fp8_block_depth *
                             static_cast<std::int64_t>(sizeof times_256),
                &times_256, sizeof times_256);
  }

  const TensorView& source_;
  bool is_moved_;
  std::vector<std::byte> out_;
};

}  // namespace

std::optional<std::vector<std::byte>> pack_fp8_block(const TensorView& matrix) {
  Fp8BlockPacking packing(matrix);
  std::atomic<bool> finite = true;
  const auto parts = static_cast<std::size_t>((matrix.rows + rounded_rows - 1) / rounded_rows);
  for_each_index(parts, usable_processors(), [&](std::size_t part) {
    const std::int64_t first = static_cast<std::int64_t>(part) * rounded_rows;
    if (!packing.pack(first, std::min(matrix.rows, first + rounded_rows))) finite = false;
  });
  if (!finite) return std::nullopt;
  return packing.take();
}

std::optional<Fp8Rows> pack_fp8(const TensorView& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  const auto columns = static_cast<std::size_t>(matrix.columns);
  Fp8Rows packed{std::vector<std::byte>(rows * columns), std::vector<float>(rows)};
  if (matrix.is_fp8()) {
    if (first_non_finite(matrix)) return std::nullopt;  // Kernels would read NaN codes as 480.
    std::memcpy(packed.codes.data(), matrix.data + matrix.first_row * matrix.columns, packed.codes.size());
    output_scales(*matrix.quantised, matrix.first_row, matrix.rows, packed.scales.data());
    return packed;
  }
  TensorView plain = matrix;
  std::vector<std::byte> wide;
  if (!matrix.is_plain()) {  // Its numbers are first rounded to the widened type.
    wide = widened_rows(matrix, 0, matrix.rows);
    plain = {wide.data(), matrix.dtype, matrix.rows, matrix.columns};
  }
  std::atomic<bool> finite = true;
  for_each_index(rows, usable_processors(), [&](std::size_t row) {
    std::vector<float> values(columns);
    copy_row(plain, static_cast<std::int64_t>(row), values.data());
    float largest = 0.0F;
    for (const float value : values) {
      largest = std::max(largest, std::abs(value));
      if (!std::isfinite(value)) finite = false;
    }
    const float scale = largest > 0.0F ? largest / largest_e4m3_value : 1.0F;
    packed.scales[row] = scale;
    std::transform(values.begin(), values.end(),
                   packed.codes.begin() + static_cast<std::ptrdiff_t>(row * columns),
                   [scale](float value) { return static_cast<std::byte>(nearest_e4m3_code(value / scale)); });
  });
  return finite ? std::optional(std::move(packed)) : std::nullopt;
}

}  // namespace draftscope::engine::cuda
