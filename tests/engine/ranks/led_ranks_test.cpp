// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding with several ranks, of which rank 0 knows the strategies: every text is vanilla's, and every rank
// ends with rank 0.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "counted_drafts.h"
#include "decoded_text.h"
#include "every_strategy.h"
#include "led_ranks.h"

namespace draftscope::engine::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int32_t context_rows = 160;

speculation::ModelShape shape_of_ranks(Random& random, std::int32_t size) {
  speculation::ModelShape shape = random_shape(random);
  shape.n_layers = 4;
  shape.n_kv_heads = size;
  shape.n_heads = size * pick(random, 1, 3);
  shape.d_ff = 8 * pick(random, 4, 20);
  shape.vocab = pick(random, 150, 400);
  return shape;
}

/// Opens the same model on one rank as the draft's.
StrategyResources drafting_by(const Checkpoint& checkpoint) {
  return {.open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> {
    DRAFTSCOPE_TRY_ASSIGN(auto whole,
                          make_cpu_backend(checkpoint, {.threads = 1, .cache_rows = context_rows}));
    return std::shared_ptr<Backend>(std::move(whole));
  }};
}

TEST(LedRanks, EveryStrategyDecodesTheTextOfVanilla) {
  Random random(61);
  CountedDrafts all;
  for (int trial = 0; trial < 4; ++trial) {
    SCOPED_TRACE(trial);
    const std::int32_t size = trial % 2 == 0 ? 2 : 4;
    const Checkpoint checkpoint =
        random_checkpoint(shape_of_ranks(random, size), trial < 2 ? DType::bf16 : DType::f32, random());
    LedRanks ranks({&checkpoint}, size, {.threads = trial < 2 ? 2 : 1, .cache_rows = context_rows});
    Backend& backend = ranks.backend();
    const auto prompt = random_prompt(random, checkpoint.shape.vocab);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 16};
    if (trial == 1) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
    const auto vanilla = text_under(backend, "vanilla", request);
    const EveryStrategy strategies(checkpoint.shape, held_weights(backend));
    for (const std::string& specification : strategies.specifications()) {
      SCOPED_TRACE(specification);
      EXPECT_EQ(text_under(backend, specification, request, all, drafting_by(checkpoint)), vanilla);
    }
    EXPECT_THAT(ranks.ends(), Each(IsEmpty()));
  }
  // Both outcomes must have been met often for the equality to mean something; rejected drafts and trees move
  // K/V rows and write over others.
  EXPECT_GT(all.accepted, 100);
  EXPECT_GT(all.drafted - all.accepted, 100);
}

TEST(LedRanks, TextsAreTheSameOnTwoFourAndEightRanks) {
  Random random(67);
  for (int trial = 0; trial < 3; ++trial) {
    speculation::ModelShape shape = shape_of_ranks(random, 8);
    shape.head_dim = 16;
    shape.d_ff = 256;
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto prompt = random_prompt(random, shape.vocab);
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = 40, .sampling = {.temperature = 1.0, .top_p = 0.9}};
    std::set<std::vector<std::int32_t>> texts;
    for (const std::int32_t size : {2, 4, 8}) {
      LedRanks ranks({&checkpoint}, size, {.threads = 1, .cache_rows = context_rows});
      texts.insert(text_under(ranks.backend(), "layerskip:exit=2,gamma=3", request));
    }
    EXPECT_EQ(texts.size(), 1);
  }
}

TEST(LedRanks, ABatchThatIsWrongIsRefusedAndTheNextIsComputed) {
  Random random(71);
  const Checkpoint checkpoint = random_checkpoint(shape_of_ranks(random, 2), DType::bf16, 3);
  LedRanks ranks({&checkpoint}, 2, {.threads = 1, .cache_rows = 64});
  OwnedBatch wrong = chain(checkpoint.shape, random, 4, 0);
  wrong.rows[2].token = checkpoint.shape.vocab;
  Outputs outputs;
  EXPECT_FALSE(ranks.backend().forward(wrong.view(), outputs));
  const std::vector<CacheMove> nowhere{{0, 64}};
  EXPECT_FALSE(ranks.backend().move_cache_rows(nowhere));
  EXPECT_FALSE(ranks.backend().hold_weights(speculation::WeightFormat::f32));
  EXPECT_TRUE(ranks.backend().forward(chain(checkpoint.shape, random, 4, 0).view(), outputs));
  EXPECT_THAT(ranks.ends(), Each(IsEmpty()));
}

std::string refusal(std::vector<const Checkpoint*> checkpoints, std::int32_t size) {
  try {
    LedRanks ranks(std::move(checkpoints), size, {.threads = 1, .cache_rows = 64});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(LedRanks, ModelsThatDifferOrCanNotBeDividedEndEveryRank) {
  Random random(73);
  const speculation::ModelShape shape = shape_of_ranks(random, 2);
  Checkpoint one = random_checkpoint(shape, DType::bf16, 1);
  Checkpoint other = random_checkpoint(shape, DType::bf16, 2);
  one.hash = "1";
  other.hash = "2";
  EXPECT_EQ(refusal({&one}, 2), "");
  EXPECT_EQ(refusal({&one, &other}, 2), "rank 1: found model 2, expected 1 as rank 0");
  EXPECT_THAT(refusal({&one}, 3), HasSubstr("n_kv_heads is 2, expected a multiple of 3 ranks"));
}

}  // namespace
}  // namespace draftscope::engine::test
