// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which 4-bit folders stay as stored for the CUDA backend, with the same model and the same numbers.

#include <draftscope/engine/checkpoint.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "checkpoint/quantised/int4.h"
#include "kept_layers.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

using namespace draftscope::engine::tiny;

/// A folder of random words. Every word is a valid packed number.
struct Folder {
  std::string method = "awq";  ///< or "gptq"
  int group = 128;
  std::string scales = "F16";
  std::string plain = "F16";
  std::uint64_t width = 256;
  std::uint64_t inner = 384;
  std::string plain_matrix = {};  ///< a module that is not packed
  std::string act_order = {};     ///< a module with act-order, whose inputs' groups are in another order
  bool packs_head = false;
};

class Writer {
 public:
  explicit Writer(const Folder& folder) : folder_(folder) {}

  void write(const std::filesystem::path& path) {
    visit_one_layer(
        folder_.width, folder_.inner,
        [this](const std::string& name, std::vector<std::uint64_t> shape) { plain(name, std::move(shape)); },
        [this](const std::string& module, std::uint64_t outputs, std::uint64_t inputs) {
          if (module == "lm_head" && !folder_.packs_head) return plain(module + ".weight", {outputs, inputs});
          packed(module, outputs, inputs);
        });
    const nlohmann::json quantisation{
        {"quant_method", folder_.method}, {"bits", 4}, {"group_size", folder_.group}};
    write_tiny_checkpoint(path, one_layer_config(folder_.width, folder_.inner, quantisation), tensors_);
  }

 private:
  std::string bytes(std::size_t n) {
    std::string all(n, '\0');
    for (char& byte : all) byte = static_cast<char>(random_());
    return all;
  }
  /// Small numbers of either sign that fp16 and bf16 both represent exactly.
  std::string numbers(std::size_t n, const std::string& dtype) {
    std::string all;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t value = (random_() % 2 << 31U) + 0x3c000000U + (random_() % 0x200U << 16U);
      if (dtype == "F32") {
        all.append(reinterpret_cast<const char*>(&value), 4);
        continue;
      }
      std::uint16_t half = static_cast<std::uint16_t>(value >> 16U);
      if (dtype == "F16")  // seven bits of mantissa and five of exponent
        half = static_cast<std::uint16_t>((half & 0x8000U) | 0x2000U | (half & 0x1ffU) << 3U);
      all.append(reinterpret_cast<const char*>(&half), 2);
    }
    return all;
  }
  void plain(const std::string& name, std::vector<std::uint64_t> shape) {
    std::size_t n = 1;
    for (const auto extent : shape) n *= extent;
    tensors_.push_back({name, folder_.plain, std::move(shape), numbers(n, folder_.plain)});
  }
  void packed(const std::string& module, std::uint64_t rows, std::uint64_t columns) {
    if (module.ends_with(folder_.plain_matrix) && !folder_.plain_matrix.empty())
      return plain(module + ".weight", {rows, columns});
    const auto group = folder_.group < 0 ? columns : static_cast<std::uint64_t>(folder_.group);
    const std::uint64_t groups = (columns + group - 1) / group;
    const bool awq = folder_.method == "awq";
    tensors_.push_back({module + ".qweight", "I32",
                        awq ? std::vector{columns, rows / 8} : std::vector{columns / 8, rows},
                        bytes(columns * rows / 2)});
    tensors_.push_back({module + ".qzeros", "I32", {groups, rows / 8}, bytes(groups * rows / 2)});
    tensors_.push_back(
        {module + ".scales", folder_.scales, {groups, rows}, numbers(groups * rows, folder_.scales)});
    if (awq) return;
    const bool reverses = module.ends_with(folder_.act_order) && !folder_.act_order.empty();
    std::string order;
    for (std::uint64_t i = 0; i < columns; ++i) {
      const auto of = static_cast<std::int32_t>((reverses ? columns - 1 - i : i) / group);
      order.append(reinterpret_cast<const char*>(&of), sizeof of);
    }
    tensors_.push_back({module + ".g_idx", "I32", {columns}, order});
  }

  Folder folder_;
  std::mt19937 random_{7};
  std::vector<StoredTensor> tensors_;
};

bool stays(const Folder& folder) {
  const TemporaryFolder place;
  Writer(folder).write(place.path());
  return keeps_layers(place.path(), folder.packs_head);
}

TEST(Int4Folders, StayAsTheyAreInGroupsThatInt4Has) {
  for (const char* const method : {"awq", "gptq"})
    for (const int group : {128, 256, -1, 384}) {
      SCOPED_TRACE(testing::Message() << method << ", groups of " << group);
      EXPECT_TRUE(stays({.method = method, .group = group}));
    }
  EXPECT_TRUE(stays({.scales = "BF16", .plain = "BF16"}));
  EXPECT_TRUE(stays({.method = "gptq", .scales = "F32", .plain = "BF16"}));
  EXPECT_TRUE(stays({.method = "gptq", .packs_head = true}));
  EXPECT_TRUE(stays({.width = 96, .inner = 160}));
}

TEST(Int4Folders, AreWidenedWhereInt4HasNotTheirNumbers) {
  for (const int group : {16, 32, 64, 96}) EXPECT_FALSE(stays({.group = group})) << group;
  EXPECT_FALSE(stays({.plain_matrix = "down_proj"}));
  EXPECT_FALSE(stays({.method = "gptq", .act_order = "v_proj"}));
  EXPECT_FALSE(stays({.method = "gptq", .width = 96, .inner = 136}));  // 136 is no multiple of 32 inputs
}

TEST(Int4Folders, TakeWhatTheirFilesTake) {
  const TemporaryFolder place;
  Writer({.width = 512, .inner = 1024}).write(place.path());
  const Checkpoint kept = opened(place.path(), BlockMatrices::cuda_as_stored);
  const TensorView& down = kept.weights.layers[0].down;
  EXPECT_EQ(down.row_bytes(), 1024U / 2 + 8 * 2 + 8 / 2);
  EXPECT_DOUBLE_EQ(down.weight_bits(), 4.15625);
  expect_views_of_rows(down);
}

TEST(Int4Folders, AreNoneForTheCpu) {
  const TemporaryFolder place;
  Writer({}).write(place.path());
  expect_none_for_the_cpu(place.path());
}

TEST(Int4Matrices, HaveScalesThatFp16Has) {
  const std::vector<std::byte> words(128 * 8 / 2);
  std::vector<float> scales(8, 0.25F);
  QuantisedMatrix matrix{.form = PackedForm::gptq, .rows = 8, .columns = 128};
  matrix.values = matrix.zeros = words.data();
  matrix.scales = reinterpret_cast<const std::byte*>(scales.data());
  matrix.scale_dtype = DType::f32;
  matrix.block = {1, 128};
  EXPECT_TRUE(is_int4(matrix));
  scales[5] = 0.1F;
  EXPECT_FALSE(is_int4(matrix));
  scales[5] = 1e6F;
  EXPECT_FALSE(is_int4(matrix));
  scales[5] = -0x1p-24F;
  EXPECT_TRUE(is_int4(matrix));
  matrix.bits = 8;
  EXPECT_FALSE(is_int4(matrix));
}

}  // namespace
}  // namespace draftscope::engine
