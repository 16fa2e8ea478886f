// SPDX-License-Identifier: GPL-3.0-or-later
// How products are cut up: within every device, and without a trace in what they compute.

#include "cuda/product_shape.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "cuda/kernels/pass_state.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"
#include "random_model.h"

namespace draftscope::engine::test {
namespace {

using cuda::GpuDescription;
using cuda::product_shape;
using cuda::product_shared_bytes;
using cuda::ProductShape;

constexpr std::size_t kib = 1024;

GpuDescription device(std::size_t shared_kib, std::size_t bytes_in_flight = 0) {
  return {.name = "a GPU",
          .multiprocessors = 100,
          .shared_bytes = (shared_kib - 1) * kib,
          .shared_bytes_of_multiprocessor = shared_kib * kib,
          .reserved_shared_bytes = kib,
          .bytes_in_flight = bytes_in_flight,
          .architecture = "sm90"};
}

/// Shared memory of a multiprocessor since compute capability 8.0, as NVIDIA's programming guide lists it.
constexpr std::size_t every_shared_kib[] = {100, 164, 228};

TEST(ProductShape, FitsABlockAndTakesEverySixteenRowsInALaunch) {
  for (const std::size_t shared_kib : every_shared_kib)
    for (const std::int32_t d_model : {64, 2048, 4096, 5120, 8192, 16384})
      for (std::int32_t rows = 1; rows <= cuda::max_decode_rows; ++rows)
        for (const bool normalises : {false, true}) {
          const GpuDescription gpu = device(shared_kib);
          // Those with groups bring scales, too.
          const auto format = rows % 2 == 0 ? cuda::WeightFormat::bf16 : cuda::WeightFormat::q4_0;
          const ProductShape shape = product_shape(gpu, rows, d_model, normalises, format);
          EXPECT_EQ(shape.stage_bytes, cuda::stage_bytes(format));
          EXPECT_LE(product_shared_bytes(shape, d_model, normalises), gpu.shared_bytes);
          EXPECT_LE(shape.rows, shape.columns);
          EXPECT_LE(shape.rows, rows);
          EXPECT_EQ((rows + shape.rows - 1) / shape.rows, (rows + 15) / 16);
          // Rows are normalised ahead where a block has no room for them beside a single stage, and there
          // alone.
          const ProductShape staged{.columns = shape.rows > 8 ? 16 : 8,
                                    .rows = shape.rows,
                                    .stages = 1,
                                    .stage_bytes = shape.stage_bytes};
          EXPECT_EQ(shape.reads_normed,
                    normalises && product_shared_bytes(staged, d_model, true) > gpu.shared_bytes);
          EXPECT_EQ(shape.columns, shape.reads_normed ? 16 : staged.columns);
        }
}

/// Less than any GPU has.
TEST(ProductShape, TakesMoreLaunchesWhereABlockHasNoRoomForSixteenSums) {
  for (const std::size_t shared_kib : {43, 37})
    for (const std::int32_t rows : {8, 16, 20}) {
      const ProductShape shape = product_shape(device(shared_kib), rows, 1088, true);
      EXPECT_FALSE(shape.reads_normed);
      EXPECT_EQ(shape.columns, 8);
      EXPECT_LE(product_shared_bytes(shape, 1088, true), (shared_kib - 1) * kib);
      EXPECT_EQ(product_shape(device(shared_kib), rows, 1088, false).columns, 8);
    }
}

TEST(ProductShape, KeepsAFullRingWhereMemoryIsFast) {
  const GpuDescription gpu = device(228, 40 * kib);
  for (const std::int32_t d_model : {2048, 4096, 8192})
    for (const std::int32_t rows : {1, 8})
      for (const bool normalises : {false, true})
        EXPECT_EQ(product_shape(gpu, rows, d_model, normalises).stages, cuda::max_ring_stages)
            << d_model << ", " << rows << " rows";
}

TEST(ProductShape, LeavesRoomForTheNextKernelWhereThatCostsNoBandwidth) {
  const auto both = [](const GpuDescription& gpu, std::int32_t rows, std::int32_t d_model) {
    std::size_t bytes = 0;
    for (const bool normalises : {false, true})
      bytes += product_shared_bytes(product_shape(gpu, rows, d_model, normalises), d_model, normalises) +
               gpu.reserved_shared_bytes;
    return bytes;
  };
  for (const std::int32_t rows : {1, 8})
    EXPECT_LE(both(device(228, 40 * kib), rows, 4096), 228 * kib) << rows;
  EXPECT_LE(both(device(164, 19 * kib), 1, 4096), 164 * kib);
  EXPECT_LE(both(device(100, 8 * kib), 1, 4096), 100 * kib);
}

/// Logits of a model, rows one after another in one pass.
std::vector<float> logits(const Checkpoint& checkpoint, std::size_t shared_bytes, int multiprocessors,
                          std::int32_t n_rows, NotedCalls& calls) {
  auto backend = cuda::make_backend(
      std::make_unique<NotedGpu>(cuda::emulation::make_emulated_gpu(
                                     multiprocessors, cuda::emulation::usual_memory_bytes, 1, shared_bytes),
                                 calls),
      checkpoint, {.cache_rows = 32});
  if (!backend) throw std::runtime_error(backend.error().message);
  std::vector<Row> rows;
  for (std::int32_t i = 0; i < n_rows; ++i)
    rows.push_back({.token = i % checkpoint.shape.vocab, .position = i});
  Batch batch;
  batch.rows = rows;
  batch.layers = {0, checkpoint.shape.n_layers};
  batch.wanted.head = true;
  batch.wanted.logits = true;
  Outputs outputs;
  if (const auto done = (*backend)->forward(batch, outputs); !done)
    throw std::runtime_error(done.error().message);
  return std::move(outputs.logits);
}

TEST(ProductShape, DoesNotChangeABit) {
  Random random(31);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.n_layers = 2;
    shape.d_model = 1088;  // 16 rows and a stage take 83 KiB, a row and four stages 82
    shape.n_heads = shape.n_kv_heads;
    shape.head_dim = 64;  // attention of 16 queries takes 34 KiB
    const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
    NotedCalls staged;
    const std::vector<float> expected = logits(checkpoint, 227 * kib, 2, 16, staged);
    ASSERT_FALSE(expected.empty());
    EXPECT_FALSE(staged.kernels.contains(cuda::Kernel::normalise_rows));
    for (const std::size_t shared_kib : {80, 60, 42, 36}) {
      NotedCalls calls;
      EXPECT_EQ(logits(checkpoint, shared_kib * kib, 2, 16, calls), expected) << shared_kib;
      // In the smallest there is no room for sixteen rows' sums: their products take more launches.
      EXPECT_EQ(calls.kernels.contains(cuda::Kernel::normalise_rows), shared_kib >= 60) << shared_kib;
      EXPECT_EQ(calls.launches.size() > staged.launches.size() + 5, shared_kib < 60) << shared_kib;
    }
    // Of one multiprocessor all tiles are wide, of many those of most products narrow.
    for (const int multiprocessors : {1, 50})
      EXPECT_EQ(logits(checkpoint, 227 * kib, multiprocessors, 3, staged),
                logits(checkpoint, 227 * kib, 2, 3, staged))
          << multiprocessors;
  }
}

}  // namespace
}  // namespace draftscope::engine::test
