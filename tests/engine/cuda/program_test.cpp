// SPDX-License-Identifier: GPL-3.0-or-later
// Passes as programs. They have the same bits as with one launch per operation, whatever the format, the rows
// and the device's size. Each is one launch, and fails if a block does not reach a barrier.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/backend.h"
#include "cuda/passes/program_runner.h"
#include "cuda/weights/model_upload.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"
#include "random_model.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

/// Shared memory of a block on devices of compute capability 8.6, 8.0 and 9.0.
constexpr std::size_t some_shared_bytes[] = {std::size_t{99} << 10, std::size_t{163} << 10,
                                             std::size_t{227} << 10};

/// A format that a device multiplies, as a model's type and the format of its layers' matrices.
struct HeldFormat {
  DType dtype = DType::bf16;
  CudaWeights weights;  ///< none = as stored
};

std::vector<HeldFormat> every_held_format() {
  using enum speculation::WeightFormat;
  std::vector<HeldFormat> formats{{DType::bf16, {}}, {DType::f16, {}}, {DType::f16, int4}};
  for (const auto weights : {fp8, q8_0, q4_0, q4_k, int4, fp8_block})
    formats.push_back({DType::bf16, weights});
  return formats;
}

TEST(Programs, HaveTheBitsOfALaunchAnOperation) {
  Random random(83);
  int round = 0;
  for (const HeldFormat& held : every_held_format())
    for (const std::int32_t rows : {1, pick(random, 2, 8), pick(random, 9, 16), pick(random, 17, 64)}) {
      speculation::ModelShape shape = random_cuda_shape(random);
      shape.n_layers = 2;
      shape.d_model = 32 * pick(random, 1, 9);
      // Every fourth shape has a matrix of more than 512 columns, whose scales take a second block.
      shape.d_ff = 32 * (round % 4 == 0 ? pick(random, 17, 24) : pick(random, 1, 16));
      const Checkpoint checkpoint = random_checkpoint(shape, held.dtype, random());
      SCOPED_TRACE(testing::Message() << dtype_name(held.dtype) << ", format "
                                      << static_cast<int>(cuda::layer_format(checkpoint, held.weights))
                                      << ", " << rows << " rows");
      const CudaOptions options{.cache_rows = 100, .weights = held.weights};
      NotedCalls of_plain;
      NotedCalls of_programs;
      const auto plain = noted_emulated_backend(checkpoint, options, DecodingPasses::plain, of_plain);
      const auto programs = noted_emulated_backend(checkpoint, options, DecodingPasses::programs, of_programs,
                                                   pick(random, 1, 5), some_shared_bytes[round++ % 3]);
      OwnedBatch prompt = chain(shape, random, pick(random, 1, 30), 0);
      prompt.wanted.head_from = static_cast<std::int32_t>(prompt.rows.size()) - 1;
      EXPECT_TRUE(have_same_bits(outputs_of(*programs, prompt), outputs_of(*plain, prompt)));
      OwnedBatch batch = tree(shape, random, rows, static_cast<std::int32_t>(prompt.rows.size()));
      if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.3);
      if (chance(random, 0.5)) batch.hidden_after = {0, shape.n_layers};
      if (chance(random, 0.5)) batch.wanted.head_from = pick(random, 0, rows - 1);
      of_plain = of_programs = {};
      EXPECT_TRUE(have_same_bits(outputs_of(*programs, batch), outputs_of(*plain, batch)));
      EXPECT_EQ(of_programs.launches.size(), 1U);
      EXPECT_GT(of_plain.launches.size(), 1U);
    }
}

/// A device that checks the pieces which programs will read.
class PiecesGpu final : public NotedGpu {
 public:
  using NotedGpu::NotedGpu;
  Result<void> launch(const cuda::Launch& launch, const cuda::KernelParams& params) override {
    if (const auto* program = std::get_if<cuda::ProgramParams>(&params)) {
      const int most = cuda::is_plain(launch.format) ? cuda::max_copied_parts : cuda::max_copied_code_parts;
      EXPECT_LE(program->ring.parts, most);
    }
    return NotedGpu::launch(launch, params);
  }
};

