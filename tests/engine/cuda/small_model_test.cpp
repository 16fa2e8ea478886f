// SPDX-License-Identifier: GPL-3.0-or-later
// What a sanitizer runs on a device runs every kernel.

#include "small_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "counted_captures.h"
#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "expected_kernels.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

class SmallModel : public testing::Test {
 protected:
  /// Backends whose device notes its calls.
  MakeOnDevice noting(profiler::DeviceTrace* trace = nullptr) {
    return [this, trace](const Checkpoint& checkpoint, CudaWeights weights) {
      auto backend =
          cuda::make_backend(std::make_unique<NotedGpu>(cuda::emulation::make_emulated_gpu(2), calls_),
                             checkpoint, {.weights = weights, .device_trace = trace});
      if (!backend) throw std::runtime_error(backend.error().message);
      return std::move(*backend);
    };
  }
  NotedCalls calls_;
};

TEST_F(SmallModel, LaunchEveryKernel) {
  put_through_everything(noting());
  expect_every_kernel(calls_.kernels);
  for (const cuda::Kernel kernel : {cuda::Kernel::qkv, cuda::Kernel::gate_up, cuda::Kernel::head})
    EXPECT_TRUE(std::any_of(
        calls_.launches.begin(), calls_.launches.end(),
        [&](const cuda::Launch& launch) { return launch.kernel == kernel && launch.reads_normed; }))
        << "kernel " << static_cast<int>(kernel);
}

TEST_F(SmallModel, LaunchEveryKernelButThoseOfWidePassesWithoutLoops) {
  CountedCaptures heard;
  // Blocks have the same kernels, whatever is in them.
  for (const HeldModel& model : small_models())
    if (model.weights.value_or(speculation::WeightFormat::fp8) == speculation::WeightFormat::fp8)
      put_through_narrow_passes(model, noting(&heard));
  EXPECT_EQ(calls_.loops, 0);
  using enum cuda::Kernel;
  for (const cuda::Kernel wide :
       {prefill_attention, finish_wide_qkv, finish_wide_gate, add_wide, widen_rows, widen_groups})
    EXPECT_TRUE(calls_.kernels.insert(wide).second) << "kernel " << static_cast<int>(wide);
  expect_every_kernel(calls_.kernels);
}

}  // namespace
}  // namespace draftscope::engine::test
