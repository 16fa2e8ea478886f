// SPDX-License-Identifier: GPL-3.0-or-later
#include "pack_groups.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "checkpoint/element_bits.h"
#include "checkpoint/quantised/int4.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cuda {

namespace {

static_assert(int4_layout.run_depth() == int4_group && part_depth == int4_granule);

/// Rows that are packed together: a cache line of words that lie along the outputs.
constexpr std::int64_t int4_rows_together = 128;
constexpr std::uint32_t largest_int4 = 15;

/// A run of a row; its codes are padded with zeros.
struct Int4Run {
  std::array<std::uint8_t, int4_group> numbers{};
  std::uint16_t scale = 0;  ///< fp16
  std::uint32_t zero = 0;
};

/// Rounds to the nearest of sixteen even steps; none if a number is not finite, or their range exceeds
/// fp16's.
std::optional<Int4Run> rounded_to_int4(std::span<const float> values) {
  float least = 0.0F;
  float largest = 0.0F;
  for (const float value : values) {
    if (!std::isfinite(value)) return std::nullopt;
    least = std::min(least, value);
    largest = std::max(largest, value);
  }
  Int4Run run;
  run.scale = float_to_f16((largest - least) / static_cast<float>(largest_int4));
  const float scale = f16_to_float(run.scale);
  if (!std::isfinite(scale)) return std::nullopt;
  if (scale == 0.0F) return run;
  const auto number = [](float steps) {
    return static_cast<std::uint32_t>(std::clamp(std::nearbyint(steps), 0.0F, float{largest_int4}));
  };
  run.zero = number(-least / scale);
  for (std::size_t i = 0; i < values.size(); ++i)
    run.numbers[i] = static_cast<std::uint8_t>(number(values[i] / scale + static_cast<float>(run.zero)));
  return run;
}

/// A matrix that is being packed.
class Int4Packing {
 public:
  explicit Int4Packing(const TensorView& source)
      : source_(source), out_(int4_layout.bytes(source.rows, source.columns)) {}

  /// Packs rows [first, end). False if a group has a number that is not finite.
  bool pack(std::int64_t first, std::int64_t end) {
    const bool is_moved = source_.quantised != nullptr && source_.quantised->form != PackedForm::fp8;
    return is_moved ? move(first, end) : round(first, end);
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

 private:
  [[nodiscard]] std::int64_t columns_from(std::int64_t first) const {
    return std::min(int4_group, source_.columns - first);
  }

  bool move(std::int64_t first, std::int64_t end) {
    const QuantisedMatrix& matrix = *source_.quantised;
    std::array<std::uint8_t, int4_rows_together * int4_group> numbers{};
    bool finite = true;
    for (std::int64_t k = 0; k < source_.columns; k += int4_group) {
      const std::int64_t columns = columns_from(k);
      unpack_numbers(matrix, {source_.first_row + first, end - first, k, columns}, numbers.data());
      for (std::int64_t row = first; row < end; ++row) {
        const GroupScale own = int4_scale(matrix, source_.first_row + row, k / int4_group);
        Int4Run run{.scale = float_to_f16(own.scale), .zero = static_cast<std::uint32_t>(own.zero)};
        std::copy_n(numbers.data() + (row - first) * columns, columns, run.numbers.data());
        put(row, k, run);
        finite &= std::isfinite(own.scale);
      }
    }
    return finite;
  }

  bool round(std::int64_t first, std::int64_t end) {
    std::vector<float> values(static_cast<std::size_t>(source_.columns));
    for (std::int64_t row = first; row < end; ++row) {
      copy_row(source_, row, values.data());
      for (std::int64_t k = 0; k < source_.columns; k += int4_group) {
        const auto run = rounded_to_int4({values.data() + k, static_cast<std::size_t>(columns_from(k))});
        if (!run) return false;
        put(row, k, *run);
      }
    }
    return true;
  }

  void put(std::int64_t row, std::int64_t k, const Int4Run& run) {
    std::byte* const codes =
        out_.data() + row * int4_layout.row_bytes(source_.columns) + k / int4_layout.run_depth() * run_bytes;
    for (std::int64_t part = 0; part * part_depth < int4_group; ++part)
      put_codes(int4_layout, run.numbers.data() + part * part_depth, part, codes);
    const std::uint32_t word = run.scale | int4_offset(run.zero) << 16U;
    std::byte* const scales = out_.data() + int4_layout.scales_offset(source_.rows, source_.columns, row) +
                              k / int4_layout.scale_depth * GroupedLayout::scale_step;
    std::memcpy(scales + k % int4_layout.scale_depth / int4_group * static_cast<std::int64_t>(sizeof word),
                &word, sizeof word);
  }

  const TensorView& source_;
  std::vector<std::byte> out_;
};

}  // namespace

std::optional<std::vector<std::byte>> pack_int4(const TensorView& matrix) {
  Int4Packing packing(matrix);
  std::atomic<bool> finite = true;
  const auto parts = static_cast<std::size_t>((matrix.rows + int4_rows_together - 1) / int4_rows_together);
  for_each_index(parts, usable_processors(), [&](std::size_t part) {
    const std::int64_t first = static_cast<std::int64_t>(part) * int4_rows_together;
    if (!packing.pack(first, std::min(matrix.rows, first + int4_rows_together))) finite = false;
  });
  if (!finite) return std::nullopt;
  return packing.take();
}

}  // namespace draftscope::engine::cuda
