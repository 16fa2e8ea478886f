// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds that the backend runs itself equal the rounds of the decode loop: the same drafts, the same bits,
// and the same text as vanilla's.

#include <draftscope/engine/decode.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "cuda_shapes.h"
#include "random_decoding.h"
#include "step_by_step.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

/// Draws a mask, length and threshold for every round from the seed alone. Some rounds verify above the exit,
/// some request states.
class RandomPlans final : public Strategy {
 public:
  RandomPlans(const speculation::ModelShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}
  RoundPlan plan(const RoundView& /*round*/) override {
    mask_ = random_mask(random_, shape_.n_layers, 0.4);
    const bool is_exit = chance(random_, 0.5);
    if (is_exit)
      mask_ = speculation::SublayerMask::early_exit(shape_.n_layers, pick(random_, 0, shape_.n_layers));
    RoundPlan plan{
        .mask = &mask_,
        .draft_length = pick(random_, 0, 9),
        .threshold = chance(random_, 0.5) ? std::uniform_real_distribution<double>(0.0, 0.3)(random_) : -1.0};
    if (is_exit && chance(random_, 0.5)) plan.verification = Verification::above_exit;
    boundaries_.clear();
    if (chance(random_, 0.5))
      for (std::int32_t boundary = 0; boundary <= shape_.n_layers; ++boundary)
        if (chance(random_, 0.6)) boundaries_.push_back(boundary);
    plan.states = boundaries_;
    above += plan.verification == Verification::above_exit && plan.draft_length > 0 ? 1U : 0U;
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    EXPECT_EQ(outcome.states.size(),
              boundaries_.size() * (outcome.nodes.size() + 1) * static_cast<std::size_t>(shape_.d_model));
    states.insert(states.end(), outcome.states.begin(), outcome.states.end());
  }

  std::vector<float> states;  ///< States of all rounds.
  std::size_t above = 0;      ///< Rounds whose draft was verified above its exit.

 private:
  const speculation::ModelShape& shape_;
  Random random_;
  speculation::SublayerMask mask_;
  std::vector<std::int32_t> boundaries_;
};

class NoDrafts final : public Strategy {
 public:
  RoundPlan plan(const RoundView& /*round*/) override { return {}; }
};

TEST(ChainRounds, AreWhatTheDecodeLoopWouldHaveDone) {
  Random random(31);
  std::int64_t accepted = 0;
  std::size_t stopped = 0;
  std::size_t states = 0;
  std::size_t above = 0;
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const RandomDecoding decoding(random, round, 70, 70);
    const DecodeRequest request{
        .prompt = decoding.prompt,
        .max_new_tokens = 24,
        .eos_tokens = chance(random, 0.5) ? decoding.ends() : std::span<const std::int32_t>()};
    const std::uint64_t seed = random();
    const auto text = [&](Backend& backend, Strategy& strategy, HeardRounds& heard) {
      SeededChooser chooser(1, 0);
      auto decoded = decode(backend, strategy, request, chooser, heard);
      EXPECT_TRUE(decoded) << decoded.error().message;
      return decoded->tokens;
    };
    const auto alone = decoding.make(2, 110);
    StepByStep steps(decoding.make(3, 110));
    ASSERT_TRUE(alone->has_chain_rounds());
    RandomPlans plans(decoding.shape, seed);
    RandomPlans same_plans(decoding.shape, seed);
    NoDrafts vanilla;
    HeardRounds by_itself;
    HeardRounds by_loop;
    HeardRounds plain;
    const auto found = text(*alone, plans, by_itself);
    EXPECT_EQ(found, text(steps, same_plans, by_loop));
    EXPECT_EQ(found, text(steps, vanilla, plain));
    EXPECT_EQ(plans.states, same_plans.states);
    states += plans.states.size();
    above += plans.above;
    expect_same_rounds(by_itself, by_loop);
    accepted += by_itself.accepted;
    for (const traces::Round& row : by_itself.rounds)
      stopped += row.draft_stop == traces::DraftStop::threshold ? 1U : 0U;
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(stopped, 5U);
  EXPECT_GT(states, 100U);
  EXPECT_GT(above, 10U);
}

