// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of every type are bit for bit those of gguf.quants (goldens/blocks.* from make_goldens.py).

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <set>

#include "checkpoint/gguf/gguf_file.h"
#include "checkpoint/gguf/widen.h"
#include "gguf_goldens.h"

namespace draftscope::engine::test {
namespace {

constexpr std::size_t weights_each = 512;

std::vector<float> weights_of(const gguf::StoredTensor& tensor, std::span<const std::byte> file) {
  std::vector<float> weights(weights_each);
  tensor.format->unpack(tensor.data(file), weights_each / tensor.format->weights, weights.data());
  return weights;
}

TEST(GgufBlocks, WeightsAreThoseOfTheGgufPackage) {
  const auto file = gguf::open_gguf_file(gguf_goldens() / "blocks.gguf");
  ASSERT_TRUE(file) << file.error().message;
  const std::string expected = bytes_of(gguf_goldens() / "blocks.f32");
  std::set<std::string_view> seen;
  std::size_t at = 0;
  for (const auto& tensor : file->header.tensors) {
    ASSERT_EQ(tensor.name, tensor.format->name);
    seen.insert(tensor.name);
    for (const float weight : weights_of(tensor, file->mapping.bytes())) {
      std::uint32_t bits = 0;
      ASSERT_LE(at + sizeof bits, expected.size());
      std::memcpy(&bits, expected.data() + at, sizeof bits);
      // −0 and 0 are the same number, and the format does not define which of the two a product gives.
      const bool zeros = (bits << 1U) == 0 && weight == 0.0F;
      EXPECT_TRUE(zeros || std::bit_cast<std::uint32_t>(weight) == bits)
          << tensor.name << ' ' << at % (weights_each * 4) / 4 << ": " << weight << " for "
          << std::bit_cast<float>(bits);
      at += sizeof bits;
    }
  }
  EXPECT_EQ(at, expected.size());
  EXPECT_EQ(seen.size(), 17U);
}

// A row may end within a run of the widening loop. Widening block by block must give the same.
TEST(GgufBlocks, WideningRowsRoundsEachWeightToBf16) {
  const auto file = gguf::open_gguf_file(gguf_goldens() / "blocks.gguf");
  ASSERT_TRUE(file) << file.error().message;
  for (const auto& tensor : file->header.tensors) {
    if (tensor.format->plain == DType::bf16) continue;
    const auto columns = static_cast<std::int64_t>(tensor.extents[0]);
    std::vector<std::uint16_t> out(weights_each);
    gguf::widen(
        {{tensor.data(file->mapping.bytes()), tensor.format, static_cast<std::int64_t>(tensor.extents[1]),
          columns, 0, DType::bf16, reinterpret_cast<std::byte*>(out.data())}});
    const auto weights = weights_of(tensor, file->mapping.bytes());
    for (std::size_t i = 0; i < weights_each; ++i) {
      const float rounded = std::bit_cast<float>(std::uint32_t{out[i]} << 16U);
      // The error is at most half a unit in the last of 8 places, or half the smallest number.
      EXPECT_LE(std::abs(rounded - weights[i]), std::max(std::abs(weights[i]) / 256.0F, 0x1p-133F))
          << tensor.name << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
