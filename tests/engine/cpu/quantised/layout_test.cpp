// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "formats/block_formats.h"
#include "random_packed.h"

namespace draftscope::engine::cpu::test {
namespace {

TEST(PackedLayouts, GiveBackEveryBlockThatWasPutIn) {
  Random random(3);
  for (const PackedLayout& layout : packed_layouts)
    for (int round = 0; round < 5; ++round) {
      const RandomPacked made = random_packed(random, layout);
      for (std::int64_t output = 0; output < made.outputs; ++output)
        for (std::int64_t at = 0; at < packed_blocks(layout, made.depth); ++at) {
          const QuantisedBlock found = get_block(made.matrix(), output, at);
          const QuantisedBlock& put = made.block(output, at);
          ASSERT_EQ(found.quants, put.quants);
          ASSERT_EQ(found.scale, put.scale);
          ASSERT_EQ(found.minimum, put.minimum);
          ASSERT_EQ(found.own_scales, put.own_scales);
          ASSERT_EQ(found.own_minimum, put.own_minimum);
        }
    }
}

TEST(PackedLayouts, TakeAsManyBitsAsTheFormatsSayAndAtMostAnEighthMoreForScalesInBytes) {
  for (const PackedLayout& layout : packed_layouts) {
    const double bits = 8.0 * static_cast<double>(packed_bytes(layout, 16, 256)) / (16 * 256);
    const double named = speculation::weight_format_row(layout.format).bits;
    EXPECT_GE(bits, named);
    EXPECT_LE(bits, layout.has_two_levels() ? named + 0.125 : named);
  }
}

struct StoredFormat {
  std::uint32_t id;  ///< type id in a GGUF file
  speculation::WeightFormat format;
  std::vector<std::size_t> halves;  ///< places of the fp16 numbers within a block
};

std::vector<StoredFormat> stored_formats() {
  using enum speculation::WeightFormat;
  return {{8, q8_0, {0}},    {2, q4_0, {0}},     {3, q4_1, {0, 2}},  {6, q5_0, {0}},
          {7, q5_1, {0, 2}}, {12, q4_k, {0, 2}}, {13, q5_k, {0, 2}}, {14, q6_k, {208}}};
}

// Packing keeps what a file has; tests/engine/checkpoint/gguf/blocks_test.cpp holds the numbers themselves.
TEST(StoredBlocks, KeepTheirNumbersWhenTheyArePacked) {
  Random random(5);
  for (const StoredFormat& stored : stored_formats()) {
    const gguf::BlockFormat& format = *gguf::find_block_format(stored.id);
    const PackedLayout& layout = *packed_layout(stored.format);
    for (int round = 0; round < 10; ++round) {
      const std::int64_t outputs = pick(random, 1, 40);
      const auto count = static_cast<std::size_t>(pick(random, 1, 4));  // stored blocks per row
      const auto depth = static_cast<std::int64_t>(count * format.weights);
      std::vector<std::byte> rows(static_cast<std::size_t>(outputs) * count * format.bytes);
      for (std::byte& byte : rows) byte = static_cast<std::byte>(pick(random, 0, 255));
      for (std::size_t block = 0; block < rows.size(); block += format.bytes)
        for (const std::size_t half : stored.halves) {
          const std::uint16_t finite = random_half(random, 1.0F);
          std::memcpy(rows.data() + block + half, &finite, sizeof finite);
        }
      std::vector<std::byte> data(packed_bytes(layout, outputs, depth));
      const auto row_bytes = count * format.bytes;
      for (std::int64_t output = 0; output < outputs; ++output)
        for (std::int64_t block = 0; block < depth / block_depth; ++block)
          put_block(layout, data.data(), depth, output, block,
                    format.read(rows.data() + static_cast<std::size_t>(output) * row_bytes, block));
      const PackedMatrix matrix{&layout, data.data(), outputs, depth};
      for (std::int64_t output = 0; output < outputs; ++output) {
        std::vector<float> expected(static_cast<std::size_t>(depth));
        std::vector<float> found(expected.size());
        format.unpack(rows.data() + static_cast<std::size_t>(output) * row_bytes, count, expected.data());
        for (std::int64_t block = 0; block < depth / block_depth; ++block)
          dequantise(layout, get_block(matrix, output, block), found.data() + block * block_depth);
        ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
            << format.name << " output " << output;
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::cpu::test
