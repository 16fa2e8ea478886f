// SPDX-License-Identifier: GPL-3.0-or-later
#include "stored_formats.h"

#include <fmt/format.h>

#include "cuda_shapes.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

constexpr Fp8BlockForm fp8_block_forms[] = {
    {},
    {.scales = DType::bf16},
    {.block = {64, 256}, .packs_head = true},
    {.block = {8, 128}},
    {.block = {1 << 20, 128}, .packs_head = true},
};

constexpr Int4Form int4_forms[] = {
    {.form = PackedForm::awq},
    {.form = PackedForm::gptq, .zero_offset = 1},
    {.form = PackedForm::gptq, .group = 256, .scales = DType::bf16, .packs_head = true},
    {.form = PackedForm::awq, .group = 0, .scales = DType::f32},
    {.form = PackedForm::gptq, .group = 384, .packs_head = true},
};

StoredFormat blocks(WeightFormat format, double device_bits) {
  const std::string name(speculation::weight_format_name(format));
  const auto pack = [format](const Checkpoint& plain, Random& /*random*/) {
    return in_blocks(plain, format);
  };
  return {.name = name,
          .variants = {{.name = name, .pack = pack, .rounds = 6, .deep_rounds = 8}},
          .some = {0},
          .strategy_step = 2,
          .device_bits = device_bits};
}

StoredFormat fp8_block() {
  StoredFormat format{
      .name = "fp8_block", .some = {0}, .max_family_rows = 12, .strategy_step = 3, .device_bits = 8.5};
  for (const Fp8BlockForm& form : fp8_block_forms)
    format.variants.push_back({.name = fmt::format("blocks of {} x {}", form.block.rows, form.block.columns),
                               .pack = [form](const Checkpoint& plain, Random& random) {
                                 return in_fp8_block(plain, form, random);
                               }});
  return format;
}

StoredFormat int4() {
  // The forms of AWQ and GPTQ are used with activations of each type.
  StoredFormat format{.name = "int4", .vocab_step = 8, .some = {0, 6, 5, 1}, .device_bits = 4.25};
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const Int4Form& form : int4_forms)
      format.variants.push_back(
          {.name = fmt::format("{} in groups of {}, {}", form.form == PackedForm::awq ? "awq" : "gptq",
                               form.group, dtype_name(dtype)),
           .dtype = dtype,
           .pack = [form](const Checkpoint& plain, Random& random) { return in_int4(plain, form, random); }});
  return format;
}

/// Some models are packed whole, others as files have it with plain matrices: q, k and v in two formats, and
/// differences between layers.
StoredFormat q4_k() {
  const auto pack = [](double plain_share) {
    return [plain_share](const Checkpoint& plain, Random& random) {
      return in_q4_k(plain, random, plain_share);
    };
  };
  return {.name = "q4_k",
          .depth_step = 256,
          .variants = {{.name = "whole", .pack = pack(0.0), .rounds = 3, .deep_rounds = 5},
                       {.name = "beside plain matrices", .pack = pack(0.4), .rounds = 2, .deep_rounds = 2}},
          .some = {1},
          .max_rows = 40,
          .max_family_rows = 12,
          .strategy_step = 5,
          .text_tokens = 4,
          .device_bits = 4.75};
}

}  // namespace

std::vector<StoredFormat> stored_formats() {
  return {blocks(WeightFormat::q8_0, 8.5), blocks(WeightFormat::q4_0, 4.5), fp8_block(), int4(), q4_k()};
}

speculation::ModelShape random_shape_of(const StoredFormat& format, Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  if (format.depth_step == 32) {
    shape.d_model = 32 * pick(random, 1, 6);
    shape.d_ff = 32 * pick(random, 1, 9);
    shape.vocab = format.vocab_step * pick(random, 1, 160 / format.vocab_step);
    return shape;
  }
  // The output projection's depth must be a multiple, too.
  shape.n_layers = pick(random, 1, 2);
  shape.head_dim = 32 << pick(random, 0, 2);
  shape.n_heads = format.depth_step / shape.head_dim;
  shape.n_kv_heads = pick(random, 1, 2);
  shape.d_model = format.depth_step;
  shape.d_ff = format.depth_step * pick(random, 1, 2);
  shape.vocab = pick(random, 4, 40);
  return shape;
}

}  // namespace draftscope::engine::test
