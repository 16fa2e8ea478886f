// SPDX-License-Identifier: GPL-3.0-or-later
// Tests products of packed weights with every instruction set that this processor has.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../../have_same_bits.h"
#include "quantised/packed_products.h"
#include "random_packed.h"

namespace draftscope::engine::cpu::test {
namespace {

using engine::test::have_same_bits;

/// [rows][depth]; some blocks are all zeros, or have one sign and size.
std::vector<float> random_activations(Random& random, std::int32_t rows, std::int64_t depth) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(rows * depth));
  for (float& value : values) value = normal(random);
  for (std::size_t i = 0; i + block_depth < values.size(); i += block_depth) {
    const std::int32_t kind = pick(random, 0, 9);
    for (std::size_t k = 0; k < block_depth && kind < 3; ++k)
      values[i + k] = kind == 0 ? 0.0F : (kind == 1 ? -3.0F : values[i + k] * 1e-20F);
  }
  return values;
}

std::vector<std::byte> set_of(const PackedProducts& products, const std::vector<float>& rows,
                              std::int32_t count, std::int64_t depth) {
  std::vector<std::byte> set(activation_set_bytes(count, depth));
  for (std::int32_t row = 0; row < count; ++row)
    products.pack(rows.data() + row * depth, row, depth, set.data());
  return set;
}

/// [count][outputs]; outputs are cut at `cuts`.
std::vector<float> multiply(const PackedProducts& products, const RandomPacked& weights,
                            const std::vector<float>& rows, std::int32_t count,
                            const std::vector<std::int64_t>& cuts) {
  const std::vector<std::byte> set = set_of(products, rows, count, weights.depth);
  std::vector<float> out(static_cast<std::size_t>(count * weights.outputs), -1.0F);
  const PackedTask task{weights.matrix(), set.data(), nullptr, count, false, out.data(), weights.outputs};
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) products.product(task, cuts[i], cuts[i + 1]);
  return out;
}

/// The rounded activations of one block.
struct Rounded {
  float scale = 0.0F;
  std::int32_t quants[block_depth] = {};
};

Rounded rounded(const float* row, std::int64_t depth, std::int64_t block) {
  Rounded result;
  float largest = 0.0F;
  const std::int64_t first = block * block_depth;
  for (std::int64_t k = first; k < std::min(depth, first + block_depth); ++k)
    largest = std::max(largest, std::abs(row[k]));
  if (largest < 1e-30F) return result;
  result.scale = largest / 127.0F;
  const float inverse = 127.0F / largest;
  for (std::int64_t k = first; k < std::min(depth, first + block_depth); ++k)
    result.quants[k - first] = static_cast<std::int32_t>(std::nearbyint(row[k] * inverse));
  return result;
}

/// The sum in the order that packed_products.h states, computed from the blocks themselves.
float plain_product(const RandomPacked& weights, std::int64_t output, const float* row) {
  const PackedLayout& layout = *weights.layout;
  float sum = 0.0F;
  for (std::int64_t at = 0; at < packed_blocks(layout, weights.depth); ++at) {
    const QuantisedBlock& w = weights.block(output, at);
    const Rounded x = rounded(row, weights.depth, at);
    const int parts = layout.own_scales == 2 ? 2 : 1;
    std::int32_t all = 0;
    for (int part = 0; part < parts; ++part) {
      std::int32_t dot = 0;
      for (std::int64_t k = part * 32 / parts; k < (part + 1) * 32 / parts; ++k) {
        dot += (w.quants[static_cast<std::size_t>(k)] - layout.zero()) * x.quants[k];
        all += x.quants[k];
      }
      float step = f16_to_float(w.scale);
      if (layout.has_two_levels()) step *= w.own_scales[static_cast<std::size_t>(part)];
      sum = std::fma(step * x.scale, static_cast<float>(dot), sum);
    }
    if (!layout.has_minima) continue;
    float minimum = f16_to_float(w.minimum);
    if (layout.has_two_levels()) minimum *= -static_cast<float>(w.own_minimum);
    sum = std::fma(minimum, x.scale * static_cast<float>(all), sum);
  }
  return sum;
}

