// SPDX-License-Identifier: GPL-3.0-or-later
// A round is one program, whose draft the device ends, and has the same bits as a round whose operations are
// launched one by one.

#include <draftscope/base/to_size.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cuda_shapes.h"
#include "drawn_rounds.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

TEST(Rounds, HaveTheBitsOfALaunchAnOperation) {
  Random random(61);
  std::size_t short_drafts = 0;
  std::size_t sampled = 0;
  for (int trial = 0; trial < 3; ++trial) {
    speculation::ModelShape shape = random_cuda_shape(random);
    shape.n_layers = 2 + trial % 2;
    shape.d_model = 8 * pick(random, 1, 8);
    shape.d_ff = 8 * pick(random, 1, 12);
    shape.head_dim = 32;
    shape.sliding_window = 0;
    shape.vocab = pick(random, 20, 60);
    shape.tied_embeddings = false;  // With tied embeddings a token would predict itself.
    const Checkpoint checkpoint = random_checkpoint(shape, trial == 2 ? DType::f16 : DType::bf16, random());
    NotedCalls of_program;
    NotedCalls of_plain;
    const CudaOptions options{.cache_rows = 90};
    const auto program = noted_emulated_backend(checkpoint, options, DecodingPasses::programs, of_program);
    const auto plain = noted_emulated_backend(checkpoint, options, DecodingPasses::plain, of_plain);
    std::vector<Row> prompt;
    for (std::int32_t i = 0; i < 60; ++i) prompt.push_back({pick(random, 0, shape.vocab - 1), -1, i});
    Outputs unused;
    for (Backend* backend : {program.get(), plain.get()})
      ASSERT_TRUE(backend->forward({.rows = prompt, .layers = {0, shape.n_layers}}, unused));
    of_program = of_plain = {};
    constexpr int rounds = 8;
    for (int i = 0; i < rounds; ++i) {
      SCOPED_TRACE(testing::Message() << "trial " << trial << ", round " << i);
      const DrawnRound drawn = drawn_round(shape, random);
      ChainRoundOutputs found;
      ChainRoundOutputs expected;
      const auto first = program->chain_round(drawn.view(), found);
      ASSERT_TRUE(first) << first.error().message;
      ASSERT_TRUE(plain->chain_round(drawn.view(), expected));
      expect_same_round(found, expected);
      short_drafts += found.drafted.size() < static_cast<std::size_t>(drawn.round.draft_length) ? 1U : 0U;
      sampled += drawn.is_sampled ? 1U : 0U;
    }
    EXPECT_EQ(of_program.launches.size(), to_size(rounds));
  }
  EXPECT_GT(short_drafts, 2U);
  EXPECT_GT(sampled, 5U);
}

}  // namespace
}  // namespace draftscope::engine::test
