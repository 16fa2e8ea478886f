// SPDX-License-Identifier: GPL-3.0-or-later
// A model that does not fit is refused in one line before anything is allocated; one that barely fits is not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cuda/backend.h"
#include "cuda/passes/program_runner.h"
#include "cuda/weights/model_upload.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

constexpr std::size_t plenty = std::size_t{1} << 32;
/// Minimum shared memory per block over all devices of compute capability 8.0 or later.
constexpr std::size_t min_shared_bytes = std::size_t{99} << 10;

/// "made", or the error.
std::string outcome(const Checkpoint& checkpoint, const CudaOptions& options, std::size_t memory_bytes,
                    std::size_t shared_bytes = cuda::emulation::usual_shared_bytes) {
  const auto made = cuda::make_backend(cuda::emulation::make_emulated_gpu(2, memory_bytes, 1, shared_bytes),
                                       checkpoint, options);
  return made ? "made" : made.error().message;
}

/// Minimum memory in which the backend can be created.
std::size_t min_memory(const Checkpoint& checkpoint, const CudaOptions& options) {
  std::size_t too_little = 0;
  std::size_t enough = std::size_t{1} << 28;
  while (enough - too_little > 1) {
    const std::size_t middle = too_little + (enough - too_little) / 2;
    (outcome(checkpoint, options, middle) == "made" ? enough : too_little) = middle;
  }
  return enough;
}

speculation::ModelShape random_small_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 64;
  shape.d_ff = 96;
  return shape;
}

TEST(DeviceMemory, IsCountedBeforeAnythingIsAllocated) {
  Random random(5);
  for (const CudaWeights weights : {CudaWeights(), CudaWeights(speculation::WeightFormat::fp8)}) {
    const speculation::ModelShape shape = random_small_shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 1);
    const CudaOptions options{.cache_rows = 50, .weights = weights};
    const std::size_t needed = min_memory(checkpoint, options);
    EXPECT_GT(needed, cuda::upload_bytes(checkpoint, weights).kept);
    EXPECT_EQ(outcome(checkpoint, options, needed), "made");
    const std::string refused = outcome(checkpoint, options, needed - 1);
    EXPECT_THAT(refused, HasSubstr("cuda backend: random needs "));
    EXPECT_THAT(refused, HasSubstr(" of device memory ("));
    EXPECT_THAT(refused, HasSubstr("K/V cache of 50 rows and buffers"));
    EXPECT_THAT(refused, HasSubstr("emulated GPU has "));
    EXPECT_EQ(refused.find('\n'), std::string::npos);
    // Rows that do not fit in a block's memory are stored in a buffer that exists anyway.
    EXPECT_EQ(outcome(checkpoint, options, needed, min_shared_bytes), "made");
    EXPECT_NE(outcome(checkpoint, options, needed - 1, min_shared_bytes), "made");
    // More context needs more memory; in fp8 the layers' matrices need less.
    EXPECT_GT(min_memory(checkpoint, {.cache_rows = 51, .weights = weights}), needed);
  }
}

TEST(DeviceMemory, IsEnoughForWhatPassesThroughItOnTheWayToFp8) {
  Random random(6);
  speculation::ModelShape shape = random_small_shape(random);
  shape.n_layers = 1;
  shape.d_ff = 256;
  shape.vocab = 20;
  const auto checkpoint = make_synthetic(shape, 0.0, 1, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint);
  const CudaOptions options{.cache_rows = 1, .weights = speculation::WeightFormat::fp8};
  const std::size_t needed = min_memory(*checkpoint, options);
  // The backend is refused by the count, never by a failed allocation.
  EXPECT_THAT(outcome(*checkpoint, options, needed - 1), HasSubstr(" needs "));
}

TEST(DeviceMemory, HoldsTheModelsWholeContextIfAsked) {
  Random random(7);
  speculation::ModelShape shape = random_small_shape(random);
  shape.n_layers = 1;
  shape.max_positions = 9000;  // It exceeds the default.
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 1);
  const auto usual = cuda::make_backend(cuda::emulation::make_emulated_gpu(2, plenty), checkpoint, {});
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_EQ((*usual)->cache_rows(), 4096);
  const auto whole =
      cuda::make_backend(cuda::emulation::make_emulated_gpu(2, plenty), checkpoint, {.cache_rows = 9000});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ((*whole)->cache_rows(), 9000);
  // The last row attends to all before it, whatever they contain; there is no row after it.
  Outputs outputs;
  OwnedBatch last = chain(shape, random, 1, 8999);
  const auto computed = (*whole)->forward(last.view(), outputs);
  ASSERT_TRUE(computed) << computed.error().message;
  last = chain(shape, random, 1, 9000);
  EXPECT_FALSE((*whole)->forward(last.view(), outputs));
}

TEST(DeviceShape, MayBeSoWideThatABlockHoldsNotOneRow) {
  Random random(8);
  speculation::ModelShape shape = random_small_shape(random);
  shape.n_layers = 1;
  shape.vocab = 3;
  shape.d_model = 131072;
  const auto checkpoint = make_synthetic(shape, 0.0, 1, SyntheticMatrices::by_backend);
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(outcome(*checkpoint, {.cache_rows = 1}, plenty, min_shared_bytes), "made");
}

TEST(DeviceShape, IsRefusedInOneLineWhereABlockHoldsNoRings) {
  Random random(8);
  for (int trial = 0; trial < 6; ++trial) {
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.n_layers = 1;
    shape.vocab = 3;
    shape.d_model = 8 * pick(random, 1, 1024);
    const auto is_enough = [&](std::size_t shared_bytes) {
      return cuda::check_program_memory({.shared_bytes = shared_bytes}, shape).has_value();
    };
    std::size_t too_little = 0;
    std::size_t enough = min_shared_bytes;
    ASSERT_TRUE(is_enough(enough));
    while (enough - too_little > 1) {
      const std::size_t middle = too_little + (enough - too_little) / 2;
      (is_enough(middle) ? enough : too_little) = middle;
    }
    const auto checkpoint = make_synthetic(shape, 0.0, 1, SyntheticMatrices::by_backend);
    ASSERT_TRUE(checkpoint);
    EXPECT_EQ(outcome(*checkpoint, {.cache_rows = 1}, plenty, enough), "made");
    const std::string refused = outcome(*checkpoint, {.cache_rows = 1}, plenty, too_little);
    EXPECT_THAT(refused, HasSubstr("emulated GPU has " + std::to_string(too_little) +
                                   " bytes of shared memory a block, expected more for "));
    EXPECT_EQ(refused.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