// The bits therefore depend neither on the other rows nor on how the outputs are cut.
TEST(PackedProducts, AreTheStatedSumsBitForBitInEveryInstructionSet) {
  Random random(11);
  for (const PackedLayout& layout : packed_layouts)
    for (int round = 0; round < 12; ++round) {
      const RandomPacked weights = random_packed(random, layout);
      // Few rows are computed in other steps than many.
      const std::int32_t rows = round < 10 ? round + 1 : pick(random, 11, 64);
      const std::int64_t cut = pick(random, 0, static_cast<std::int32_t>(weights.outputs));
      const std::vector<float> x = random_activations(random, rows, weights.depth);
      std::vector<float> expected;
      for (std::int32_t row = 0; row < rows; ++row)
        for (std::int64_t o = 0; o < weights.outputs; ++o)
          expected.push_back(plain_product(weights, o, x.data() + row * weights.depth));
      for (const PackedProducts* products : available_packed_products()) {
        EXPECT_TRUE(
            have_same_bits(multiply(*products, weights, x, rows, {0, cut, weights.outputs}), expected))
            << products->name << ' ' << speculation::weight_format_name(layout.format);
        EXPECT_EQ(set_of(*products, x, rows, weights.depth),
                  set_of(portable_packed_products(), x, rows, weights.depth))
            << products->name;
      }
    }
}

TEST(PackedProducts, AreWithinTheRoundingOfActivationsOfExactSums) {
  Random random(13);
  for (const PackedLayout& layout : packed_layouts) {
    const RandomPacked weights = random_packed(random, layout);
    const std::vector<float> x = random_activations(random, 1, weights.depth);
    const std::vector<float> found =
        multiply(*available_packed_products().back(), weights, x, 1, {0, weights.outputs});
    for (std::int64_t o = 0; o < weights.outputs; ++o) {
      double sum = 0.0;
      double bound = 1e-6;
      for (std::int64_t at = 0; at * block_depth < weights.depth; ++at) {
        float numbers[block_depth];
        dequantise(layout, weights.block(o, at), numbers);
        const double half_step = static_cast<double>(rounded(x.data(), weights.depth, at).scale) / 2;
        for (std::int64_t k = 0; k < std::min(block_depth, weights.depth - at * block_depth); ++k) {
          const double w = static_cast<double>(numbers[k]);
          const double value = static_cast<double>(x[static_cast<std::size_t>(at * block_depth + k)]);
          sum += w * value;
          bound += std::abs(w) * (1.001 * half_step + 1e-5 * std::abs(value));
        }
      }
      ASSERT_NEAR(static_cast<double>(found[static_cast<std::size_t>(o)]), sum, bound);
    }
  }
}

TEST(PackedProducts, AddBiasAndWhatIsThere) {
  Random random(19);
  for (const PackedProducts* products : available_packed_products()) {
    const RandomPacked weights = random_packed(random, packed_layouts.front());
    const std::vector<float> x = random_activations(random, 3, weights.depth);
    const std::vector<float> plain = multiply(*products, weights, x, 3, {0, weights.outputs});
    const std::vector<float> bias = random_activations(random, 1, weights.outputs);
    std::vector<float> out = random_activations(random, 3, weights.outputs);
    std::vector<float> expected = out;
    for (std::size_t i = 0; i < out.size(); ++i)
      expected[i] += plain[i] + bias[i % static_cast<std::size_t>(weights.outputs)];
    const std::vector<std::byte> set = set_of(*products, x, 3, weights.depth);
    products->product({weights.matrix(), set.data(), bias.data(), 3, true, out.data(), weights.outputs}, 0,
                      weights.outputs);
    EXPECT_TRUE(have_same_bits(out, expected)) << products->name;
  }
}

TEST(PackedProducts, AreNoNumbersWhereAnActivationIsNone) {
  Random random(23);
  for (const PackedProducts* products : available_packed_products())
    for (const float value :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::quiet_NaN()})
      for (const PackedLayout& layout : packed_layouts) {
        const RandomPacked weights = random_packed(random, layout);
        std::vector<float> x = random_activations(random, 2, weights.depth);
        x[static_cast<std::size_t>(pick(random, 0, static_cast<std::int32_t>(weights.depth) - 1))] = value;
        const std::vector<float> found = multiply(*products, weights, x, 2, {0, weights.outputs});
        const auto outputs = static_cast<std::size_t>(weights.outputs);
        for (std::size_t o = 0; o < outputs; ++o) {
          ASSERT_TRUE(std::isnan(found[o])) << products->name;
          ASSERT_TRUE(std::isfinite(found[outputs + o])) << products->name;
        }
      }
}

}  // namespace
}  // namespace draftscope::engine::cpu::test
