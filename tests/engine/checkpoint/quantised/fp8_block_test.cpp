// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which folders of e4m3 with block scales stay as stored for the CUDA backend, with the same model and
// the same numbers.

#include <draftscope/engine/checkpoint.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "checkpoint/quantised/fp8_block.h"
#include "kept_layers.h"
#include "numbers/e4m3.h"

namespace draftscope::engine {
namespace {

using namespace draftscope::engine::tiny;

/// A folder of random codes in the layout of DeepSeek's and Qwen3's folders.
struct Fp8BlockFolder {
  std::uint64_t rows = 128;  ///< rows per block
  std::uint64_t columns = 128;
  std::string scales = "F32";
  std::string plain = "BF16";
  std::uint64_t width = 256;
  std::uint64_t inner = 384;
  std::vector<std::string> plain_modules{"lm_head"};  ///< the list `modules_to_not_convert`
  float scale = 0x1.23456p-9F;                        ///< scale of the last block of each matrix
};

void write_fp8(const std::filesystem::path& path, const Fp8BlockFolder& folder) {
  OneLayer layer(folder.width, folder.inner, folder.plain);
  const nlohmann::json quantisation{{"activation_scheme", "dynamic"},
                                    {"fmt", "e4m3"},
                                    {"modules_to_not_convert", folder.plain_modules},
                                    {"quant_method", "fp8"},
                                    {"weight_block_size", {folder.rows, folder.columns}}};
  layer.write(
      path, quantisation, [&](const std::string& module, std::uint64_t outputs, std::uint64_t inputs) {
        for (const std::string& name : folder.plain_modules)
          if (module.ends_with(name)) return layer.add_plain(module + ".weight", {outputs, inputs});
        std::string codes = layer.bytes(outputs * inputs);
        for (char& code : codes)
          if ((code & 0x7f) == 0x7f) code = 0;  // NaN
        layer.add({module + ".weight", "F8_E4M3", {outputs, inputs}, std::move(codes)});
        const std::uint64_t row_blocks = (outputs + folder.rows - 1) / folder.rows;
        const std::uint64_t column_blocks = (inputs + folder.columns - 1) / folder.columns;
        std::string scales = layer.numbers(row_blocks * column_blocks, folder.scales);
        const std::size_t bytes = folder.scales == "F32" ? 4 : 2;
        std::memcpy(scales.data() + scales.size() - bytes,
                    reinterpret_cast<const char*>(&folder.scale) + sizeof folder.scale - bytes, bytes);
        layer.add(
            {module + ".weight_scale_inv", folder.scales, {row_blocks, column_blocks}, std::move(scales)});
      });
}

bool stays_fp8_block(const Fp8BlockFolder& folder) {
  const TemporaryFolder place;
  write_fp8(place.path(), folder);
  EXPECT_EQ(opened(place.path(), BlockMatrices::widened).stored_as, "safetensors fp8");
  return keeps_layers(place.path(), folder.plain_modules.empty());
}

TEST(Fp8BlockFolders, StayAsTheyAreInBlocksThatCoverWholeScales) {
  EXPECT_TRUE(stays_fp8_block({}));
  EXPECT_TRUE(stays_fp8_block({.scales = "BF16", .plain_modules = {}}));
  EXPECT_TRUE(stays_fp8_block({.rows = 8, .columns = 256}));
  EXPECT_TRUE(stays_fp8_block({.rows = 384, .columns = 128}));
  EXPECT_TRUE(stays_fp8_block({.width = 96, .inner = 160}));
  EXPECT_TRUE(stays_fp8_block({.scale = -0x1p-140F}));
}

TEST(Fp8BlockFolders, AreWidenedWhereTheirNumbersAreNotFp8Blocks) {
  EXPECT_FALSE(stays_fp8_block({.rows = 128, .columns = 64}));
  EXPECT_FALSE(stays_fp8_block({.rows = 4, .columns = 128}));
  EXPECT_FALSE(stays_fp8_block({.rows = 1, .columns = 128}));
  EXPECT_FALSE(stays_fp8_block({.plain_modules = {"lm_head", "mlp.down_proj"}}));
  EXPECT_FALSE(stays_fp8_block({.plain = "F16"}));             // kernels of e4m3 do not take fp16 activations
  EXPECT_FALSE(stays_fp8_block({.width = 96, .inner = 136}));  // 136 is no multiple of 32 inputs
}

TEST(Fp8BlockFolders, SayWhatIsInTheWayWhereTheyAreWidened) {
  const auto reason = [](const Fp8BlockFolder& folder) {
    const TemporaryFolder place;
    write_fp8(place.path(), folder);
    return opened(place.path(), BlockMatrices::cuda_as_stored).why_widened;
  };
  EXPECT_EQ(reason({.columns = 64}),
            "model.layers.0.self_attn.q_proj.weight is fp8 [256, 256] with scales of [128, 64] in fp32 "
            "beside bf16");
  EXPECT_EQ(reason({.plain = "F16"}),
            "model.layers.0.self_attn.q_proj.weight is fp8 [256, 256] with scales of [128, 128] in fp32 "
            "beside fp16");
  EXPECT_EQ(reason({.plain_modules = {"lm_head", "mlp.down_proj"}}),
            "model.layers.0.mlp.down_proj.weight is plain");
}

TEST(Fp8BlockFolders, TakeWhatTheirFilesTake) {
  const TemporaryFolder place;
  write_fp8(place.path(), {.width = 512, .inner = 4096});
  const Checkpoint kept = opened(place.path(), BlockMatrices::cuda_as_stored);
  const TensorView& down = kept.weights.layers[0].down;
  EXPECT_EQ(down.row_bytes(), 4096U + 4096 / 128 * 4 / 128);
  expect_views_of_rows(down);
}

TEST(Fp8BlockFolders, AreNoneForTheCpu) {
  const TemporaryFolder place;
  write_fp8(place.path(), {});
  expect_none_for_the_cpu(place.path());
}

TEST(Fp8BlockMatrices, BeginAndEndWithWholeScales) {
  const std::vector<std::byte> codes(256 * 128);
  std::vector<float> scales(2, 0.25F);
  QuantisedMatrix matrix{.form = PackedForm::fp8, .bits = 8, .rows = 256, .columns = 128};
  matrix.values = codes.data();
  matrix.scales = reinterpret_cast<const std::byte*>(scales.data());
  matrix.scale_dtype = DType::f32;
  matrix.block = {128, 128};
  EXPECT_TRUE(is_fp8_block(matrix, 0));
  EXPECT_TRUE(is_fp8_block(matrix, 120));
  EXPECT_FALSE(is_fp8_block(matrix, 124));
  // Products with this scale may exceed the range of bf16.
  scales[1] = -0x1p101F;
  EXPECT_FALSE(is_fp8_block(matrix, 0));
  scales[1] = -0x1p100F;
  EXPECT_TRUE(is_fp8_block(matrix, 0));
  matrix.block = {256, 128};
  EXPECT_TRUE(is_fp8_block(matrix, 124));
  matrix.form = PackedForm::gptq;
  EXPECT_FALSE(is_fp8_block(matrix, 0));
}

TEST(E4m3, RoundsToTheNearestOfAllItsValues) {
  for (std::uint32_t code = 0; code < 0x7eU; ++code) {
    const float here = e4m3_value(static_cast<std::uint8_t>(code));
    const float next = e4m3_value(static_cast<std::uint8_t>(code + 1));
    const float middle = (here + next) / 2;
    EXPECT_EQ(nearest_e4m3_code(here), code);
    EXPECT_EQ(nearest_e4m3_code(-here), code | 0x80U);
    EXPECT_EQ(nearest_e4m3_code(std::nextafter(middle, 0.0F)), code);
    EXPECT_EQ(nearest_e4m3_code(middle), code + code % 2);  // ties go to the even code
    EXPECT_EQ(nearest_e4m3_code(std::nextafter(middle, next)), code + 1);
  }
  EXPECT_EQ(nearest_e4m3_code(1e30F), 0x7e);
  EXPECT_EQ(nearest_e4m3_code(-std::numeric_limits<float>::infinity()), 0xfe);
  EXPECT_EQ(nearest_e4m3_code(std::numeric_limits<float>::denorm_min()), 0);
}

}  // namespace
}  // namespace draftscope::engine
