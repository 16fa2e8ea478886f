// SPDX-License-Identifier: GPL-3.0-or-later
// A family that the kernels do not compute is refused by name, before anything is uploaded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/backend.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

TEST(Families, ThoseThatTheKernelsLackAreRefusedByName) {
  Random random(31);
  const TestedBackend tested = tested_backends().front();
  int refused = 0;
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    const auto shape = of_family(random_cuda_shape(random), family, random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto backend =
        cuda::make_backend(cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, 1),
                           checkpoint, {.cache_rows = 64});
    if (tested.computes(family)) {
      EXPECT_TRUE(backend) << backend.error().message;
      continue;
    }
    ++refused;
    ASSERT_FALSE(backend) << family.architecture;
    EXPECT_THAT(backend.error().message,
                testing::AllOf(testing::HasSubstr(std::string(family.architecture) + " has "),
                               testing::HasSubstr("expected only what the cuda backend computes")));
  }
  // Gemma's, and those of 2025 with windows, rotated norms, scaled queries or no gate.
  EXPECT_EQ(refused, 10);
}

}  // namespace
}  // namespace draftscope::engine::test
