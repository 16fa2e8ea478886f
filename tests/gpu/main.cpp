// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "cuda_shapes.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Listing needs no device; running does.
  using namespace draftscope::engine;
  test::Random random(1);
  const Checkpoint checkpoint = test::random_checkpoint(test::random_cuda_shape(random), DType::bf16, 1);
  if (const auto backend = make_cuda_backend(checkpoint, {.cache_rows = 16}); !backend) {
    constexpr int skipped = 77;
    std::printf("skipped: %s\n", backend.error().message.c_str());
    return skipped;
  }
  return RUN_ALL_TESTS();
}
