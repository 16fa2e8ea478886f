// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu/input_squares.h"
#include "quantised/pack_matrices.h"
#include "random_packed.h"

namespace draftscope::engine::cpu::test {
namespace {

TEST(InputSquares, OfOtherThanNumbersSayNothing) {
  InputSquares squares{{{{1.0F, 2.0F}, {3.0F}, {4.0F}, {5.0F, std::numeric_limits<float>::quiet_NaN()}}},
                       {std::numeric_limits<float>::infinity()}};
  drop_non_finite(squares);
  EXPECT_EQ(squares.layers[0].attention, (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(squares.layers[0].output, std::vector<float>{3.0F});
  EXPECT_TRUE(squares.layers[0].down.empty());
  EXPECT_TRUE(squares.head.empty());
}

TEST(InputSquares, RandomTokensAreOfTheVocabularyAndTheSameEachTime) {
  const std::vector<std::int32_t> tokens = random_tokens(97, 500);
  EXPECT_TRUE(std::all_of(tokens.begin(), tokens.end(), [](auto token) { return token >= 0 && token < 97; }));
  EXPECT_EQ(tokens, random_tokens(97, 500));
  EXPECT_EQ(tokens.front(), 54);  // the 32-bit Mersenne twister's first number with seed 2024, modulo 97
}

/// If one column matters more than all others together, its weights keep the smallest error.
TEST(PackedMatrices, KeepTheColumnThatMatters) {
  Random random(71);
  constexpr std::int64_t outputs = 48;
  constexpr std::int64_t depth = 70;  // the last block is not full
  constexpr std::size_t column = 67;
  std::normal_distribution<float> normal;
  std::vector<float> weights(outputs * depth);
  for (float& weight : weights) weight = normal(random);
  std::vector<float> importance(depth, 1e-3F);
  importance[column] = 1e3F;
  const PackedLayout& layout = *packed_layout(speculation::WeightFormat::q4_0);
  const auto error_in_column = [&](std::span<const float> told) {
    std::vector<std::byte> packed(packed_bytes(layout, outputs, depth));
    pack_matrices({{{std::as_bytes(std::span(weights)).data(), DType::f32, outputs, depth},
                    &layout,
                    packed.data(),
                    told}});
    const PackedMatrix matrix{&layout, packed.data(), outputs, depth};
    double error = 0.0;
    for (std::int64_t output = 0; output < outputs; ++output) {
      std::array<float, block_depth> block{};
      dequantise(layout, get_block(matrix, output, column / block_depth), block.data());
      const double missed = static_cast<double>(block[column % block_depth]) -
                            static_cast<double>(weights[static_cast<std::size_t>(output * depth) + column]);
      error += missed * missed;
    }
    return error;
  };
  EXPECT_LT(error_in_column(importance), 0.2 * error_in_column({}));
}

}  // namespace
}  // namespace draftscope::engine::cpu::test
