// SPDX-License-Identifier: GPL-3.0-or-later
// What a pass of several ranks keeps of one, and of other numbers of ranks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "compared_outputs.h"
#include "cpu/rank_tensors.h"
#include "random_model.h"
#include "shared_backend.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

constexpr std::int32_t cache_rows = 160;

/// Divides by eight in every way, with a tile's height of outputs for each rank; the vocabulary has blocks
/// enough for some ranks alone.
speculation::ModelShape even_shape(Random& random) {
  speculation::ModelShape shape = random_shape(random);
  shape.n_kv_heads = 8;
  shape.n_heads = 8 * pick(random, 1, 2);
  shape.head_dim = 2 * pick(random, 8, 20);
  shape.d_ff = 8 * pick(random, 16, 40);
  shape.vocab = pick(random, 100, 1000);
  return shape;
}

TEST(SharedPass, HasTheSameBitsOnTwoFourAndEightRanks) {
  Random random(31);
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    const speculation::ModelShape shape = even_shape(random);
    const Checkpoint checkpoint =
        random_checkpoint(shape, round % 2 == 0 ? DType::bf16 : DType::f32, random());
    const auto two = make_shared_backend(checkpoint, 2, {.threads = 2, .cache_rows = cache_rows});
    const auto four = make_shared_backend(checkpoint, 4, {.threads = 1, .cache_rows = cache_rows});
    const auto eight = make_shared_backend(checkpoint, 8, {.threads = 1, .cache_rows = cache_rows});
    OwnedBatch prompt = chain(shape, random, pick(random, 1, 100), 0);  // wide at times
    prompt.hidden_after = {shape.n_layers};
    prompt.wanted.top_k = pick(random, 0, 5);
    const Outputs expected = run_pass(*two, prompt.view());
    expect_same(run_pass(*four, prompt.view()), expected);
    expect_same(run_pass(*eight, prompt.view()), expected);
    OwnedBatch next = tree(shape, random, pick(random, 1, 8), static_cast<std::int32_t>(prompt.rows.size()));
    next.wanted.top_k = std::min(shape.vocab, 200);  // more than some ranks have tokens
    const Outputs expected_next = run_pass(*two, next.view());
    expect_same(run_pass(*four, next.view()), expected_next);
    expect_same(run_pass(*eight, next.view()), expected_next);
  }
}

TEST(SharedPass, HasTheSameBitsOnAnyNumberOfRanksWhereOneDnnMultiplies) {
  Random random(37);
  speculation::ModelShape shape = even_shape(random);
  shape.n_layers = 2;
  shape.head_dim = 64;
  shape.d_ff = 1024;
  shape.d_model = 200;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 5);
  OwnedBatch prompt = chain(shape, random, 90, 0);
  prompt.wanted.top_k = 3;
  const auto expected =
      run_pass(*make_shared_backend(checkpoint, 2, {.threads = 1, .cache_rows = cache_rows}), prompt.view());
  for (const std::int32_t size : {4, 8})
    expect_same(run_pass(*make_shared_backend(checkpoint, size, {.threads = 1, .cache_rows = cache_rows}),
                         prompt.view()),
                expected);
}

TEST(SharedPass, RoundedWeightsAreTheSameOnAnyNumberOfRanks) {
  Random random(41);
  speculation::ModelShape shape = even_shape(random);
  shape.head_dim = 32;  // a block's columns are a part's
  shape.d_ff = 512;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 6);
  OwnedBatch prompt = chain(shape, random, 20, 0);
  for (const auto format : {speculation::WeightFormat::q8_0, speculation::WeightFormat::q4_0}) {
    std::vector<Outputs> found;
    for (const std::int32_t size : {2, 4, 8}) {
      const auto held =
          make_shared_backend(checkpoint, size, {.threads = 1, .cache_rows = 64, .weights = format});
      found.push_back(run_pass(*held, prompt.view()));
      const auto drafts = make_shared_backend(checkpoint, size, {.threads = 2, .cache_rows = 64});
      ASSERT_TRUE(drafts->hold_weights(format));
      Batch batch = prompt.view();
      batch.weights = format;
      Outputs outputs;
      ASSERT_TRUE(drafts->forward(batch, outputs));
      expect_same(outputs, found.back());
    }
    expect_same(found[1], found[0]);
    expect_same(found[2], found[0]);
  }
}

TEST(SharedPass, IsNearThatOfOneRank) {
  Random random(43);
  const speculation::ModelShape shape = even_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::f32, 7);
  const OwnedBatch prompt = chain(shape, random, 20, 0);
  const Outputs whole =
      run_pass(**make_cpu_backend(checkpoint, {.threads = 1, .cache_rows = 64}), prompt.view());
  const Outputs shared =
      run_pass(*make_shared_backend(checkpoint, 2, {.threads = 1, .cache_rows = 64}), prompt.view());
  ASSERT_EQ(whole.logits.size(), shared.logits.size());
  for (std::size_t i = 0; i < whole.logits.size(); ++i)
    ASSERT_NEAR(whole.logits[i], shared.logits[i], 1e-3 * (1.0 + std::abs(whole.logits[i])));
}

TEST(SharedPass, HoldsItsShareOfWeightsAndKeys) {
  Random random(47);
  speculation::ModelShape shape = even_shape(random);
  shape.n_layers = 4;
  shape.d_model = 80;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 8);
  const auto whole = make_cpu_backend(checkpoint, {.threads = 1, .cache_rows = 64});
  const auto quarter = make_shared_backend(checkpoint, 4, {.threads = 1, .cache_rows = 64});
  EXPECT_EQ(quarter->describe().ranks, 4);
  EXPECT_EQ((*whole)->describe().ranks, 1);
  EXPECT_EQ(quarter->describe().kv_bytes, (*whole)->describe().kv_bytes / 4);
  EXPECT_LT(quarter->describe().weight_bytes, (*whole)->describe().weight_bytes);
}

std::string refusal(const speculation::ModelShape& shape, std::int32_t size) {
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 9);
  const auto tensors = cpu::divided_tensors(checkpoint, {0, size});
  return tensors ? "" : tensors.error().message;
}

TEST(SharedPass, CutsColumnsIntoPartsOfWholeGranules) {
  Random random(59);
  speculation::ModelShape shape = even_shape(random);
  shape.d_ff = 8 * 16;
  shape.head_dim = 32;  // whatever the heads' number, o can be cut
  const auto down_parts = [&](std::int64_t granule) {
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 9);
    return cpu::divided_tensors(checkpoint, {1, 2}, granule).value().layers.front().down.size();
  };
  EXPECT_EQ(down_parts(1), 4);
  EXPECT_EQ(down_parts(16), 4);
  EXPECT_EQ(down_parts(32), 1);
}

TEST(SharedPass, RefusesWhatRanksCanNotDivide) {
  Random random(53);
  speculation::ModelShape shape = even_shape(random);
  EXPECT_EQ(refusal(shape, 8), "");
  EXPECT_EQ(refusal(shape, 3), "model random: n_kv_heads is 8, expected a multiple of 3 ranks");
  shape.d_ff = 30;
  EXPECT_EQ(refusal(shape, 4), "model random: d_ff is 30, expected a multiple of 4 ranks");
  shape.traits.qk_norm = speculation::QkNorm::whole;
  shape.d_ff = 32;
  EXPECT_THAT(refusal(shape, 2), HasSubstr("expected one a head for 2 ranks"));
}

}  // namespace
}  // namespace draftscope::engine::test
