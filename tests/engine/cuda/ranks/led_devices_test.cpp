// SPDX-License-Identifier: GPL-3.0-or-later
// Decoding with several devices, of which rank 0's host knows the strategies: every text is vanilla's, and
// every rank ends with rank 0.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "counted_drafts.h"
#include "cuda_device.h"
#include "decoded_text.h"
#include "emulated_ranks.h"
#include "every_strategy.h"
#include "led_ranks.h"

namespace draftscope::engine::test {
namespace {

using testing::Each;
using testing::IsEmpty;

constexpr std::int32_t context_rows = 160;

/// Opens the same model on a device with all of it as the draft's.
StrategyResources drafting_by(const Checkpoint& checkpoint) {
  return {.open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> {
    return std::shared_ptr<Backend>(backend_on_device(checkpoint, {.cache_rows = context_rows}));
  }};
}

/// A random model per test.
class EveryStrategyOnDevices : public testing::TestWithParam<int> {};

TEST_P(EveryStrategyOnDevices, DecodesTheTextOfVanilla) {
  const int trial = GetParam();
  Random random(static_cast<std::uint32_t>(61 + trial));
  CountedDrafts all;
  const std::int32_t size = trial % 2 == 0 ? 2 : 4;
  speculation::ModelShape shape = shape_of_ranks(random, size);
  shape.sliding_window = 0;
  shape.n_layers = 3;
  shape.n_heads = size;
  shape.head_dim = 32;
  shape.vocab = pick(random, 130, 200);     // two ranks have tokens
  shape.d_model = 16 * pick(random, 1, 5);  // as fp8 wants them
  shape.d_ff = 16 * size * pick(random, 1, 3);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
  LedRanks ranks({&checkpoint}, size, make_emulated_rank({.cache_rows = context_rows}));
  const auto prompt = random_prompt(random, shape.vocab);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 12};
  if (trial == 1) request.sampling = {.temperature = 0.8, .top_p = 0.95, .coupled = true};
  const auto vanilla = text_under(ranks.backend(), "vanilla", request);
  const EveryStrategy strategies(shape, half_of_turn(held_weights(ranks.backend()), trial));
  for (const std::string& specification : strategies.specifications()) {
    SCOPED_TRACE(specification);
    EXPECT_EQ(text_under(ranks.backend(), specification, request, all, drafting_by(checkpoint)), vanilla);
  }
  EXPECT_THAT(ranks.ends(), Each(IsEmpty()));
  // Both outcomes must have been met often for the equality to mean something.
  EXPECT_GT(all.accepted, 50);
  EXPECT_GT(all.drafted - all.accepted, 50);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryStrategyOnDevices, testing::Range(0, models_of_a_long_test()));

TEST(LedDevices, TextsAreTheSameOnAnyNumberOfDevicesAndFromRunToRun) {
  Random random(67);
  const speculation::ModelShape shape = even_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
  const auto prompt = random_prompt(random, shape.vocab);
  const DecodeRequest request{
      .prompt = prompt, .max_new_tokens = 24, .sampling = {.temperature = 1.0, .top_p = 0.9}};
  std::set<std::vector<std::int32_t>> texts;
  for (const std::int32_t size : {1, 2, 2, 4, 8}) {
    LedRanks ranks({&checkpoint}, size, make_emulated_rank({.cache_rows = context_rows}));
    texts.insert(text_under(ranks.backend(), "layerskip:exit=1,gamma=3", request));
  }
  EXPECT_EQ(texts.size(), 1);
}

}  // namespace
}  // namespace draftscope::engine::test
