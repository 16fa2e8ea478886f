// SPDX-License-Identifier: GPL-3.0-or-later
// What a sanitizer runs on a device runs every kernel there is.

#include "small_model.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

TEST(SmallModel, LaunchesEveryKernel) {
  NotedCalls calls;
  put_through_everything([&](const Checkpoint& checkpoint, CudaWeights weights) {
    auto backend =
        cuda::make_backend(std::make_unique<NotedGpu>(cuda::emulation::make_emulated_gpu(2), calls),
                           checkpoint, {.weights = weights});
    if (!backend) throw std::runtime_error(backend.error().message);
    return std::move(*backend);
  });
  for (int kernel = 0; kernel <= static_cast<int>(cuda::Kernel::make_synthetic); ++kernel)
    EXPECT_TRUE(calls.kernels.contains(static_cast<cuda::Kernel>(kernel))) << "kernel " << kernel;
}

}  // namespace
}  // namespace draftscope::engine::test
