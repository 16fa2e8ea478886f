// SPDX-License-Identifier: GPL-3.0-or-later
// Codes of 4 bits that the kernels' PTX makes numbers of: of every code and zero point and of some of all
// scales what fp32 makes of them, rounded once.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cpu/kernels/bf16.h"
#include "cuda/kernels/grouped_layout.h"
#include "ptx_files.h"
#include "ptx_gpu.h"

namespace draftscope::engine::test {
namespace {

using cuda::WeightFormat;

/// A matrix in groups whose rows are of a run each, and hold every code.
struct RowsOfCodes {
  std::vector<std::uint16_t> scales;  ///< a row's, as fp16
  std::vector<std::int32_t> zeros;

  [[nodiscard]] std::int32_t rows() const { return static_cast<std::int32_t>(scales.size()); }
};

constexpr std::int32_t depth_of_rows = 128;

/// Scales from the smallest to the largest of either sign, a prime number of them apart.
RowsOfCodes rows_of_codes(WeightFormat format) {
  RowsOfCodes made;
  std::int32_t zero = 0;
  for (std::uint32_t bits = 0; bits < 1U << 16U; bits += 83) {
    if ((bits & 0x7c00U) == 0x7c00U) continue;
    made.scales.push_back(static_cast<std::uint16_t>(bits));
    made.zeros.push_back(format == WeightFormat::q4_0 ? 8 : zero);
    zero = (zero + 1) % 17;
  }
  return made;
}

std::uint32_t code_at(std::int32_t k) {
  return static_cast<std::uint32_t>(k % 16);
}

std::vector<std::byte> packed_rows(const RowsOfCodes& made, WeightFormat format) {
  const cuda::GroupedLayout& layout = *cuda::grouped_layout(format);
  std::vector<std::byte> packed(layout.bytes(made.rows(), depth_of_rows));
  for (std::int32_t row = 0; row < made.rows(); ++row) {
    for (std::int32_t k = 0; k < depth_of_rows; ++k) {
      std::byte* const part = packed.data() + row * 64 + k % 32 / 8 * 16 + k / 32 * 4;
      std::uint32_t word = 0;
      std::memcpy(&word, part, sizeof word);
      word |= code_at(k) << (k % 2 * 16 + k % 8 / 2 * 4);
      std::memcpy(part, &word, sizeof word);
    }
    const std::uint32_t scale = made.scales[static_cast<std::size_t>(row)];
    const std::uint32_t upper =
        format == WeightFormat::q4_0
            ? scale
            : cuda::int4_offset(static_cast<std::uint32_t>(made.zeros[static_cast<std::size_t>(row)]));
    const std::uint32_t word = scale | upper << 16U;
    std::byte* const scales = packed.data() + layout.scales_offset(made.rows(), depth_of_rows, row);
    for (std::size_t at = 0; at < cuda::scale_bytes; at += sizeof word)
      std::memcpy(scales + at, &word, sizeof word);
  }
  return packed;
}

/// The numbers that the kernel makes of a matrix.
Result<std::vector<std::uint16_t>> widened_by_ptx(const std::vector<std::byte>& packed, std::int32_t rows,
                                                  WeightFormat format) {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<cuda::Gpu> gpu,
                        cuda::emulation::make_ptx_gpu(ptx_files().compute_90, {}));
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(rows) * depth_of_rows);
  const std::size_t bytes = numbers.size() * sizeof(std::uint16_t);
  DRAFTSCOPE_TRY_ASSIGN(void* const values, gpu->allocate(packed.size(), "codes"));
  DRAFTSCOPE_TRY_ASSIGN(void* const widened, gpu->allocate(bytes, "numbers"));
  DRAFTSCOPE_TRY(gpu->upload(values, packed.data(), packed.size()));
  const cuda::QuantiseParams params{.values = static_cast<std::uint8_t*>(values),
                                    .widened = static_cast<std::uint16_t*>(widened),
                                    .rows = rows,
                                    .depth = depth_of_rows};
  DRAFTSCOPE_TRY(gpu->launch({.kernel = cuda::Kernel::widen_groups, .format = format, .blocks = 4}, params));
  DRAFTSCOPE_TRY(gpu->download(numbers.data(), widened, bytes));
  DRAFTSCOPE_TRY(gpu->synchronise());
  gpu->release(values);
  gpu->release(widened);
  return numbers;
}

TEST(KernelsAsPtx, WidenCodesOfFourBitsToNumbersThatAreRoundedOnce) {
  DRAFTSCOPE_NEEDS_PTX();
  for (const WeightFormat format : {WeightFormat::int4_f16, WeightFormat::int4, WeightFormat::q4_0}) {
    const RowsOfCodes made = rows_of_codes(format);
    const auto numbers = widened_by_ptx(packed_rows(made, format), made.rows(), format);
    ASSERT_TRUE(numbers) << numbers.error().message;
    int wrong = 0;
    for (std::size_t i = 0; i < numbers->size(); ++i) {
      const std::size_t row = i / depth_of_rows;
      const auto code = static_cast<std::int32_t>(code_at(static_cast<std::int32_t>(i % depth_of_rows)));
      const float exact = static_cast<float>(code - made.zeros[row]) * cpu::f16_to_float(made.scales[row]);
      const std::uint16_t expected =
          format == WeightFormat::int4_f16 ? cpu::float_to_f16(exact) : cpu::float_to_bf16(exact);
      // Zeros of bf16 may have either sign.
      const bool both_zeros = format != WeightFormat::int4_f16 && (((*numbers)[i] | expected) & 0x7fffU) == 0;
      if ((*numbers)[i] != expected && !both_zeros) ++wrong;
    }
    EXPECT_EQ(wrong, 0) << "of " << numbers->size() << " in format " << static_cast<int>(format);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
