// SPDX-License-Identifier: GPL-3.0-or-later
// Small models on a device, also under sanitizers.

#include "small_model.h"

#include <draftscope/engine/cuda_backend.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace draftscope::engine::test {
namespace {

MakeOnDevice with(DecodingPasses passes) {
  return [passes](const Checkpoint& checkpoint, CudaWeights weights) {
    auto backend = make_cuda_backend(checkpoint, {.weights = weights, .passes = passes});
    if (!backend) throw std::runtime_error(backend.error().message);
    return std::move(*backend);
  };
}

TEST(SmallModel, IsPutThroughEverything) {
  put_through_everything(with(DecodingPasses::programs));
}

/// Uses one launch per operation, and none of a library's: initcheck does not see what cuBLAS writes.
class KernelsAlone : public testing::TestWithParam<HeldModel> {};

TEST_P(KernelsAlone, DecodeTheTextOfVanilla) {
  put_through_narrow_passes(GetParam(), with(DecodingPasses::plain));
}

INSTANTIATE_TEST_SUITE_P(Models, KernelsAlone, testing::ValuesIn(small_models()),
                         [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
