// SPDX-License-Identifier: GPL-3.0-or-later
// What devices of ranks exchange, and how often.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <numeric>
#include <vector>

#include "cuda/backend.h"
#include "emulated_gpu.h"
#include "emulated_ranks.h"
#include "noted_gpu.h"
#include "on_every_rank.h"

namespace draftscope::engine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::unique_ptr<cuda::Gpu> gpu_of(Collective* ranks) {
  return cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, 1,
                                            cuda::emulation::usual_shared_bytes, true, ranks);
}

TEST(Exchange, BringsEveryRanksBytesToEachAtOnceAndInAGraph) {
  on_every_rank(3, [](Collective& ranks) {
    const auto gpu = gpu_of(&ranks);
    const auto memory = gpu->allocate(3 * sizeof(int), "numbers");
    ASSERT_TRUE(memory);
    auto* const numbers = static_cast<int*>(*memory);
    const auto gathered = [&](int own, auto exchange) {
      EXPECT_TRUE(gpu->upload(numbers + ranks.rank(), &own, sizeof own));
      EXPECT_TRUE(exchange());
      std::array<int, 3> all{};
      EXPECT_TRUE(gpu->download(all.data(), numbers, sizeof all));
      EXPECT_TRUE(gpu->synchronise());
      return all;
    };
    EXPECT_THAT(gathered(ranks.rank() + 5, [&] { return gpu->all_gather(numbers, sizeof(int)); }),
                ElementsAre(5, 6, 7));
    ASSERT_TRUE(gpu->begin_graph());
    ASSERT_TRUE(gpu->all_gather(numbers, sizeof(int)));
    const auto graph = gpu->end_graph();
    ASSERT_TRUE(graph);
    for (const int first : {10, 20})
      EXPECT_THAT(gathered(first + ranks.rank(), [&] { return gpu->launch_graph(*graph); }),
                  ElementsAre(first, first + 1, first + 2));
    gpu->release(numbers);
  });
}

TEST(Exchange, RefusesWhatIsBeyondMemoryAndDevicesWithoutRanks) {
  on_every_rank(2, [](Collective& ranks) {
    const auto gpu = gpu_of(&ranks);
    const auto memory = gpu->allocate(100, "bytes");
    ASSERT_TRUE(memory);
    const auto done = gpu->all_gather(*memory, 51);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message,
                HasSubstr("51 bytes from each rank, expected all of them in device memory"));
    gpu->release(*memory);
  });
  const auto alone = gpu_of(nullptr)->all_gather(nullptr, 4);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("expected none on a device without ranks"));
}

/// Exchanges of a pass of three rows on two ranks, behind those of one before.
int exchanges(const Checkpoint& checkpoint, const speculation::SublayerMask* mask, bool logits) {
  std::atomic<int> counted = 0;
  on_every_rank(2, [&](Collective& ranks) {
    NotedCalls calls;
    auto made = cuda::make_backend(std::make_unique<NotedGpu>(gpu_of(&ranks), calls), checkpoint,
                                   {.cache_rows = 64, .ranks = &ranks});
    ASSERT_TRUE(made) << made.error().message;
    Random random(3);
    OwnedBatch rows = chain(checkpoint.shape, random, 3, 0);
    rows.wanted.logits = logits;
    rows.wanted.top_k = 1;
    Batch batch = rows.view();
    batch.mask = mask;
    Outputs outputs;
    const int before = calls.exchanges;
    EXPECT_TRUE((*made)->forward(batch, outputs));
    if (ranks.rank() == 0) counted = calls.exchanges - before;
    const int captured = calls.exchanges;
    EXPECT_TRUE((*made)->forward(batch, outputs));
    EXPECT_EQ(calls.exchanges, captured) << "the second pass is not the first one's graph";
    EXPECT_EQ(calls.loops, 0);
  });
  return counted;
}

TEST(Exchange, HappensTwiceALayerThatRunsAndForTheHead) {
  Random random(5);
  speculation::ModelShape shape = shape_of_ranks(random, 2);
  shape.n_layers = 3;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 4);
  EXPECT_EQ(exchanges(checkpoint, nullptr, false), 3 * 2 + 1);
  EXPECT_EQ(exchanges(checkpoint, nullptr, true), 3 * 2 + 2);
  speculation::SublayerMask mask(3);
  mask.skip_attention(1);
  EXPECT_EQ(exchanges(checkpoint, &mask, false), 3 * 2 + 1);
  mask.skip_mlp(1);
  EXPECT_EQ(exchanges(checkpoint, &mask, false), 2 * 2 + 1);
}

}  // namespace
}  // namespace draftscope::engine::test
