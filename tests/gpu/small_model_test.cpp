// SPDX-License-Identifier: GPL-3.0-or-later
// Small models on a device, also under sanitizers.

#include "small_model.h"

#include <gtest/gtest.h>

#include "counted_captures.h"
#include "cuda_device.h"

namespace draftscope::engine::test {
namespace {

TEST(SmallModel, IsPutThroughEverything) {
  put_through_everything([](const Checkpoint& checkpoint, CudaWeights weights) {
    return backend_on_device(checkpoint, {.weights = weights});
  });
}

/// Kernels one by one and in graphs without loops, and no library's: racecheck does not survive a loop, and
/// initcheck does not see what cuBLAS writes.
class KernelsAlone : public testing::TestWithParam<HeldModel> {};

TEST_P(KernelsAlone, DecodeTheTextOfVanilla) {
  CountedCaptures heard;  // a round that a device trace hears of is a graph per step
  put_through_narrow_passes(GetParam(), [&](const Checkpoint& checkpoint, CudaWeights weights) {
    return backend_on_device(checkpoint, {.weights = weights, .device_trace = &heard});
  });
}

INSTANTIATE_TEST_SUITE_P(Models, KernelsAlone, testing::ValuesIn(small_models()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