/// A 16-bit head beside layers in fewer bits has slices of as many parts as a plain kernel takes at once. It
/// is launched separately after a wide pass, and where every operation is.
TEST(Programs, HavePiecesThatTheirKernelTakes) {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.n_layers = 1;
  shape.d_model = 2048;
  shape.d_ff = 32;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 7);
  std::vector<std::vector<float>> found;
  for (const DecodingPasses passes : {DecodingPasses::programs, DecodingPasses::plain}) {
    NotedCalls calls;
    auto backend = cuda::make_backend(
        std::make_unique<PiecesGpu>(cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes,
                                                                       1, std::size_t{320} << 10),
                                    calls),
        checkpoint, {.cache_rows = 80, .weights = speculation::WeightFormat::q8_0, .passes = passes});
    ASSERT_TRUE(backend) << backend.error().message;
    Random random(5);
    OwnedBatch wide = chain(shape, random, 66, 0);
    wide.wanted.head_from = 65;
    (void)outputs_of(**backend, wide);
    found.push_back(outputs_of(**backend, chain(shape, random, 1, 66)));
  }
  EXPECT_TRUE(have_same_bits(found[0], found[1]));
}

/// A device on which blocks wait for arrivals that never come.
class StuckGpu final : public NotedGpu {
 public:
  using NotedGpu::NotedGpu;
  Result<void> launch(const cuda::Launch& launch, const cuda::KernelParams& params) override {
    // Device memory is the host's memory.
    if (const auto* program = std::get_if<cuda::ProgramParams>(&params))
      program->state->arrivals = 0xc0000000U;
    return NotedGpu::launch(launch, params);
  }
};

TEST(Programs, EndWithAnErrorWhereABlockDoesNotComeToABarrier) {
  const Checkpoint checkpoint = random_checkpoint(tiny_cuda_shape(), DType::bf16, 3);
  NotedCalls calls;
  auto backend = cuda::make_backend(std::make_unique<StuckGpu>(cuda::emulation::make_emulated_gpu(3), calls),
                                    checkpoint, {.cache_rows = 40, .passes = DecodingPasses::programs});
  ASSERT_TRUE(backend);
  Random random(5);
  const OwnedBatch batch = chain(checkpoint.shape, random, 3, 0);
  Outputs outputs;
  const auto done = (*backend)->forward(batch.view(), outputs);
  ASSERT_FALSE(done);
  EXPECT_TRUE(done.error().message.ends_with(
      "waited for more than a second for others to end embedding, entry 1 of 15, expected less"))
      << done.error().message;
}

/// Scratch and rings fill a block's memory, and each warp has at least two pieces in flight.
TEST(Programs, FillTheMemoryOfABlock) {
  Random random(89);
  for (const std::size_t shared_bytes : some_shared_bytes)
    for (int trial = 0; trial < 200; ++trial) {
      speculation::ModelShape shape = random_cuda_shape(random);
      shape.d_model = 64 * pick(random, 1, 128);
      const std::int32_t rows = pick(random, 1, 64);
      const cuda::PieceSize pieces{1024 + 64 * pick(random, 0, 3), chance(random, 0.5)
                                                                       ? cuda::max_copied_parts
                                                                       : cuda::max_copied_code_parts};
      const cuda::ProgramShape found = cuda::program_shape(
          {.multiprocessors = 132, .shared_bytes = shared_bytes}, shape, rows, pieces, chance(random, 0.5));
      SCOPED_TRACE(testing::Message() << shared_bytes << " bytes, d_model " << shape.d_model << ", " << rows
                                      << " rows, parts of " << pieces.part_bytes);
      ASSERT_GE(found.ring.places, 2);
      EXPECT_LE(found.shared_bytes, shared_bytes);
      EXPECT_GE(found.ring.place_bytes, found.ring.parts * pieces.part_bytes);
      EXPECT_GE(found.ring.parts, 1);
      EXPECT_LE(found.ring.parts, pieces.parts);
      EXPECT_LE(found.ring.places, cuda::max_ring_places);
      EXPECT_EQ(found.scratch_bytes % 128, 0);
      if (found.ring.places < cuda::max_ring_places) {
        EXPECT_GT(
            found.shared_bytes + cuda::product_slices * static_cast<std::size_t>(found.ring.place_bytes),
            shared_bytes);
      }
      if (found.stages_rows) {
        EXPECT_GE(found.scratch_bytes, rows * cuda::staged_row_bytes(shape.d_model));
      }
    }
}

}  // namespace
}  // namespace draftscope::engine::test
