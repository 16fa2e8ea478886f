// SPDX-License-Identifier: GPL-3.0-or-later
// How products are cut up: within every device, and without a trace in what they compute.

#include "cuda/product_shape.h"

#include <draftscope/simulator/hardware/gpu.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
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
using cuda::product_request;
using cuda::product_shape;
using cuda::product_shared_bytes;
using cuda::ProductShape;

constexpr std::size_t kib = 1024;

GpuDescription device(std::size_t shared_kib) {
  return {.name = "a GPU",
          .multiprocessors = 100,
          .shared_bytes = (shared_kib - 1) * kib,
          .shared_bytes_of_multiprocessor = shared_kib * kib,
          .reserved_shared_bytes = kib,
          .architecture = "sm90"};
}

/// Shared memory of a multiprocessor since compute capability 8.0, as NVIDIA's programming guide lists it.
constexpr std::size_t every_shared_kib[] = {100, 164, 228};

TEST(ProductShape, FitsABlockAndTakesAsManyRowsInALaunchAsItHasRoomFor) {
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
          EXPECT_TRUE(shape.columns == 8 || shape.rows > shape.columns / 2) << shape.rows;
          // The device with the least memory has no room for the sums of more than 32.
          EXPECT_EQ((rows + shape.rows - 1) / shape.rows, shared_kib == 100 ? (rows + 31) / 32 : 1) << rows;
          // Rows are normalised ahead where a block has no room for them beside a single stage, or they are
          // more than it normalises, and there alone.
          ProductShape staged = shape;
          staged.stages = 1;
          staged.reads_normed = false;
          EXPECT_EQ(shape.reads_normed,
                    normalises && (shape.rows > cuda::max_staged_rows ||
                                   product_shared_bytes(staged, d_model, true) > gpu.shared_bytes));
        }
}

/// Less than any GPU has.
TEST(ProductShape, TakesMoreLaunchesWhereABlockHasNoRoomForSixteenSums) {
  for (const std::size_t shared_kib : {43, 37})
    for (const std::int32_t rows : {8, 16, 20}) {
      const ProductShape shape = product_shape(device(shared_kib), rows, 1088, true);
      EXPECT_EQ(shape.columns, 8);
      EXPECT_LE(product_shared_bytes(shape, 1088, true), (shared_kib - 1) * kib);
      EXPECT_EQ(product_shape(device(shared_kib), rows, 1088, false).columns, 8);
    }
}

/// Shared memory of a multiprocessor by compute capability, as NVIDIA's programming guide lists it.
std::size_t shared_kib_of(std::string_view architecture) {
  if (architecture == "sm80" || architecture == "sm87") return 164;
  if (architecture == "sm86" || architecture == "sm89" || architecture == "sm120" || architecture == "sm121")
    return 100;
  if (architecture == "sm90" || architecture == "sm100" || architecture == "sm103" || architecture == "sm110")
    return 228;
  return 0;
}

constexpr cuda::WeightFormat every_format[] = {
    cuda::WeightFormat::bf16,     cuda::WeightFormat::bf16_beside_groups,
    cuda::WeightFormat::f16,      cuda::WeightFormat::fp8,
    cuda::WeightFormat::q8_0,     cuda::WeightFormat::q4_0,
    cuda::WeightFormat::q4_k,     cuda::WeightFormat::int4,
    cuda::WeightFormat::int4_f16, cuda::WeightFormat::fp8_block};

