// SPDX-License-Identifier: GPL-3.0-or-later
// Uploaded synthetic matrices have the same bits, made one by one or in memory, whatever shape and format.

#include <gtest/gtest.h>

#include <cstring>

#include "cuda/weights/model_upload.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {
namespace {

TEST(SyntheticUpload, MakesTheBitsOfTheModelInMemory) {
  Random random(41);
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    speculation::ModelShape shape = random_fp8_shape(random);
    shape.vocab = pick(random, 3, 90);
    shape.n_layers = pick(random, 1, 2);
    const double redundancy = chance(random, 0.5) ? 0.0 : 0.7;
    const std::uint64_t seed = random();
    const auto host = make_synthetic(shape, redundancy, seed);
    const auto one_by_one = make_synthetic(shape, redundancy, seed, SyntheticMatrices::by_backend);
    ASSERT_TRUE(host && one_by_one);
    EXPECT_EQ(host->hash, one_by_one->hash);
    for (const CudaWeights weights : {CudaWeights(), CudaWeights(speculation::WeightFormat::fp8)}) {
      const auto gpu = cuda::emulation::make_emulated_gpu(2);
      const auto uploaded = cuda::upload_model(*gpu, *host, weights);
      const auto made = cuda::upload_model(*gpu, *one_by_one, weights);
      ASSERT_TRUE(uploaded && made);
      ASSERT_EQ(uploaded->memory.bytes(), made->memory.bytes());
      EXPECT_EQ(std::memcmp(uploaded->memory.data(), made->memory.data(), made->memory.bytes()), 0);
    }
  }
}

}  // namespace
}  // namespace draftscope::engine::test
