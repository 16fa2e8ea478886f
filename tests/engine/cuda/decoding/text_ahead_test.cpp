// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds without a draft that the backend runs several at once equal the rounds of the decode loop, one by
// one: the same tokens, the same bits of their logits, the same end.

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cuda_shapes.h"
#include "random_decoding.h"
#include "step_by_step.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

/// Plans rounds that may be run at once, and, at a rate, a draft between them, which makes rounds run ahead
/// useless.
class MayRunAhead final : public Strategy {
 public:
  MayRunAhead(const speculation::ModelShape& shape, double draft_rate, std::uint64_t seed)
      : shape_(shape), draft_rate_(draft_rate), random_(seed) {}
  RoundPlan plan(const RoundView& /*round*/) override {
    const std::int32_t ahead = pick(random_, 1, 9);
    mask_ = random_mask(random_, shape_.n_layers, 0.3);
    if (chance(random_, draft_rate_)) return {.mask = &mask_, .draft_length = pick(random_, 1, 4)};
    return {.ahead = ahead};
  }
  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    best.insert(best.end(), outcome.verified.begin(), outcome.verified.end());
    EXPECT_GE(outcome.verify_ns, 0);
  }

  std::vector<TopToken> best;  ///< Best tokens of the target over all rounds.

 private:
  const speculation::ModelShape& shape_;
  double draft_rate_;
  Random random_;
  speculation::SublayerMask mask_;
};

struct DecodedAhead {
  DecodeResult result;
  std::vector<TopToken> best;
  std::vector<traces::Round> rounds;
};

DecodedAhead decoded_ahead(Backend& backend, const DecodeRequest& request, double draft_rate,
                           std::uint64_t seed) {
  MayRunAhead strategy(backend.shape(), draft_rate, seed);
  SeededChooser chooser(1, 1);
  HeardRounds heard;
  auto result = decode(backend, strategy, request, chooser, heard);
  EXPECT_TRUE(result) << result.error().message;
  return {result.value_or(DecodeResult{}), strategy.best, heard.rounds};
}

bool are_same_bits(const std::vector<TopToken>& a, const std::vector<TopToken>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const TopToken& left, const TopToken& right) {
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    return left.token == right.token && bits(left.logit) == bits(right.logit) &&
           bits(left.probability) == bits(right.probability);
  });
}

TEST(TextAhead, IsTheTextOfAPassAToken) {
  Random random(77);
  std::size_t ended_by_token = 0;
  std::size_t ended_by_context = 0;
  for (int trial = 0; trial < 8; ++trial) {
    SCOPED_TRACE(trial);
    const RandomDecoding decoding(random, trial, 70, 20);
    const DecodeRequest request{
        .prompt = decoding.prompt,
        .max_new_tokens = pick(random, 1, 30),
        .eos_tokens = chance(random, 0.5) ? decoding.ends() : std::span<const std::int32_t>()};
    const std::int32_t cache_rows = pick(random, 22, 34);
    const double draft_rate = trial % 4 == 3 ? 0.3 : 0.0;
    const std::uint64_t seed = random();
    const auto backend = decoding.make(2, cache_rows);
    const DecodedAhead ahead = decoded_ahead(*backend, request, draft_rate, seed);
    StepByStep one_by_one(decoding.make(2, cache_rows));
    const DecodedAhead expected = decoded_ahead(one_by_one, request, draft_rate, seed);
    EXPECT_EQ(ahead.result.tokens, expected.result.tokens);
    EXPECT_EQ(ahead.result.stop, expected.result.stop);
    EXPECT_TRUE(are_same_bits(ahead.best, expected.best));
    ASSERT_EQ(ahead.rounds.size(), expected.rounds.size());
    for (std::size_t i = 0; i < ahead.rounds.size(); ++i) {
      EXPECT_EQ(ahead.rounds[i].emitted, expected.rounds[i].emitted);
      EXPECT_EQ(ahead.rounds[i].root_position, expected.rounds[i].root_position);
      if (i == 0) continue;
      EXPECT_EQ(ahead.rounds[i].start_ns, ahead.rounds[i - 1].end_ns);
    }
    ended_by_token += ahead.result.stop == traces::RequestStop::eos ? 1U : 0U;
    ended_by_context += ahead.result.stop == traces::RequestStop::context ? 1U : 0U;
  }
  EXPECT_GT(ended_by_token, 0U);
  EXPECT_GT(ended_by_context, 0U);
}

}  // namespace
}  // namespace draftscope::engine::test
