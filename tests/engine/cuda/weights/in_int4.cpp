// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_int4.h"

#include <array>
#include <cmath>
#include <cstring>

#include "layer_matrices.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

/// The output that each place of a word of AWQ's holds.
constexpr std::array<std::int64_t, 8> awq_order{0, 2, 4, 6, 1, 3, 5, 7};

void put_nibble(std::byte* words, std::int64_t word, std::int64_t place, std::uint32_t number) {
  std::uint32_t value;
  std::memcpy(&value, words + 4 * word, sizeof value);
  value |= number << static_cast<std::uint32_t>(4 * place);
  std::memcpy(words + 4 * word, &value, sizeof value);
}

/// Puts a number of an output into words along the outputs.
void put_along_outputs(const Int4Form& form, std::byte* row, std::int64_t output, std::uint32_t number) {
  std::int64_t place = output % 8;
  if (form.form == PackedForm::awq)
    while (awq_order[static_cast<std::size_t>(place)] != output % 8) place = (place + 1) % 8;
  put_nibble(row, output / 8, place, number);
}

/// A number of a type that fp16 has, too.
float random_scale(Random& random, double size) {
  if (chance(random, 0.05)) return 0.0F;
  if (chance(random, 0.05)) return 0x1p-24F * static_cast<float>(pick(random, -7, 7));
  const double scale = size * (0.25 + 0.001 * pick(random, 0, 1500)) * (chance(random, 0.2) ? -1.0 : 1.0);
  return bf16_to_float(float_to_bf16(static_cast<float>(scale)));
}

void put_number(std::byte* to, DType dtype, float value) {
  if (dtype == DType::f32) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const std::uint16_t bits = dtype == DType::f16 ? float_to_f16(value) : float_to_bf16(value);
  std::memcpy(to, &bits, sizeof bits);
}

}  // namespace

InInt4::InInt4(const Checkpoint& plain, const Int4Form& form, Random& random)
    : packed_(plain), widened_(plain) {
  for_each_layer_matrix(packed_, widened_, [&](TensorView& packed, TensorView& widened) {
    pack(packed, widened, form, random);
  });
  if (form.packs_head) pack(packed_.weights.head, widened_.weights.head, form, random);
}

std::byte* InInt4::keep(std::size_t bytes) {
  memory_.push_back(std::make_unique<std::vector<std::byte>>(bytes));
  return memory_.back()->data();
}

void InInt4::pack(TensorView& packed, TensorView& widened, const Int4Form& form, Random& random) {
  const std::int64_t rows = packed.rows;
  const std::int64_t columns = packed.columns;
  const std::int64_t group = form.group == 0 ? columns : form.group;
  const std::int64_t groups = (columns + group - 1) / group;
  const auto scale_bytes = static_cast<std::int64_t>(dtype_bytes(form.scales));
  std::byte* const values = keep(static_cast<std::size_t>(rows * columns / 2));
  std::byte* const zeros = keep(static_cast<std::size_t>(groups * rows / 2));
  std::byte* const scales = keep(static_cast<std::size_t>(groups * rows * scale_bytes));
  std::byte* const numbers = keep(static_cast<std::size_t>(rows * columns) * dtype_bytes(packed.dtype));
  const double size = 0.15 / std::sqrt(static_cast<double>(columns));  // sums of about one
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto zero = static_cast<std::uint32_t>((g * rows + row) % 16);
      const float scale = random_scale(random, size);
      put_along_outputs(form, zeros + g * rows / 2, row,
                        (zero - static_cast<std::uint32_t>(form.zero_offset)) & 15U);
      put_number(scales + (g * rows + row) * scale_bytes, form.scales, scale);
      for (std::int64_t k = g * group; k < std::min(columns, (g + 1) * group); ++k) {
        const auto number = static_cast<std::uint32_t>(pick(random, 0, 15));
        if (form.form == PackedForm::awq)
          put_along_outputs(form, values + k * rows / 2, row, number);
        else
          put_nibble(values, k / 8 * rows + row, k % 8, number);
        const double exact = (static_cast<double>(number) - static_cast<double>(zero)) * scale;
        put_number(numbers + (row * columns + k) * static_cast<std::int64_t>(dtype_bytes(packed.dtype)),
                   packed.dtype, static_cast<float>(exact));
      }
    }
  packed.data = values;
  packed.quantised = &matrices_.emplace_back(QuantisedMatrix{.form = form.form,
                                                             .rows = rows,
                                                             .columns = columns,
                                                             .values = values,
                                                             .scales = scales,
                                                             .scale_dtype = form.scales,
                                                             .block = {1, group},
                                                             .zeros = zeros,
                                                             .zero_offset = form.zero_offset});
  widened.data = numbers;
}

}  // namespace draftscope::engine::test
