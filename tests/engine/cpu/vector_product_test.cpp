// SPDX-License-Identifier: GPL-3.0-or-later
// Tests in which order vector_products.h reads weights, with single numbers in place of vectors.

#if defined(__x86_64__)

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/vector_products.h"
#include "random_model.h"

namespace draftscope::engine::cpu {
namespace {

using testing::ElementsAre;

/// Addresses of the weights that were read, in order.
std::vector<const std::byte*> weights_read;

/// A step is `values` fp32 weights, of which only the first counts.
template <int values, bool prefetching = false>
struct NotedDot {
  struct Sums {
    using Value = float;
    template <int N>
    static constexpr int room_for_sums = N;
    static float zero() { return 0.0F; }
    template <int N>
    static void sums(const float (&all)[N], float (&out)[N]) {
      std::memcpy(out, all, sizeof out);
    }
  };
  using Weight = float;
  using Activation = float;
  static constexpr int step = values;
  static constexpr std::int64_t weight_bytes = sizeof(float);
  static constexpr std::int64_t activation_bytes = sizeof(float);
  static constexpr int max_accumulators = 24;
  static constexpr int outputs_of_many_rows = 2;

  static bool wants_prefetches() { return prefetching; }
  static float weight(const std::byte* p) {
    weights_read.push_back(p);
    return activation(p);
  }
  static float weight_first(const std::byte* p, std::int64_t /*n*/) { return weight(p); }
  static float activation(const std::byte* p) {
    float value = 0.0F;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  static float multiply_add(float sum, float w, float x) { return sum + w * x; }
};
using WideStep = NotedDot<16>;   // 64 bytes: one sum at a time keeps up with memory
using NarrowStep = NotedDot<4>;  // 16 bytes: it does not
using PrefetchedStep = NotedDot<16, true>;

struct Product {
  std::vector<float> out;          ///< [rows][outputs]
  std::vector<std::int64_t> read;  ///< steps of the matrix, [outputs][steps of k], in the order of reading
};

/// Multiplies a matrix with the first of 64 rows. Both are random, but the same for any number of rows.
template <typename Dot>
Product multiply(std::int32_t rows, std::int64_t depth, std::int64_t outputs) {
  test::Random random(static_cast<std::uint64_t>(depth * 1000 + outputs));
  std::normal_distribution<float> normal;
  std::vector<float> weights(static_cast<std::size_t>(depth * outputs));
  std::vector<float> activations(set_bytes_of<Dot>(64, depth) / sizeof(float));
  for (float& weight : weights) weight = normal(random);
  for (float& activation : activations) activation = normal(random);
  Product product;
  product.out.resize(static_cast<std::size_t>(rows * outputs));
  const auto* first = reinterpret_cast<const std::byte*>(weights.data());
  ProductTask task;
  task.weights = first;
  task.activations = reinterpret_cast<const std::byte*>(activations.data());
  task.depth = depth;
  task.rows = rows;
  task.out = product.out.data();
  task.out_stride = outputs;
  task.outputs = outputs;
  weights_read.clear();
  vector_product<Dot>(task, 0, outputs);
  const std::int64_t steps = (depth + Dot::step - 1) / Dot::step;
  for (const std::byte* at : weights_read) {
    const std::int64_t value = (at - first) / static_cast<std::int64_t>(sizeof(float));
    product.read.push_back(value / depth * steps + value % depth / Dot::step);
  }
  return product;
}

/// Every step of a matrix once, in address order.
std::vector<std::int64_t> in_order(std::int64_t depth, std::int64_t outputs, std::int64_t step) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>((depth + step - 1) / step * outputs));
  std::iota(steps.begin(), steps.end(), 0);
  return steps;
}

TEST(VectorProduct, ReadsAMatrixThatIsNotDeepInAddressOrderForOneOrTwoRows) {
  for (const std::int64_t depth : {1, 64, 576, 1000})
    for (const std::int64_t outputs : {1, 8, 16, 45})
      for (const std::int32_t rows : {1, 2})
        EXPECT_EQ(multiply<WideStep>(rows, depth, outputs).read, in_order(depth, outputs, WideStep::step))
            << depth << " x " << outputs << ", " << rows << " rows";
}

TEST(VectorProduct, ReadsEachWeightOnceForUpToEightRows) {
  for (const std::int64_t depth : {100, 576, 5000})
    for (std::int32_t rows = 1; rows <= 8; ++rows) {
      for (std::vector<std::int64_t> read :
           {multiply<WideStep>(rows, depth, 21).read, multiply<PrefetchedStep>(rows, depth, 21).read}) {
        std::sort(read.begin(), read.end());
        EXPECT_EQ(read, in_order(depth, 21, WideStep::step)) << depth << ", " << rows << " rows";
      }
    }
}

TEST(VectorProduct, KeepsEightSumsOpenForOneRowWhereOneDoesNotSuffice) {
  /// The first eight steps that one row reads.
  const auto first_reads = [](const Product& product) {
    return std::vector<std::int64_t>(product.read.begin(), product.read.begin() + 8);
  };
  // Activations of 5,000 values would be evicted from the first-level cache by each weight row.
  EXPECT_THAT(first_reads(multiply<WideStep>(1, 5000, 16)),
              ElementsAre(0, 313, 2 * 313, 3 * 313, 4 * 313, 5 * 313, 6 * 313, 7 * 313));
  EXPECT_THAT(first_reads(multiply<NarrowStep>(1, 576, 16)),
              ElementsAre(0, 144, 2 * 144, 3 * 144, 4 * 144, 5 * 144, 6 * 144, 7 * 144));
  // The processor's own prefetches do not suffice for one stream.
  EXPECT_THAT(first_reads(multiply<PrefetchedStep>(1, 576, 16)),
              ElementsAre(0, 36, 2 * 36, 3 * 36, 4 * 36, 5 * 36, 6 * 36, 7 * 36));
}

TEST(VectorProduct, HasTheSameBitsForARowInAnyNumberOfRows) {
  for (const std::int64_t depth : {100, 576, 5000}) {
    constexpr std::int64_t outputs = 21;
    const std::vector<float> all = multiply<WideStep>(64, depth, outputs).out;
    for (const std::int32_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33}) {
      const std::vector<float> out = multiply<WideStep>(rows, depth, outputs).out;
      EXPECT_EQ(std::memcmp(out.data(), all.data(), out.size() * sizeof(float)), 0)
          << depth << ", " << rows << " rows";
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::cpu

#endif
