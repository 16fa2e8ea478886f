// SPDX-License-Identifier: GPL-3.0-or-later
// Products whose columns are in parts, by every instruction set that this processor has: each part is what a
// matrix of its own gives, and the parts are added as neighbours, bit for bit.

#include <draftscope/engine/ranks/collective.h>
#include <gtest/gtest.h>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/kernels.h"
#include "random_model.h"

namespace draftscope::engine::cpu {
namespace {

using test::pick;

struct PartsProblem {
  DType dtype = DType::f32;
  std::int64_t outputs, depth, parts;
  std::int32_t rows;
  std::vector<std::byte> weights;  // [parts][outputs][depth]
  std::vector<float> activations;  // [rows][parts · depth]
  std::vector<float> bias;         // [outputs]
  std::vector<float> there;        // [rows][outputs]
};

std::vector<float> random_values(test::Random& random, std::int64_t n) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::byte> stored(const std::vector<float>& values, DType dtype) {
  std::vector<std::byte> bytes(values.size() * dtype_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::f32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
      continue;
    }
    const std::uint16_t half = dtype == DType::bf16 ? float_to_bf16(values[i]) : float_to_f16(values[i]);
    std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
  return bytes;
}

/// Depths from a few values to several chunks; rows up to those of two groups.
PartsProblem random_parts(test::Random& random, DType dtype) {
  const std::int32_t deepest = std::vector{20, 150, 900}[static_cast<std::size_t>(pick(random, 0, 2))];
  PartsProblem problem{dtype,
                       pick(random, 1, 60),
                       pick(random, 1, deepest),
                       std::int64_t{1} << pick(random, 0, 3),
                       pick(random, 0, 2) == 0 ? pick(random, 1, 70) : pick(random, 1, 12),
                       {},
                       {},
                       {},
                       {}};
  problem.weights = stored(random_values(random, problem.parts * problem.outputs * problem.depth), dtype);
  problem.activations = random_values(random, problem.rows * problem.parts * problem.depth);
  problem.bias = random_values(random, problem.outputs);
  problem.there = random_values(random, problem.rows * problem.outputs);
  return problem;
}

/// Parts [first, first + parts) of the problem, outputs cut at `cut`, into `out`.
void multiply(const ProductKernels& kernels, const PartsProblem& problem, std::int64_t first,
              std::int64_t parts, const float* bias, bool accumulate, std::int64_t cut, float* out) {
  std::vector<std::byte> memory(kernels.set_bytes(problem.rows, problem.depth, parts) + 64);
  std::byte* const set = memory.data() + 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
  for (std::int32_t row = 0; row < problem.rows; ++row)
    kernels.pack(problem.activations.data() + (row * problem.parts + first) * problem.depth, row,
                 problem.depth, parts, set);
  const std::size_t part_bytes =
      static_cast<std::size_t>(problem.outputs * problem.depth) * dtype_bytes(problem.dtype);
  const ProductTask task{problem.weights.data() + static_cast<std::size_t>(first) * part_bytes,
                         set,
                         bias,
                         problem.depth,
                         problem.rows,
                         accumulate,
                         out,
                         problem.outputs,
                         problem.outputs,
                         parts};
  kernels.product(task, 0, cut);
  kernels.product(task, cut, problem.outputs);
}

/// Each part's product by itself, then all of them.
std::vector<float> expected_of(const ProductKernels& kernels, const PartsProblem& problem, const float* bias,
                               bool accumulate) {
  const std::int64_t n = problem.rows * problem.outputs;
  std::vector<float> parts(static_cast<std::size_t>(problem.parts * n));
  for (std::int64_t part = 0; part < problem.parts; ++part)
    multiply(kernels, problem, part, 1, part == 0 ? bias : nullptr, false, problem.outputs,
             parts.data() + part * n);
  add_neighbours(parts.data(), problem.parts, n, n);
  parts.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; accumulate && i < parts.size(); ++i) parts[i] = problem.there[i] + parts[i];
  return parts;
}

TEST(PartProducts, AreThePartsOwnProductsAddedAsNeighboursBitForBit) {
  test::Random random(61);
  for (const Kernels* kernels : available_kernels())
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
      for (int round = 0; round < 25; ++round) {
        const PartsProblem problem = random_parts(random, dtype);
        const ProductKernels& products = kernels->products[static_cast<std::size_t>(dtype)];
        const float* bias = round % 2 == 0 ? problem.bias.data() : nullptr;
        const bool accumulate = round % 4 < 2;
        std::vector<float> found = problem.there;
        multiply(products, problem, 0, problem.parts, bias, accumulate,
                 pick(random, 0, static_cast<std::int32_t>(problem.outputs)), found.data());
        const std::vector<float> expected = expected_of(products, problem, bias, accumulate);
        ASSERT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)), 0)
            << kernels->name << ", " << dtype_name(dtype) << ": " << problem.rows << " rows, "
            << problem.parts << " parts of " << problem.depth << ", " << problem.outputs << " outputs";
      }
}

}  // namespace
}  // namespace draftscope::engine::cpu
