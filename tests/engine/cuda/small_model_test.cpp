// SPDX-License-Identifier: GPL-3.0-or-later
// What a sanitizer runs on a device runs every kernel but those of ranks.

#include "small_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "expected_kernels.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

TEST(SmallModel, LaunchesEveryKernelOfOneDevice) {
  NotedCalls calls;
  put_through_everything([&](const Checkpoint& checkpoint, CudaWeights weights) {
    auto backend =
        cuda::make_backend(std::make_unique<NotedGpu>(cuda::emulation::make_emulated_gpu(2), calls),
                           checkpoint, {.weights = weights});
    if (!backend) throw std::runtime_error(backend.error().message);
    return std::move(*backend);
  });
  expect_kernels_of_one_device(calls.kernels);
  for (const cuda::Kernel kernel : {cuda::Kernel::qkv, cuda::Kernel::gate_up, cuda::Kernel::head})
    EXPECT_TRUE(std::any_of(
        calls.launches.begin(), calls.launches.end(),
        [&](const cuda::Launch& launch) { return launch.kernel == kernel && launch.reads_normed; }))
        << "kernel " << static_cast<int>(kernel);
}

}  // namespace
}  // namespace draftscope::engine::test
