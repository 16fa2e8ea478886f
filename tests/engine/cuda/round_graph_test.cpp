// SPDX-License-Identifier: GPL-3.0-or-later
// A round is one graph, whose loop of draft steps the device ends, or one program, and has the bits of a
// round that is a graph a step and one for the verification.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "cuda_shapes.h"
#include "emulated_gpu.h"
#include "noted_gpu.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t round_cache_rows = 90;

std::unique_ptr<Backend> counted_backend(const Checkpoint& checkpoint, bool has_loops, NotedCalls& calls,
                                         DecodingPasses passes = DecodingPasses::plain) {
  auto gpu = cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, has_loops ? 5 : 6,
                                                cuda::emulation::usual_shared_bytes, has_loops);
  auto backend = cuda::make_backend(std::make_unique<NotedGpu>(std::move(gpu), calls), checkpoint,
                                    {.cache_rows = round_cache_rows, .passes = passes});
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

/// A round and what its spans look at.
struct DrawnRound {
  speculation::SublayerMask mask;
  std::vector<std::int32_t> states;
  std::vector<std::int32_t> stops;
  SamplingOptions sampling;
  bool is_sampled = false;
  ChainRound round;

  [[nodiscard]] ChainRound view() const {
    ChainRound seen = round;
    seen.mask = &mask;
    seen.layers = {0, mask.exit_layer()};
    seen.states = states;
    seen.stops = stops;
    if (is_sampled) seen.sampling = &sampling;
    return seen;
  }
};

DrawnRound drawn_round(const speculation::ModelShape& shape, Random& random) {
  DrawnRound drawn;
  const bool is_exit = chance(random, 0.5);
  drawn.mask = is_exit
                   ? speculation::SublayerMask::early_exit(shape.n_layers, pick(random, 1, shape.n_layers))
                   : random_mask(random, shape.n_layers, 0.4);
  drawn.round = {
      .root = pick(random, 0, shape.vocab - 1),
      .root_position = pick(random, 0, 60),
      .draft_length = pick(random, 1, 9),
      .above_exit = is_exit && chance(random, 0.5),
      .threshold = chance(random, 0.5) ? std::uniform_real_distribution<double>(0.0, 0.2)(random) : -1.0,
      .key = {.seed = random(), .stream = 3}};
  if (chance(random, 0.3)) drawn.stops = {pick(random, 0, shape.vocab - 1)};
  if (chance(random, 0.5)) drawn.states = {0, shape.n_layers};
  drawn.is_sampled = chance(random, 0.5);
  drawn.sampling = {.temperature = 0.9, .top_k = pick(random, 0, 9), .coupled = chance(random, 0.5)};
  return drawn;
}

std::vector<float> numbers_of(const std::vector<TopToken>& tokens) {
  std::vector<float> numbers;
  for (const TopToken& token : tokens) {
    numbers.push_back(static_cast<float>(token.token));
    numbers.push_back(token.logit);
    numbers.push_back(token.probability);
  }
  return numbers;
}

void expect_same(const ChainRoundOutputs& found, const ChainRoundOutputs& expected) {
  EXPECT_EQ(numbers_of(found.drafted), numbers_of(expected.drafted));
  EXPECT_EQ(found.drawn_probabilities, expected.drawn_probabilities);
  EXPECT_EQ(numbers_of(found.verified), numbers_of(expected.verified));
  EXPECT_EQ(found.hidden, expected.hidden);
  EXPECT_EQ(found.accepted, expected.accepted);
  EXPECT_EQ(found.bonus_token, expected.bonus_token);
}

TEST(RoundGraphs, HaveTheBitsOfRoundsInPieces) {
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
    shape.tied_embeddings = false;  // or a token would be sure of itself
    const Checkpoint checkpoint = random_checkpoint(shape, trial == 2 ? DType::f16 : DType::bf16, random());
    NotedCalls of_whole;
    NotedCalls of_pieces;
    NotedCalls of_program;
    const auto whole = counted_backend(checkpoint, true, of_whole);
    const auto pieces = counted_backend(checkpoint, false, of_pieces);
    const auto program = counted_backend(checkpoint, false, of_program, DecodingPasses::programs);
    std::vector<Row> prompt;
    for (std::int32_t i = 0; i < 60; ++i) prompt.push_back({pick(random, 0, shape.vocab - 1), -1, i});
    Outputs unused;
    for (Backend* backend : {whole.get(), pieces.get(), program.get()})
      ASSERT_TRUE(backend->forward({.rows = prompt, .layers = {0, shape.n_layers}}, unused));
    of_whole = of_pieces = of_program = {};
    int steps = 0;
    constexpr int rounds = 8;
    for (int i = 0; i < rounds; ++i) {
      SCOPED_TRACE(testing::Message() << "trial " << trial << ", round " << i);
      const DrawnRound drawn = drawn_round(shape, random);
      ChainRoundOutputs found;
      ChainRoundOutputs expected;
      const auto first = whole->chain_round(drawn.view(), found);
      ASSERT_TRUE(first) << first.error().message;
      ASSERT_TRUE(pieces->chain_round(drawn.view(), expected));
      expect_same(found, expected);
      ChainRoundOutputs in_one_kernel;
      const auto third = program->chain_round(drawn.view(), in_one_kernel);
      ASSERT_TRUE(third) << third.error().message;
      expect_same(in_one_kernel, expected);
      steps += drawn.round.draft_length;
      short_drafts += found.drafted.size() < static_cast<std::size_t>(drawn.round.draft_length) ? 1U : 0U;
      sampled += drawn.is_sampled ? 1U : 0U;
    }
    EXPECT_EQ(of_whole.launched, rounds);
    EXPECT_EQ(of_whole.loops, of_whole.captured);
    EXPECT_EQ(of_pieces.launched, steps + rounds);
    EXPECT_EQ(of_pieces.loops, 0);
    EXPECT_EQ(of_program.launches_alone, rounds);
    EXPECT_EQ(of_program.launched, 0);
  }
  EXPECT_GT(short_drafts, 2U);
  EXPECT_GT(sampled, 5U);
}

}  // namespace
}  // namespace draftscope::engine::test
