// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "cuda_shapes.h"
#include "start.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Listing tests needs no device; running them does.
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  using namespace draftscope::engine;
  test::Random random(1);
  const Checkpoint checkpoint = test::random_checkpoint(test::random_cuda_shape(random), DType::bf16, 1);
  if (const auto backend = make_cuda_backend(checkpoint, {.cache_rows = 16}); !backend) {
    using namespace draftscope::test;
    const FailedStart end = failed_start(device_is_missing(), backend.error());
    std::puts(end.line.c_str());
    return end.status;
  }
  return RUN_ALL_TESTS();
}
