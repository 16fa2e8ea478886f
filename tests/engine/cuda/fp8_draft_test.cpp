// SPDX-License-Identifier: GPL-3.0-or-later
// Drafts on fp8 weights beside a target as stored: the text is the target's, the draft computes what fp8
// weights compute, and rounds of the device's own are those that the host would lead.

#include <draftscope/engine/decode.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "decoding/step_by_step.h"
#include "every_strategy.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

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

/// The strategy with its drafts in fp8; none where it has no drafts of the model's own, or none that all
/// layers verify.
std::optional<std::string> in_fp8(const std::string& specification, std::int32_t n_layers) {
  std::string drafted = speculation::with_parameter(specification, "weights", "fp8");
  if (specification.find("verify=") == std::string::npos &&
      speculation::verifies_above_exit_by_default(speculation::strategy_name(specification)))
    drafted = speculation::with_parameter(drafted, "verify", "all-layers");
  if (!speculation::parse_strategy(drafted, n_layers)) return std::nullopt;
  return drafted;
}

TEST(Fp8Drafts, LeaveTheTextOfTheTargetUnderEveryStrategy) {
  Random random(91);
  Heard all;
  for (int trial = 0; trial < models_of_a_long_test(); ++trial) {
    const speculation::ModelShape shape = random_shape_for_fp8(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto plain = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows});
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 80)));
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 10};
    if (trial % 2 == 1) request.sampling = {.temperature = 0.8, .coupled = true};
    const EveryStrategy strategies(shape, {});
    Heard unheard;
    const std::vector<std::int32_t> vanilla = text(*plain, "vanilla", request, unheard);
    for (const std::string& specification : strategies.specifications()) {
      const auto drafted = in_fp8(specification, shape.n_layers);
      if (!drafted) continue;
      SCOPED_TRACE(*drafted);
      EXPECT_EQ(text(*plain, *drafted, request, all), vanilla);
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
    const CudaOptions options{.cache_rows = fp8_cache_rows};
    const auto alone = backend_on_device(checkpoint, options, 2);
    StepByStep led(backend_on_device(checkpoint, options, 3));
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 40)), 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 20};
    if (trial % 2 == 1) request.sampling = {.temperature = 0.7, .coupled = true};
    Heard by_itself;
    Heard by_loop;
    const std::string strategy = "layerskip:exit=2,gamma=5,verify=all-layers,weights=fp8";
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
    ASSERT_TRUE(stored->hold_weights(WeightFormat::fp8));
    ASSERT_TRUE(stored->hold_weights(WeightFormat::fp8));  // nothing to do
    const OwnedBatch rows = chain(shape, random, 12, 0);
    const auto logits = [&](Backend& backend, std::optional<WeightFormat> weights) {
      Outputs outputs;
      Batch batch = rows.view();
      batch.weights = weights;
      EXPECT_TRUE(backend.forward(batch, outputs));
      return outputs.logits;
    };
    EXPECT_EQ(logits(*stored, WeightFormat::fp8), logits(*fp8, std::nullopt));
    EXPECT_NE(logits(*stored, WeightFormat::fp8), logits(*stored, std::nullopt));
  }
}

TEST(Fp8Drafts, AreRefusedWhereTheyCannotBe) {
  Random random(97);
  const speculation::ModelShape shape = random_shape_for_fp8(random);
  const auto refusal = [&](DType dtype, const CudaOptions& options, WeightFormat format) {
    const Checkpoint checkpoint = random_checkpoint(shape, dtype, 1);
    const auto held = backend_on_device(checkpoint, options)->hold_weights(format);
    return held ? "held" : held.error().message;
  };
  EXPECT_EQ(refusal(DType::f16, {.cache_rows = 9}, WeightFormat::fp8),
            "model random: weights are fp16, expected bf16 beside fp8 for drafts");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9, .weights = CudaWeights::fp8}, WeightFormat::fp8),
            "model random: weights are fp8, expected bf16 beside fp8 for drafts");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9}, WeightFormat::q4_0),
            "cuda backend: found weights q4_0 for drafts, expected the model's own");
}

TEST(Fp8Drafts, MustBeHeldBeforeABatchNamesThem) {
  Random random(99);
  const speculation::ModelShape shape = random_shape_for_fp8(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 1);
  const auto backend = backend_on_device(checkpoint, {.cache_rows = fp8_cache_rows});
  const OwnedBatch rows = chain(shape, random, 2, 0);
  Batch batch = rows.view();
  batch.weights = WeightFormat::fp8;
  Outputs outputs;
  const auto done = backend->forward(batch, outputs);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "batch: found weights fp8, expected those that are held for drafts");
}

}  // namespace
}  // namespace draftscope::engine::test