/// Every second token gets the logit of the one before: ties at the edges of top-k and top-p.
void repeat_head_rows(const TensorView& head) {
  const std::size_t bytes = static_cast<std::size_t>(head.columns) * dtype_bytes(head.dtype);
  auto* rows = const_cast<std::byte*>(head.data);
  for (std::size_t row = 1; row < static_cast<std::size_t>(head.rows); row += 2)
    std::memcpy(rows + row * bytes, rows + (row - 1) * bytes, bytes);
}

// The host's distributions are in double precision, the device's weights in single. A draw closer to an edge
// than their difference would be decided differently; these seeds have no such draw.
TEST(ChainRounds, DrawAndJudgeAsTheDecodeLoopWould) {
  Random random(43);
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const RandomDecoding decoding(random, round, 400, 20);
    if (chance(random, 0.5)) repeat_head_rows(decoding.checkpoint.weights.head);
    const DecodeRequest request{.prompt = decoding.prompt,
                                .max_new_tokens = 20,
                                .sampling = random_sampling(random, decoding.shape.vocab, round >= 10),
                                .eos_tokens = decoding.ends()};
    const std::uint64_t seed = random();
    const auto text = [&](Backend& backend, HeardRounds& heard) {
      RandomPlans plans(decoding.shape, seed);
      SeededChooser chooser(seed, 5);
      auto decoded = decode(backend, plans, request, chooser, heard);
      EXPECT_TRUE(decoded) << decoded.error().message;
      return decoded->tokens;
    };
    const auto alone = decoding.make(2, 110);
    StepByStep steps(decoding.make(2, 110));
    HeardRounds by_itself;
    HeardRounds by_loop;
    EXPECT_EQ(text(*alone, by_itself), text(steps, by_loop));
    expect_same_rounds(by_itself, by_loop);
    accepted += by_itself.accepted;
    rejected += by_itself.drafted - by_itself.accepted;
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(rejected, 50);
}

TEST(ChainRounds, RefuseWhatDoesNotFit) {
  Random random(37);
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.sliding_window = 0;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 3);
  const auto backend = tested_backends().front().make(checkpoint, 2, 20);
  ChainRoundOutputs outputs;
  const std::vector<std::int32_t> many(17, 1);
  const auto refused = [&](ChainRound round) {
    const auto done = backend->chain_round(round, outputs);
    return done ? std::string("done") : done.error().message;
  };
  const ChainRound good{.root = 0, .root_position = 2, .draft_length = 3, .layers = {0, 1}};
  ASSERT_EQ(refused(good), "done");
  const auto with = [&](auto change) {
    ChainRound round = good;
    change(round);
    return refused(round);
  };
  EXPECT_EQ(with([](auto& r) { r.root = -1; }),
            fmt::format("chain round: root is -1, expected 0 to {}", shape.vocab - 1));
  EXPECT_EQ(with([](auto& r) { r.draft_length = -1; }), "chain round: draft_length is -1, expected 0 to 19");
  const SamplingOptions cold{.temperature = -1.0};
  EXPECT_EQ(with([&](auto& r) { r.sampling = &cold; }), "temperature: found -1, expected a number ≥ 0");
  EXPECT_EQ(with([](auto& r) { r.draft_length = 18; }),
            "chain round: root_position is 2 with draft_length 18, expected them to end within 20 rows");
  EXPECT_EQ(with([](auto& r) {
              r.layers = {1, 1};
            }),
            fmt::format("chain round: layers are [1, 1), expected [0, E) with E at most {}", shape.n_layers));
  EXPECT_EQ(with([&](auto& r) { r.stops = many; }), "chain round: 17 stop tokens, expected at most 16");
  EXPECT_EQ(with([](auto& r) {
              r.above_exit = true;
              r.draft_length = 0;
            }),
            "chain round: verifies above the exit, expected a draft by all layers below layer 1");
  const std::vector<std::int32_t> boundaries{1, 1};
  EXPECT_EQ(
      with([&](auto& r) { r.states = boundaries; }),
      fmt::format("chain round: states[1] is 1, expected ascending boundaries from 0 to {}", shape.n_layers));
}

}  // namespace
}  // namespace draftscope::engine::test
