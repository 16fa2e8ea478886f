// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the index logic of the tile product on emulated tiles: what tile_product.h does with AMX, on any
// processor.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>

#include "kernels/kernels.h"
#include "kernels/tile_product.h"
#include "numbers/bf16.h"
#include "random_model.h"

namespace draftscope::engine::cpu {
namespace {

using test::pick;

/// TDPBF16PS as specified, with the configured shapes.
class EmulatedTiles {
 public:
  EmulatedTiles(int columns, int second_columns) : columns_{columns, second_columns} {}
  void zero() { std::fill_n(&c_[0][0][0][0], 1024, 0.0F); }
  template <int weights, int groups>
  void add(const std::byte* at, std::int64_t row_bytes, const std::byte* pairs, std::int64_t group_bytes) {
    for (int weight = 0; weight < weights; ++weight)
      for (int group = 0; group < groups; ++group)
        add_one(at + 16 * weight * row_bytes, row_bytes, pairs + group * group_bytes, columns_[group],
                c_[weight][group]);
  }
  template <int weight, int group>
  void store(float (&sums)[16][16]) const {
    for (int column = 0; column < columns_[group]; ++column)
      for (int o = 0; o < 16; ++o) sums[column][o] = c_[weight][group][o][column];
  }

 private:
  static void add_one(const std::byte* weights, std::int64_t row_bytes, const std::byte* pairs, int columns,
                      float (&c)[16][16]) {
    for (int o = 0; o < 16; ++o)
      for (int pair = 0; pair < 16; ++pair)
        for (int column = 0; column < columns; ++column)
          for (int half = 0; half < 2; ++half)
            c[o][column] +=
                bf16_to_float(load_unaligned<std::uint16_t>(weights + o * row_bytes + 4 * pair + 2 * half)) *
                bf16_to_float(load_unaligned<std::uint16_t>(pairs + 64 * pair + 4 * column + 2 * half));
  }

  int columns_[2];
  float c_[2][2][16][16] = {};
};

struct Problem {
  std::int64_t depth, outputs;
  std::vector<std::byte> weights;
  std::vector<float> activations;  // [64][depth]
};

Problem random_problem(test::Random& random) {
  Problem problem{pick(random, 1, 150), pick(random, 1, 70), {}, {}};
  std::normal_distribution<float> normal;
  problem.weights.resize(static_cast<std::size_t>(problem.depth * problem.outputs) * 2);
  for (std::size_t i = 0; i < problem.weights.size(); i += 2) {
    const std::uint16_t bits = float_to_bf16(normal(random));
    std::memcpy(problem.weights.data() + i, &bits, 2);
  }
  for (std::int64_t i = 0; i < 64 * problem.depth; ++i) problem.activations.push_back(normal(random));
  return problem;
}

/// Computes rows [first, first + rows) of the problem, with the outputs cut at `cuts`.
std::vector<float> multiply(const Problem& problem, std::int32_t first, std::int32_t rows,
                            const std::vector<std::int64_t>& cuts) {
  std::vector<std::byte> set(tile_set_bytes(rows, problem.depth));
  for (std::int32_t row = 0; row < rows; ++row)
    tile_pack(problem.activations.data() + (first + row) * problem.depth, row, problem.depth, set.data());
  std::vector<float> out(static_cast<std::size_t>(rows * problem.outputs), -1.0F);
  ProductTask task;
  task.weights = problem.weights.data();
  task.activations = set.data();
  task.depth = problem.depth;
  task.rows = rows;
  task.out = out.data();
  task.out_stride = problem.outputs;
  task.outputs = problem.outputs;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) tile_product<EmulatedTiles>(task, cuts[i], cuts[i + 1]);
  return out;
}

TEST(TileProduct, AgreesWithPlainSums) {
  test::Random random(23);
  for (int round = 0; round < 60; ++round) {
    const Problem problem = random_problem(random);
    const std::int32_t rows = pick(random, 1, 64);
    const std::vector<float> out = multiply(problem, 0, rows, {0, problem.outputs});
    for (std::int32_t row = 0; row < rows; ++row)
      for (std::int64_t o = 0; o < problem.outputs; ++o) {
        double sum = 0.0;
        double size = 1e-3;
        for (std::int64_t k = 0; k < problem.depth; ++k) {
          const auto at = static_cast<std::int64_t>(2) * (o * problem.depth + k);
          const double term =
              static_cast<double>(bf16_to_float(load_unaligned<std::uint16_t>(problem.weights.data() + at))) *
              static_cast<double>(
                  round_to_bf16(problem.activations[static_cast<std::size_t>(row * problem.depth + k)]));
          sum += term;
          size += std::abs(term);
        }
        ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(row * problem.outputs + o)]), sum,
                    1e-6 * size);
      }
  }
}

TEST(TileProduct, BitsDependNeitherOnTheNumberOfRowsNorOnHowOutputsAreCut) {
  test::Random random(29);
  for (int round = 0; round < 40; ++round) {
    const Problem problem = random_problem(random);
    const std::vector<float> all = multiply(problem, 0, 64, {0, problem.outputs});
    const std::int32_t row = pick(random, 0, 63);
    const std::int64_t cut = pick(random, 0, static_cast<std::int32_t>(problem.outputs));
    const std::vector<float> alone = multiply(problem, row, 1, {0, cut, problem.outputs});
    ASSERT_EQ(std::memcmp(alone.data(), all.data() + row * problem.outputs, alone.size() * sizeof(float)), 0);
  }
}

/// AMX's kernels pack the same set as tile_pack, bit for bit.
TEST(TileProduct, PacksActivationsInVectorsAsOneByOne) {
  for (const Kernels* kernels : available_kernels()) {
    if (kernels->name != "amx-bf16") continue;
    test::Random random(31);
    for (int round = 0; round < 60; ++round) {
      const std::int64_t depth = pick(random, 1, 150);
      const std::int32_t rows = pick(random, 1, 40);
      std::vector<std::byte> one(tile_set_bytes(rows, depth));
      std::vector<std::byte> vectors(one.size());
      std::vector<std::uint32_t> bits(static_cast<std::size_t>(depth));  // some are NaNs and infinities
      for (std::int32_t row = 0; row < rows; ++row) {
        for (std::uint32_t& value : bits)
          value = pick(random, 0, 9) == 0 ? 0x7f800000U + static_cast<std::uint32_t>(pick(random, -2, 2))
                                          : static_cast<std::uint32_t>(random());
        const auto* values = reinterpret_cast<const float*>(bits.data());
        tile_pack(values, row, depth, one.data());
        kernels->products[static_cast<std::size_t>(DType::bf16)].pack(values, row, depth, vectors.data());
      }
      ASSERT_EQ(vectors, one);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::cpu
