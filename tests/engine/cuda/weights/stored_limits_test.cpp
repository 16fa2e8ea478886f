// SPDX-License-Identifier: GPL-3.0-or-later
// Device memory of matrices that stay as a file packs them, and when they are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdint>
#include <cstring>
#include <string>

#include "cuda/backend.h"
#include "cuda/weights/model_upload.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "poison.h"
#include "stored_formats.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;
using testing::HasSubstr;

constexpr std::size_t plenty_of_memory = std::size_t{1} << 30;
constexpr const char* several_formats =
    "model tiny: matrices are in several formats of blocks, expected one of fp8_block, q8_0, q4_0, int4 "
    "for all of the layers', of q4_k for some, or none on a cuda device";

/// The formats of a model's weights on a device with that much memory ("int4, fp16"), or the error if it is
/// refused.
std::string device_weights(const Checkpoint& checkpoint, CudaWeights weights = {},
                           std::size_t memory_bytes = plenty_of_memory) {
  const auto made = cuda::make_backend(cuda::emulation::make_emulated_gpu(2, memory_bytes), checkpoint,
                                       {.cache_rows = 9, .weights = weights});
  return made ? (*made)->describe().weights : made.error().message;
}

/// Widths that are multiples of all formats' groups, so that nothing is padded.
speculation::ModelShape shape_of_whole_groups() {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.d_model = 512;
  shape.d_ff = 1024;
  shape.n_heads = 16;
  shape.n_kv_heads = 4;
  shape.vocab = 64;
  return shape;
}

class StoredLimits : public testing::TestWithParam<StoredFormat> {
 protected:
  PackedModel made(const StoredVariant& variant) {
    return variant.pack(random_checkpoint(shape_of_whole_groups(), variant.dtype, 1), random_);
  }
  Random random_{171};
};

/// The backend takes the bytes that it announces. From some size on a device takes the packed model; one byte
/// less is refused for lack of memory, and so is the same model widened.
TEST_P(StoredLimits, AreTheirBitsPerWeight) {
  for (const std::size_t index : GetParam().some) {
    const StoredVariant& variant = GetParam().variants[index];
    SCOPED_TRACE(variant.name);
    PackedModel model = made(variant);
    double saved_bits = 0.0;
    const auto add = [&](const TensorView& matrix) {
      if (!matrix.is_plain())
        saved_bits += static_cast<double>(matrix.rows * matrix.columns) * (16.0 - GetParam().device_bits);
    };
    model.for_each_layer_matrix([&](TensorView& packed, TensorView& /*widened*/) { add(packed); });
    add(model.packed().weights.head);
    ASSERT_GT(saved_bits, 0.0);
    const std::size_t bytes = cuda::upload_bytes(model.packed(), CudaWeights()).kept;
    EXPECT_EQ(bytes + static_cast<std::size_t>(saved_bits / 8.0),
              cuda::upload_bytes(model.widened(), CudaWeights()).kept);
    EXPECT_EQ(backend_on_device(model.packed(), {.cache_rows = 9})->describe().weight_bytes, bytes);
    const std::string name = GetParam().name + ", " + std::string(dtype_name(variant.dtype));
    std::size_t too_little = 0;
    std::size_t enough = plenty_of_memory;
    while (enough - too_little > 1) {
      const std::size_t middle = too_little + (enough - too_little) / 2;
      (device_weights(model.packed(), {}, middle) == name ? enough : too_little) = middle;
    }
    EXPECT_EQ(device_weights(model.packed(), {}, enough), name);
    EXPECT_THAT(device_weights(model.packed(), {}, too_little), HasSubstr(" of device memory ("));
    EXPECT_THAT(device_weights(model.widened(), {}, enough), HasSubstr(" of device memory ("));
  }
}

TEST_P(StoredLimits, RefuseOtherFormatsBesideThem) {
  PackedModel model = made(GetParam().variants[0]);
  LayerWeights& last = model.packed().weights.layers.back();
  if (GetParam().name != "q4_k") {
    last.up = model.widened().weights.layers.back().up;
    EXPECT_EQ(device_weights(model.packed()), several_formats);
    return;
  }
  PackedModel blocks = in_blocks(model.widened(), WeightFormat::q8_0);
  const TensorView down = std::exchange(last.down, blocks.packed().weights.layers.back().down);
  EXPECT_EQ(device_weights(model.packed()), several_formats);
  last.down = down;
  last.up = model.widened().weights.layers.back().up;
  EXPECT_EQ(device_weights(model.packed()),
            "model tiny: gate and up of a layer are in two formats, expected one on a cuda device");
}

INSTANTIATE_TEST_SUITE_P(Formats, StoredLimits, testing::ValuesIn(stored_formats()),
                         [](const auto& format) { return format.param.name; });

TEST(StoredLimitsOf, RefuseNumbersThatAreNotFinite) {
  const Checkpoint plain = random_checkpoint(shape_of_whole_groups(), DType::bf16, 1);
  for (const WeightFormat format : {WeightFormat::q8_0, WeightFormat::q4_0}) {
    PackedModel model = in_blocks(plain, format);
    const std::uint16_t infinity = 0x7c00;
    std::memcpy(model.last_codes(), &infinity, sizeof infinity);
    EXPECT_THAT(device_weights(model.packed()), HasSubstr(" holds "));
    EXPECT_THAT(device_weights(model.packed()), HasSubstr(", expected finite numbers"));
  }
  Random random(212);
  for (const std::uint8_t nan : {0x7f, 0xff}) {
    PackedModel model = in_fp8_block(plain, {}, random);
    model.last_codes()[77] = std::byte{nan};
    EXPECT_THAT(device_weights(model.packed()),
                HasSubstr("mlp.down_proj.weight holds nan, expected finite numbers"));
  }
  poison(plain.weights.layers.back().down, 3, 5, Poison::inf);
  for (const WeightFormat format : {WeightFormat::fp8, WeightFormat::q8_0, WeightFormat::int4})
    EXPECT_THAT(device_weights(plain, format),
                HasSubstr("mlp.down_proj.weight holds inf, expected finite numbers"));
}

TEST(StoredLimitsOf, RefuseAPackedEmbedding) {
  Random random(172);
  PackedModel model = in_int4(random_checkpoint(shape_of_whole_groups(), DType::bf16, 1), {}, random);
  model.packed().weights.embedding.quantised = model.packed().weights.layers[0].q.quantised;
  EXPECT_EQ(device_weights(model.packed()),
            "model tiny: the embedding or the head is in blocks, expected it widened on a cuda device");
}

/// A device has a zero point of 16 bits where a file of int4 has 4.
TEST(StoredLimitsOf, OfInt4AreHardlyMoreThanTheFiles) {
  Random random(171);
  PackedModel model = in_int4(random_checkpoint(shape_of_whole_groups(), DType::f16, 1), {}, random);
  const double stored = 4.0 + (16.0 + 4.0) / 128.0;
  EXPECT_DOUBLE_EQ(model.packed().weights.layers[0].down.weight_bits(), stored);
  EXPECT_LT(speculation::weight_format_row(WeightFormat::int4).bits / stored, 1.023);
}

TEST(StoredLimitsOf, LetPlainNumbersOfEitherTypeBeRounded) {
  for (const WeightFormat format : {WeightFormat::int4, WeightFormat::fp8_block})
    for (const DType dtype : {DType::bf16, DType::f16})
      EXPECT_EQ(device_weights(random_checkpoint(shape_of_whole_groups(), dtype, 1), format),
                std::string(weight_format_name(format)) + ", " + std::string(dtype_name(dtype)));
}

}  // namespace
}  // namespace draftscope::engine::test
