// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which 4-bit folders stay as stored for the CUDA backend, with the same model and the same numbers.

#include <draftscope/engine/checkpoint.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/quantised/int4.h"
#include "kept_layers.h"

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

void write_int4(const std::filesystem::path& path, const Folder& folder) {
  OneLayer layer(folder.width, folder.inner, folder.plain);
  const bool awq = folder.method == "awq";
  const auto is = [](std::string_view module, std::string_view name) {
    return !name.empty() && module.ends_with(name);
  };
  const nlohmann::json quantisation{
      {"quant_method", folder.method}, {"bits", 4}, {"group_size", folder.group}};
  layer.write(path, quantisation, [&](const std::string& module, std::uint64_t rows, std::uint64_t columns) {
    if (is(module, folder.plain_matrix) || (module == "lm_head" && !folder.packs_head))
      return layer.add_plain(module + ".weight", {rows, columns});
    const auto group = folder.group < 0 ? columns : static_cast<std::uint64_t>(folder.group);
    const std::uint64_t groups = (columns + group - 1) / group;
    layer.add({module + ".qweight", "I32",
               awq ? std::vector{columns, rows / 8} : std::vector{columns / 8, rows},
               layer.bytes(columns * rows / 2)});
    layer.add({module + ".qzeros", "I32", {groups, rows / 8}, layer.bytes(groups * rows / 2)});
    layer.add(
        {module + ".scales", folder.scales, {groups, rows}, layer.numbers(groups * rows, folder.scales)});
    if (awq) return;
    std::string order;
    for (std::uint64_t i = 0; i < columns; ++i) {
      const auto of = static_cast<std::int32_t>((is(module, folder.act_order) ? columns - 1 - i : i) / group);
      order.append(reinterpret_cast<const char*>(&of), sizeof of);
    }
    layer.add({module + ".g_idx", "I32", {columns}, order});
  });
}

bool stays(const Folder& folder) {
  const TemporaryFolder place;
  write_int4(place.path(), folder);
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
  write_int4(place.path(), {.width = 512, .inner = 1024});
  const Checkpoint kept = opened(place.path(), BlockMatrices::cuda_as_stored);
  const TensorView& down = kept.weights.layers[0].down;
  EXPECT_EQ(down.row_bytes(), 1024U / 2 + 8 * 2 + 8 / 2);
  EXPECT_DOUBLE_EQ(down.weight_bits(), 4.15625);
  expect_views_of_rows(down);
}

TEST(Int4Folders, AreNoneForTheCpu) {
  const TemporaryFolder place;
  write_int4(place.path(), {});
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
