// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_fp8_block.h"

#include <cmath>
#include <cstring>

#include "e4m3.h"
#include "layer_matrices.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

std::uint32_t random_code(Random& random) {
  const auto code = static_cast<std::uint32_t>(pick(random, 0, 255));
  return (code & 0x7fU) == 0x7fU ? 0U : code;
}

float random_block_scale(Random& random, double size) {
  if (chance(random, 0.05)) return 0.0F;
  if (chance(random, 0.05)) return 0x1p-130F * static_cast<float>(pick(random, -7, 7));
  const double scale = size * (0.25 + 0.0001 * pick(random, 0, 15000)) * (chance(random, 0.2) ? -1.0 : 1.0);
  return static_cast<float>(scale);
}

/// Returns it as the type has it.
float put_scale(std::byte* to, DType dtype, float value) {
  if (dtype == DType::f32) {
    std::memcpy(to, &value, sizeof value);
    return value;
  }
  const std::uint16_t bits = float_to_bf16(value);
  std::memcpy(to, &bits, sizeof bits);
  return bf16_to_float(bits);
}

}  // namespace

InFp8Block::InFp8Block(const Checkpoint& plain, const Fp8BlockForm& form, Random& random)
    : packed_(plain), widened_(plain) {
  for_each_layer_matrix(packed_, widened_, [&](TensorView& packed, TensorView& widened) {
    pack(packed, widened, form, random);
  });
  if (form.packs_head) pack(packed_.weights.head, widened_.weights.head, form, random);
}

std::byte* InFp8Block::keep(std::int64_t bytes) {
  memory_.push_back(std::make_unique<std::vector<std::byte>>(static_cast<std::size_t>(bytes)));
  return memory_.back()->data();
}

void InFp8Block::pack(TensorView& packed, TensorView& widened, const Fp8BlockForm& form, Random& random) {
  static const std::vector<float> values = e4m3_values();
  const std::int64_t rows = packed.rows;
  const std::int64_t columns = packed.columns;
  const std::int64_t row_blocks = (rows + form.block.rows - 1) / form.block.rows;
  const std::int64_t column_blocks = (columns + form.block.columns - 1) / form.block.columns;
  const auto scale_bytes = static_cast<std::int64_t>(dtype_bytes(form.scales));
  std::byte* const codes = last_codes_ = keep(rows * columns);
  std::byte* const scales = keep(row_blocks * column_blocks * scale_bytes);
  std::byte* const numbers = keep(rows * columns * 2);
  const double size = 0.01 / std::sqrt(static_cast<double>(columns));  // sums of about one
  std::vector<float> known;
  for (std::int64_t i = 0; i < row_blocks * column_blocks; ++i)
    known.push_back(put_scale(scales + i * scale_bytes, form.scales, random_block_scale(random, size)));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::int64_t at = row * columns + k;
      const std::uint32_t code = random_code(random);
      codes[at] = static_cast<std::byte>(code);
      const double magnitude = values[code & 0x7fU];
      const float scale =
          known[static_cast<std::size_t>(row / form.block.rows * column_blocks + k / form.block.columns)];
      // The product of 4 and 24 bits is exact in double: rounded to fp32, and then to the widened type.
      const auto weight = static_cast<float>((code & 0x80U) != 0 ? -magnitude * scale : magnitude * scale);
      const std::uint16_t bits = float_to_bf16(weight);
      std::memcpy(numbers + 2 * at, &bits, sizeof bits);
    }
  packed.data = codes;
  packed.quantised = &matrices_.emplace_back(QuantisedMatrix{.form = PackedForm::fp8,
                                                             .bits = 8,
                                                             .rows = rows,
                                                             .columns = columns,
                                                             .values = codes,
                                                             .scales = scales,
                                                             .scale_dtype = form.scales,
                                                             .block = form.block});
  widened.data = numbers;
}

}  // namespace draftscope::engine::test
