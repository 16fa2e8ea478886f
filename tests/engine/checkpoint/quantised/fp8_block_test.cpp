// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which folders of e4m3 with block scales stay as stored for the CUDA backend, with the same model and
// the same numbers.

#include <draftscope/engine/checkpoint.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "checkpoint/quantised/fp8_block.h"
#include "kept_layers.h"
#include "numbers/e4m3.h"
#include "tiny_checkpoint.h"

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

class Fp8BlockWriter {
 public:
  explicit Fp8BlockWriter(const Fp8BlockFolder& folder) : folder_(folder) {}

  void write(const std::filesystem::path& path) {
    visit_one_layer(
        folder_.width, folder_.inner,
        [this](const std::string& name, std::vector<std::uint64_t> shape) { plain(name, std::move(shape)); },
        [this](const std::string& module, std::uint64_t outputs, std::uint64_t inputs) {
          matrix(module, outputs, inputs);
        });
    const nlohmann::json quantisation{{"activation_scheme", "dynamic"},
                                      {"fmt", "e4m3"},
                                      {"modules_to_not_convert", folder_.plain_modules},
                                      {"quant_method", "fp8"},
                                      {"weight_block_size", {folder_.rows, folder_.columns}}};
    write_tiny_checkpoint(path, one_layer_config(folder_.width, folder_.inner, quantisation), tensors_);
  }

 private:
  std::string number(float value, const std::string& dtype) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    std::string all(reinterpret_cast<const char*>(&bits), sizeof bits);
    return dtype == "F32" ? all : all.substr(2);
  }
  void plain(const std::string& name, std::vector<std::uint64_t> shape) {
    std::uint64_t n = 1;
    for (const auto extent : shape) n *= extent;
    std::string values;
    // These bits are small numbers in both 16-bit types.
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto bits = static_cast<std::uint16_t>((random_() % 2 << 15U) + 0x2c00U + random_() % 0x200U);
      values.append(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    tensors_.push_back({name, folder_.plain, std::move(shape), std::move(values)});
  }
  void matrix(const std::string& module, std::uint64_t outputs, std::uint64_t inputs) {
    for (const std::string& name : folder_.plain_modules)
      if (module.ends_with(name)) return plain(module + ".weight", {outputs, inputs});
    std::string codes;
    for (std::uint64_t i = 0; i < outputs * inputs; ++i) {
      const auto code = static_cast<std::uint8_t>(random_());
      codes.push_back(static_cast<char>((code & 0x7fU) == 0x7fU ? 0U : code));
    }
    tensors_.push_back({module + ".weight", "F8_E4M3", {outputs, inputs}, std::move(codes)});
    const std::uint64_t row_blocks = (outputs + folder_.rows - 1) / folder_.rows;
    const std::uint64_t column_blocks = (inputs + folder_.columns - 1) / folder_.columns;
    std::string scales;
    for (std::uint64_t i = 0; i + 1 < row_blocks * column_blocks; ++i)
      scales += number(1e-5F * static_cast<float>(random_() % 1000U), folder_.scales);
    scales += number(folder_.scale, folder_.scales);
    tensors_.push_back(
        {module + ".weight_scale_inv", folder_.scales, {row_blocks, column_blocks}, std::move(scales)});
  }

  Fp8BlockFolder folder_;
  std::mt19937 random_{7};
  std::vector<StoredTensor> tensors_;
};

bool stays_fp8_block(const Fp8BlockFolder& folder) {
  const TemporaryFolder place;
  Fp8BlockWriter(folder).write(place.path());
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
    Fp8BlockWriter(folder).write(place.path());
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
  Fp8BlockWriter({.width = 512, .inner = 4096}).write(place.path());
  const Checkpoint kept = opened(place.path(), BlockMatrices::cuda_as_stored);
  const TensorView& down = kept.weights.layers[0].down;
  EXPECT_EQ(down.row_bytes(), 4096U + 4096 / 128 * 4 / 128);
  expect_views_of_rows(down);
}

TEST(Fp8BlockFolders, AreNoneForTheCpu) {
  const TemporaryFolder place;
  Fp8BlockWriter({}).write(place.path());
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