/// Where two blocks stood on one multiprocessor, others had none, and passes of one row were slower than
/// those of two.
TEST(ProductShape, NoTwoBlocksOfProductsStandOnOneMultiprocessor) {
  std::size_t gpus = 0;
  for (const simulator::GpuSpecification& listed : simulator::known_gpus()) {
    const std::size_t shared_kib = shared_kib_of(listed.architecture);
    if (shared_kib == 0) {
      EXPECT_TRUE(listed.architecture.starts_with("gfx") || listed.architecture == "sm70" ||
                  listed.architecture == "sm75")
          << listed.name << ": " << listed.architecture;
      continue;
    }
    ++gpus;
    const GpuDescription gpu = device(shared_kib);
    for (const cuda::WeightFormat format : every_format)
      for (const std::int32_t d_model : {576, 2048, 4096, 5120, 8192, 16384})
        for (const bool normalises : {false, true}) {
          std::size_t least = gpu.shared_bytes;
          for (std::int32_t rows = 1; rows <= cuda::max_decode_rows; ++rows) {
            const ProductShape shape = product_shape(gpu, rows, d_model, normalises, format);
            const std::size_t request = product_request(gpu, shape, d_model, normalises);
            ASSERT_GE(request, product_shared_bytes(shape, d_model, normalises)) << listed.name;
            ASSERT_LE(request, gpu.shared_bytes) << listed.name << ", " << d_model << ", " << rows << " rows";
            least = std::min(least, request);
          }
          EXPECT_GT(2 * (least + gpu.reserved_shared_bytes), gpu.shared_bytes_of_multiprocessor)
              << listed.name << ", " << d_model;
        }
  }
  EXPECT_GE(gpus, 30U);
}

TEST(ProductShape, TakesEveryStageThatFits) {
  for (const std::size_t shared_kib : every_shared_kib)
    for (const std::int32_t d_model : {2048, 4096, 8192})
      for (const std::int32_t rows : {1, 8, 16})
        for (const bool normalises : {false, true}) {
          ProductShape shape = product_shape(device(shared_kib), rows, d_model, normalises);
          shape.stages *= 2;
          EXPECT_TRUE(shape.stages > cuda::max_ring_stages ||
                      product_shared_bytes(shape, d_model, normalises) > device(shared_kib).shared_bytes)
              << shared_kib << ", " << d_model << ", " << rows << " rows";
        }
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
      EXPECT_TRUE(calls.kernels.contains(cuda::Kernel::normalise_rows)) << shared_kib;
      // In the smallest there is no room for sixteen rows' sums: their products take more launches.
      EXPECT_EQ(calls.launches.size() > staged.launches.size() + 5, shared_kib < 60) << shared_kib;
    }
    // Of one multiprocessor all tiles are wide, of many those of most products narrow.
    for (const int multiprocessors : {1, 50})
      EXPECT_EQ(logits(checkpoint, 227 * kib, multiprocessors, 3, staged),
                logits(checkpoint, 227 * kib, 2, 3, staged))
          << multiprocessors;
  }
}

TEST(ProductShape, EveryProductOfAPassHasItsMultiprocessorAlone) {
  Random random(32);
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.n_layers = 2;
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Checkpoint checkpoint = random_checkpoint(shape, dtype, random());
    for (const std::size_t shared_kib : every_shared_kib) {
      const GpuDescription gpu = device(shared_kib);
      for (const std::int32_t rows : {1, 2, 8, 16}) {
        NotedCalls calls;
        (void)logits(checkpoint, gpu.shared_bytes, 3, rows, calls);
        std::size_t products = 0;
        for (const cuda::Launch& launch : calls.launches) {
          const bool is_product = launch.kernel == cuda::Kernel::qkv ||
                                  launch.kernel == cuda::Kernel::output ||
                                  launch.kernel == cuda::Kernel::gate_up ||
                                  launch.kernel == cuda::Kernel::down || launch.kernel == cuda::Kernel::head;
          if (!is_product) continue;
          ++products;
          EXPECT_LE(launch.blocks, 3);
          EXPECT_GT(2 * (launch.shared_bytes + gpu.reserved_shared_bytes), gpu.shared_bytes_of_multiprocessor)
              << shared_kib << ", " << rows << " rows";
        }
        EXPECT_EQ(products, 4U * 2 + 1);
      }
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
