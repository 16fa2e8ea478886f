// SPDX-License-Identifier: GPL-3.0-or-later
#include "packed_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <stdexcept>

#include "checkpoint/element_bits.h"
#include "checkpoint/gguf/widen.h"
#include "cpu/model.h"
#include "cpu/quantised/quantise.h"
#include "e4m3.h"
#include "formats/block_formats.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {

using speculation::WeightFormat;

void PackedModel::set_quantised(TensorView& tensor, const QuantisedMatrix& matrix) {
  tensor.quantised = &matrices_.emplace_back(matrix);
}

namespace {

/// Writes a number, rounded to a type, and returns the rounded number.
float put_number(std::byte* to, DType dtype, float value) {
  if (dtype == DType::f32) {
    std::memcpy(to, &value, sizeof value);
    return value;
  }
  const bool is_f16 = dtype == DType::f16;
  const std::uint16_t bits = is_f16 ? float_to_f16(value) : float_to_bf16(value);
  std::memcpy(to, &bits, sizeof bits);
  return is_f16 ? f16_to_float(bits) : bf16_to_float(bits);
}

/// A scale of random size and sign; one of twenty is zero, and one is a multiple of `tiny`.
float random_scale(Random& random, double size, float tiny, double step) {
  if (chance(random, 0.05)) return 0.0F;
  if (chance(random, 0.05)) return tiny * static_cast<float>(pick(random, -7, 7));
  const auto most = static_cast<std::int32_t>(std::lround(1.5 / step));
  const double scale = size * (0.25 + step * pick(random, 0, most)) * (chance(random, 0.2) ? -1.0 : 1.0);
  return static_cast<float>(scale);
}

/// The file's type of a format.
const gguf::BlockFormat& stored_format(WeightFormat format) {
  constexpr std::uint32_t types = 64;
  for (std::uint32_t type = 0; type < types; ++type)
    if (const gguf::BlockFormat* const found = gguf::find_block_format(type);
        found != nullptr && found->multiplied == format)
      return *found;
  throw std::logic_error("no file has such blocks");
}

/// Writes a block as files have it (formats/block_formats.cpp).
void write_block(WeightFormat format, const cpu::QuantisedBlock& block, std::byte* out) {
  std::memcpy(out, &block.scale, 2);
  for (std::size_t i = 0; i < block.quants.size(); ++i)
    if (format == WeightFormat::q8_0)
      out[2 + i] = static_cast<std::byte>(block.quants[i] ^ 0x80U);
    else
      out[2 + i % 16] |= static_cast<std::byte>(block.quants[i] << i / 16 * 4);
}

/// Gives both tensors a file's blocks; the second tensor gets them widened.
void set_blocks(PackedModel& model, TensorView& packed, TensorView& widened, const gguf::BlockFormat& stored,
                std::byte* blocks) {
  model.set_codes(packed, blocks);
  packed.blocks = &stored;
  widened.data = model.keep(gguf::widened_rows(packed, 0, packed.rows));
}

std::uint16_t random_q4_k_unit(Random& random, float size) {
  if (chance(random, 0.1)) return static_cast<std::uint16_t>(pick(random, 0, 3));  // Zero, subnormals.
  return float_to_f16(size * static_cast<float>(pick(random, -1000, 1000)) / 1000.0F);
}

std::vector<std::byte> random_q4_k(std::size_t count, Random& random) {
  const std::size_t block_bytes = stored_format(WeightFormat::q4_k).bytes;
  std::vector<std::byte> bytes(count * block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(pick(random, 0, 255));
  for (std::size_t block = 0; block < bytes.size(); block += block_bytes) {
    const std::uint16_t units[] = {random_q4_k_unit(random, 3e-4F), random_q4_k_unit(random, 2e-3F)};
    std::memcpy(bytes.data() + block, units, sizeof units);
  }
  return bytes;
}

/// Adds a 4-bit number to a word.
void put_nibble(std::byte* words, std::int64_t word, std::int64_t place, std::uint32_t number) {
  std::uint32_t value;
  std::memcpy(&value, words + 4 * word, sizeof value);
  value |= number << static_cast<std::uint32_t>(4 * place);
  std::memcpy(words + 4 * word, &value, sizeof value);
}

/// Adds a number of an output to words along the outputs.
void put_along_outputs(const Int4Form& form, std::byte* row, std::int64_t output, std::uint32_t number) {
  constexpr std::array<std::int64_t, 8> awq_order{0, 2, 4, 6, 1, 3, 5, 7};  // The output of each place.
  std::int64_t place = output % 8;
  if (form.form == PackedForm::awq)
    while (awq_order[static_cast<std::size_t>(place)] != output % 8) place = (place + 1) % 8;
  put_nibble(row, output / 8, place, number);
}

void pack_int4(PackedModel& model, TensorView& packed, TensorView& widened, const Int4Form& form,
               Random& random) {
  const std::int64_t rows = packed.rows;
  const std::int64_t columns = packed.columns;
  const std::int64_t group = form.group == 0 ? columns : form.group;
  const std::int64_t groups = (columns + group - 1) / group;
  const auto scale_bytes = static_cast<std::int64_t>(dtype_bytes(form.scales));
  std::byte* const values = model.allocate(rows * columns / 2);
  std::byte* const zeros = model.allocate(groups * rows / 2);
  std::byte* const scales = model.allocate(groups * rows * scale_bytes);
  std::byte* const numbers = model.allocate(rows * columns * 2);
  const double size = 0.15 / std::sqrt(static_cast<double>(columns));  // Sums are about one.
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto zero = static_cast<std::uint32_t>((g * rows + row) % 16);
      // fp16 can represent this number, too.
      const float scale = bf16_to_float(float_to_bf16(random_scale(random, size, 0x1p-24F, 0.001)));
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
        put_number(numbers + (row * columns + k) * 2, packed.dtype, static_cast<float>(exact));
      }
    }
  model.set_codes(packed, values);
  model.set_quantised(packed, {.form = form.form,
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

void pack_fp8_block(PackedModel& model, TensorView& packed, TensorView& widened, const Fp8BlockForm& form,
                    Random& random) {
  static const std::vector<float> values = e4m3_values();
  const std::int64_t rows = packed.rows;
  const std::int64_t columns = packed.columns;
  const std::int64_t row_blocks = (rows + form.block.rows - 1) / form.block.rows;
  const std::int64_t column_blocks = (columns + form.block.columns - 1) / form.block.columns;
  const auto scale_bytes = static_cast<std::int64_t>(dtype_bytes(form.scales));
  std::byte* const codes = model.allocate(rows * columns);
  std::byte* const scales = model.allocate(row_blocks * column_blocks * scale_bytes);
  std::byte* const numbers = model.allocate(rows * columns * 2);
  const double size = 0.01 / std::sqrt(static_cast<double>(columns));  // Sums are about one.
  std::vector<float> known;
  for (std::int64_t i = 0; i < row_blocks * column_blocks; ++i)
    known.push_back(
        put_number(scales + i * scale_bytes, form.scales, random_scale(random, size, 0x1p-130F, 0.0001)));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < columns; ++k) {
      const std::int64_t at = row * columns + k;
      const auto drawn = static_cast<std::uint32_t>(pick(random, 0, 255));
      const std::uint32_t code = (drawn & 0x7fU) == 0x7fU ? 0U : drawn;  // NaN codes are excluded.
      codes[at] = static_cast<std::byte>(code);
      const double magnitude = values[code & 0x7fU];
      const float scale =
          known[static_cast<std::size_t>(row / form.block.rows * column_blocks + k / form.block.columns)];
      // The product of 4 and 24 bits is exact in double; it is rounded to fp32 and then to the widened type.
      const auto weight = static_cast<float>((code & 0x80U) != 0 ? -magnitude * scale : magnitude * scale);
      put_number(numbers + 2 * at, DType::bf16, weight);
    }
  model.set_codes(packed, codes);
  model.set_quantised(packed, {.form = PackedForm::fp8,
                               .bits = 8,
                               .rows = rows,
                               .columns = columns,
                               .values = codes,
                               .scales = scales,
                               .scale_dtype = form.scales,
                               .block = form.block});
  widened.data = numbers;
}

}  // namespace

PackedModel in_blocks(const Checkpoint& plain, WeightFormat format) {
  PackedModel model(plain);
  const gguf::BlockFormat& stored = stored_format(format);
  const auto pack = [&](TensorView& packed, TensorView& widened) {
    std::vector<float> row(static_cast<std::size_t>(packed.columns));
    const std::size_t row_blocks = row.size() / cpu::block_depth;
    std::byte* const blocks =
        model.allocate(packed.rows * static_cast<std::int64_t>(row_blocks * stored.bytes));
    std::byte* out = blocks;
    for (std::int64_t r = 0; r < packed.rows; ++r) {
      copy_row(packed, r, row.data());
      for (std::size_t block = 0; block < row_blocks; ++block, out += stored.bytes)
        write_block(format,
                    cpu::quantise_block(*cpu::packed_layout(format), row.data() + block * cpu::block_depth,
                                        cpu::block_depth),
                    out);
    }
    set_blocks(model, packed, widened, stored, blocks);
  };
  model.for_each_layer_matrix(pack);
  if (plain.weights.head.data != plain.weights.embedding.data)
    pack(model.packed().weights.head, model.widened().weights.head);
  return model;
}

PackedModel in_q4_k(const Checkpoint& plain, Random& random, double plain_share) {
  PackedModel model(plain);
  bool any = false;
  for (std::size_t i = 0; i < plain.weights.layers.size(); ++i) {
    const auto pack_some = [&](std::initializer_list<TensorView LayerWeights::*> together, bool must) {
      if (!must && chance(random, plain_share)) return;
      for (TensorView LayerWeights::*const matrix : together) {
        TensorView& packed = model.packed().weights.layers[i].*matrix;
        const std::size_t blocks = static_cast<std::size_t>(packed.rows * packed.columns) /
                                   stored_format(WeightFormat::q4_k).weights;
        set_blocks(model, packed, model.widened().weights.layers[i].*matrix,
                   stored_format(WeightFormat::q4_k), model.keep(random_q4_k(blocks, random)));
      }
      any = true;
    };
    for (TensorView LayerWeights::*const matrix :
         {&LayerWeights::q, &LayerWeights::k, &LayerWeights::v, &LayerWeights::o, &LayerWeights::down})
      pack_some({matrix}, false);
    pack_some({&LayerWeights::gate, &LayerWeights::up}, i + 1 == plain.weights.layers.size() && !any);
  }
  return model;
}

PackedModel in_int4(const Checkpoint& plain, const Int4Form& form, Random& random) {
  PackedModel model(plain);
  const auto pack = [&](TensorView& packed, TensorView& widened) {
    pack_int4(model, packed, widened, form, random);
  };
  model.for_each_layer_matrix(pack);
  if (form.packs_head) pack(model.packed().weights.head, model.widened().weights.head);
  return model;
}

PackedModel in_fp8_block(const Checkpoint& plain, const Fp8BlockForm& form, Random& random) {
  PackedModel model(plain);
  const auto pack = [&](TensorView& packed, TensorView& widened) {
    pack_fp8_block(model, packed, widened, form, random);
  };
  model.for_each_layer_matrix(pack);
  if (form.packs_head) pack(model.packed().weights.head, model.widened().weights.head);
  return model;
}

PackedModel in_e4m3(const Checkpoint& plain) {
  PackedModel model(plain);
  const std::vector<float> values = e4m3_values();
  model.for_each_layer_matrix([&](TensorView& packed, TensorView& /*widened*/) {
    std::vector<float> row(static_cast<std::size_t>(packed.columns));
    std::byte* const codes = model.allocate(packed.rows * packed.columns);
    auto* const scales =
        reinterpret_cast<float*>(model.allocate(packed.rows * static_cast<std::int64_t>(sizeof(float))));
    for (std::int64_t r = 0; r < packed.rows; ++r) {
      copy_row(packed, r, row.data());
      float largest = 0.0F;
      for (const float x : row) largest = std::max(largest, std::abs(x));
      scales[r] = largest > 0.0F ? largest / values.back() : 1.0F;
      for (std::int64_t k = 0; k < packed.columns; ++k)
        codes[r * packed.columns + k] =
            static_cast<std::byte>(nearest_e4m3(row[static_cast<std::size_t>(k)] / scales[r], values));
    }
    model.set_codes(packed, codes);
    model.set_quantised(packed, {.form = PackedForm::fp8,
                                 .bits = 8,
                                 .rows = packed.rows,
                                 .columns = packed.columns,
                                 .values = codes,
                                 .scales = reinterpret_cast<const std::byte*>(scales),
                                 .scale_dtype = DType::f32,
                                 .block = {1, packed.columns},
                                 .has_output_scales = true});
  });
  return model;
}

}  // namespace draftscope::engine::test
