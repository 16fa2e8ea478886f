// SPDX-License-Identifier: GPL-3.0-or-later
// A synthetic model whose matrices the backend makes one by one has the same bits as one in memory.

#include <gtest/gtest.h>

#include <cstring>

#include "cuda_device.h"
#include "cuda_shapes.h"

namespace draftscope::engine::test {
namespace {

TEST(SyntheticOnTheDevice, ComputesWhatTheUploadedOneDoes) {
  Random random(47);
  for (const CudaWeights weights : {CudaWeights(), CudaWeights(speculation::WeightFormat::fp8)}) {
    const speculation::ModelShape shape = random_fp8_shape(random);
    const std::uint64_t seed = random();
    const auto host = make_synthetic(shape, 0.5, seed);
    const auto device = make_synthetic(shape, 0.5, seed, SyntheticMatrices::by_backend);
    ASSERT_TRUE(host && device);
    const CudaOptions options{.cache_rows = 40, .weights = weights};
    const auto uploaded = backend_on_device(*host, options);
    const auto made = backend_on_device(*device, options);
    const OwnedBatch batch = chain(shape, random, 20, 0);
    Outputs expected;
    Outputs found;
    ASSERT_TRUE(uploaded->forward(batch.view(), expected));
    ASSERT_TRUE(made->forward(batch.view(), found));
    ASSERT_EQ(found.logits.size(), expected.logits.size());
    EXPECT_EQ(std::memcmp(found.logits.data(), expected.logits.data(), found.logits.size() * sizeof(float)),
              0);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
