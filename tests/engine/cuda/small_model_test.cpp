// SPDX-License-Identifier: GPL-3.0-or-later
// Checks that the small models, which sanitizers run on a device, run every kernel.

#include "small_model.h"

#include <gtest/gtest.h>

#include <set>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

void expect_every_kernel(const std::set<cuda::Kernel>& launched) {
  for (int kernel = 0; kernel < cuda::kernel_count; ++kernel)
    EXPECT_TRUE(launched.contains(static_cast<cuda::Kernel>(kernel))) << "kernel " << kernel;
}

class SmallModel : public testing::Test {
 protected:
  /// Makes backends whose device records its calls.
  MakeOnDevice noting(DecodingPasses passes) {
    return [this, passes](const Checkpoint& checkpoint, CudaWeights weights) {
      return noted_backend(cuda::emulation::make_emulated_gpu(2), calls_, checkpoint,
                           {.weights = weights, .passes = passes});
    };
  }
  NotedCalls calls_;
};

TEST_F(SmallModel, LaunchEveryKernel) {
  put_through_everything(noting(DecodingPasses::programs));
  expect_every_kernel(calls_.kernels);
}

TEST_F(SmallModel, LaunchEveryKernelButThoseOfWidePasses) {
  // The kernels are the same for blocks of any format.
  for (const HeldModel& model : small_models())
    if (model.weights.value_or(speculation::WeightFormat::fp8) == speculation::WeightFormat::fp8)
      put_through_narrow_passes(model, noting(DecodingPasses::plain));
  using enum cuda::Kernel;
  for (const cuda::Kernel wide :
       {prefill_attention, finish_wide_qkv, finish_wide_gate, add_wide, unpack_pieces})
    EXPECT_TRUE(calls_.kernels.insert(wide).second) << "kernel " << static_cast<int>(wide);
  expect_every_kernel(calls_.kernels);
}

}  // namespace
}  // namespace draftscope::engine::test
