// SPDX-License-Identifier: GPL-3.0-or-later
// Drafts on fp8 weights beside a target as stored: the text is the target's, the draft computes what fp8
// weights compute, and rounds of the device's own are those that the host would lead.

#include <draftscope/engine/decode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "every_strategy.h"
#include "step_by_step.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t fp8_cache_rows = 160;

speculation::ModelShape random_shape_for_fp8(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.sliding_window = 0;
  shape.n_layers = 3;
  shape.d_model = 16 * pick(random, 1, 4);
  shape.d_ff = 16 * pick(random, 1, 6);
  shape.head_dim = 32 * pick(random, 1, 2);
  shape.vocab = pick(random, 4, 60);
  return shape;
}

struct Heard : DecodeListener {
  std::vector<std::int32_t> drafts;
  std::vector<double> confidences;
  std::int64_t accepted = 0;
  void on_round(const RoundReport& report) override {
    accepted += report.round.accepted;
    for (const traces::DraftToken& token : report.draft_tokens) {
      drafts.push_back(token.token);
      confidences.push_back(token.confidence);
    }
  }
};

std::vector<std::int32_t> text(Backend& backend, const std::string& specification,
                               const DecodeRequest& request, Heard& heard) {
  auto strategy = make_strategy(specification, backend.shape());
  EXPECT_TRUE(strategy) << strategy.error().message;
  if (!strategy) return {};
  SeededChooser chooser(5, 2);
  auto decoded = decode(backend, *strategy->strategy, request, chooser, heard);
  EXPECT_TRUE(decoded) << decoded.error().message;
  return decoded ? decoded->tokens : std::vector<std::int32_t>();
}

TEST(Fp8Drafts, LeaveTheTextOfTheTargetUnderEveryStrategy) {
  Random random(91);
  Heard all;
  for (int trial = 0; trial < models_of_a_long_test(); ++trial) {
    const speculation::ModelShape shape = random_shape_for_fp8(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto plain = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows});
    const auto mixed = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows, .fp8_drafts = true});
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 80)));
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 10};
    if (trial % 2 == 1) request.sampling = {.temperature = 0.8, .coupled = true};
    const EveryStrategy strategies(shape);
    Heard unheard;
    const std::vector<std::int32_t> vanilla = text(*plain, "vanilla", request, unheard);
    for (const std::string& specification : strategies.specifications()) {
      if (specification.starts_with("two-model")) continue;  // drafts on weights of another model
      SCOPED_TRACE(specification);
      EXPECT_EQ(text(*mixed, specification, request, all), vanilla);
    }
  }
  // Both outcomes must have been met often for the equality to mean something.
  EXPECT_GT(all.accepted, 50);
  EXPECT_GT(static_cast<std::int64_t>(all.drafts.size()) - all.accepted, 50);
}

TEST(Fp8Drafts, OfTheDevicesOwnRoundsAreThoseThatTheHostLeads) {
  Random random(93);
  for (int trial = 0; trial < 2; ++trial) {
    SCOPED_TRACE(trial);
    const speculation::ModelShape shape = random_shape_for_fp8(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const CudaOptions options{.cache_rows = fp8_cache_rows, .fp8_drafts = true};
    const auto alone = backend_on_device(checkpoint, options, 2);
    StepByStep led(backend_on_device(checkpoint, options, 3));
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 40)), 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 20};
    if (trial % 2 == 1) request.sampling = {.temperature = 0.7, .coupled = true};
    Heard by_itself;
    Heard by_loop;
    const std::string strategy = "layerskip:exit=2,gamma=5,verify=all-layers";
    EXPECT_EQ(text(*alone, strategy, request, by_itself), text(led, strategy, request, by_loop));
    EXPECT_EQ(by_itself.drafts, by_loop.drafts);
    EXPECT_EQ(by_itself.confidences, by_loop.confidences);
  }
}

TEST(Fp8Drafts, ComputeWhatABackendInFp8Does) {
  Random random(95);
  for (int trial = 0; trial < 4; ++trial) {
    const speculation::ModelShape shape = random_shape_for_fp8(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto stored = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows});
    const auto fp8 =
        backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows, .weights = CudaWeights::fp8});
    const auto mixed = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows, .fp8_drafts = true});
    const OwnedBatch rows = chain(shape, random, 12, 0);
    const auto logits = [&](Backend& backend, bool is_draft) {
      Outputs outputs;
      Batch batch = rows.view();
      batch.is_draft = is_draft;
      EXPECT_TRUE(backend.forward(batch, outputs));
      return outputs.logits;
    };
    EXPECT_EQ(logits(*mixed, true), logits(*fp8, false));
    EXPECT_EQ(logits(*mixed, false), logits(*stored, false));
    EXPECT_EQ(logits(*stored, true), logits(*stored, false));  // holds no other weights
    EXPECT_NE(logits(*mixed, true), logits(*mixed, false));
  }
}

TEST(Fp8Drafts, AreRefusedBesideOtherWeightsThanBf16) {
  Random random(97);
  const speculation::ModelShape shape = random_shape_for_fp8(random);
  const auto refusal = [&](DType dtype, const CudaOptions& options) -> std::string {
    try {
      const auto made = backend_on_device(random_checkpoint(shape, dtype, 1), options);
      return "made";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(DType::f16, {.cache_rows = 9, .fp8_drafts = true}),
            "model random: weights are fp16, expected bf16 beside fp8 drafts");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9, .weights = CudaWeights::fp8, .fp8_drafts = true}),
            "cuda backend: fp8 drafts beside weights in fp8, expected weights as stored");
}

}  // namespace
}  // namespace draftscope::engine::test
