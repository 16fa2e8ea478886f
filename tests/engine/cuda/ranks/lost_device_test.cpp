// SPDX-License-Identifier: GPL-3.0-or-later
// A rank whose device fails, or that ends, ends the others, whichever waits for which.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "emulated_ranks.h"
#include "led_ranks.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

/// A device that fails from one of its graphs' launches on.
class LostGpu final : public NotedGpu {
 public:
  LostGpu(std::unique_ptr<cuda::Gpu> gpu, int last_launch)
      : NotedGpu(std::move(gpu), calls_), last_launch_(last_launch) {}
  Result<void> launch_graph(int graph) override {
    if (calls_.launched == last_launch_) return fail("the device is lost");
    return NotedGpu::launch_graph(graph);
  }

 private:
  NotedCalls calls_;
  int last_launch_;
};

MakeRank lost_from(std::int32_t rank, int launch) {
  return [=](const Checkpoint& checkpoint, Collective& ranks) {
    namespace emulation = cuda::emulation;
    auto gpu = emulation::make_emulated_gpu(2, emulation::usual_memory_bytes, 1,
                                            emulation::usual_shared_bytes, true, &ranks);
    if (ranks.rank() == rank) gpu = std::make_unique<LostGpu>(std::move(gpu), launch);
    return cuda::make_backend(std::move(gpu), checkpoint, {.cache_rows = 64, .ranks = &ranks});
  };
}

class LostDevice : public testing::TestWithParam<std::int32_t> {};

TEST_P(LostDevice, EndsEveryRankWithALine) {
  Random random(71);
  const Checkpoint checkpoint = random_checkpoint(shape_of_ranks(random, 3), DType::bf16, 3);
  LedRanks ranks({&checkpoint}, 3, lost_from(GetParam(), 1));
  const OwnedBatch rows = chain(checkpoint.shape, random, 4, 0);
  Outputs outputs;
  ASSERT_TRUE(ranks.backend().forward(rows.view(), outputs));
  const auto lost = ranks.backend().forward(rows.view(), outputs);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr(GetParam() == 0 ? "the device is lost" : "found it ended"));
  const std::vector<std::string> ends = ranks.ends();
  for (std::size_t rank = 1; rank < 3; ++rank)
    EXPECT_THAT(ends[rank - 1], HasSubstr(static_cast<std::int32_t>(rank) == GetParam() ? "the device is lost"
                                                                                        : "found it ended"));
}

INSTANTIATE_TEST_SUITE_P(OfRank, LostDevice, testing::Values(0, 1, 2));

TEST(LostDevice, IsNotWhatAWrongBatchLeaves) {
  Random random(73);
  const Checkpoint checkpoint = random_checkpoint(shape_of_ranks(random, 2), DType::bf16, 3);
  LedRanks ranks({&checkpoint}, 2, make_emulated_rank({.cache_rows = 64}));
  OwnedBatch wrong = chain(checkpoint.shape, random, 4, 0);
  wrong.rows[2].token = checkpoint.shape.vocab;
  Outputs outputs;
  EXPECT_FALSE(ranks.backend().forward(wrong.view(), outputs));
  EXPECT_TRUE(ranks.backend().forward(chain(checkpoint.shape, random, 4, 0).view(), outputs));
  EXPECT_THAT(ranks.ends(), testing::Each(testing::IsEmpty()));
}

}  // namespace
}  // namespace draftscope::engine::test
