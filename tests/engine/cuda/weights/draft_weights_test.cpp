// SPDX-License-Identifier: GPL-3.0-or-later
// Drafts on fewer bits beside a target as stored. The text is the target's, and the draft equals a backend
// with weights of its format. Rounds that the device runs equal those that the host drives.

#include <draftscope/engine/decode.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "decoding/random_decoding.h"
#include "decoding/step_by_step.h"
#include "every_strategy.h"
#include "packed_model.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

constexpr std::int32_t held_cache_rows = 160;
constexpr WeightFormat draft_formats[] = {WeightFormat::fp8,  WeightFormat::q4_0, WeightFormat::q8_0,
                                          WeightFormat::int4, WeightFormat::q4_k, WeightFormat::fp8_block};

/// Widths that kernels of every format take.
speculation::ModelShape random_shape_for_drafts(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.sliding_window = 0;
  shape.n_layers = 3;
  shape.d_model = 32 * pick(random, 1, 2);
  shape.d_ff = 32 * pick(random, 1, 3);
  shape.head_dim = 32 * pick(random, 1, 2);
  shape.vocab = pick(random, 4, 60);
  return shape;
}

/// The strategy with its drafts in a format. None if it has no drafts of the model's own, or none that all
/// layers verify.
std::optional<std::string> drafted_in(WeightFormat format, const std::string& specification,
                                      std::int32_t n_layers) {
  std::string drafted = speculation::with_parameter(specification, "weights",
                                                    std::string(speculation::weight_format_name(format)));
  if (specification.find("verify=") == std::string::npos &&
      speculation::verifies_above_exit_by_default(speculation::strategy_name(specification)))
    drafted = speculation::with_parameter(drafted, "verify", "all-layers");
  if (!speculation::parse_strategy(drafted, n_layers)) return std::nullopt;
  return drafted;
}

/// A random model per test.
class DraftWeightsUnderEveryStrategy : public testing::TestWithParam<int> {};

TEST_P(DraftWeightsUnderEveryStrategy, LeaveTheTextOfTheTarget) {
  const int trial = GetParam();
  Random random(static_cast<std::uint32_t>(91 + trial));
  HeardRounds all;
  const speculation::ModelShape shape = random_shape_for_drafts(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
  const auto plain = backend_on_device(checkpoint, {.cache_rows = held_cache_rows});
  // Only one model has a long prompt, since every strategy decodes it again.
  const std::vector<std::int32_t> prompt = random_prompt(random, shape.vocab, trial == 0 ? 80 : 16);
  DecodeRequest request{.prompt = prompt, .max_new_tokens = 10};
  if (trial % 2 == 1) request.sampling = {.temperature = 0.8, .coupled = true};
  const EveryStrategy strategies(shape, {});
  const std::vector<std::int32_t> vanilla = text_under(*plain, "vanilla", request);
  std::size_t turn = static_cast<std::size_t>(trial);
  for (const std::string& specification : strategies.specifications()) {
    const auto drafted =
        drafted_in(draft_formats[turn % std::size(draft_formats)], specification, shape.n_layers);
    if (!drafted) continue;
    ++turn;
    SCOPED_TRACE(*drafted);
    EXPECT_EQ(text_under(*plain, *drafted, request, all), vanilla);
  }
  // Both outcomes must be frequent for the equality to mean something.
  EXPECT_GT(all.accepted, 25);
  EXPECT_GT(all.drafted - all.accepted, 25);
}

INSTANTIATE_TEST_SUITE_P(Models, DraftWeightsUnderEveryStrategy, testing::Range(0, models_of_a_long_test()));

TEST(DraftWeights, OfTheDevicesOwnRoundsAreThoseThatTheHostLeads) {
  Random random(93);
  for (int trial = 0; trial < 2; ++trial) {
    SCOPED_TRACE(trial);
    const speculation::ModelShape shape = random_shape_for_drafts(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const CudaOptions options{.cache_rows = held_cache_rows};
    const auto alone = backend_on_device(checkpoint, options, 2);
    StepByStep led(backend_on_device(checkpoint, options, 3));
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 40)), 1);
    DecodeRequest request{.prompt = prompt, .max_new_tokens = 20};
    if (trial % 2 == 1) request.sampling = {.temperature = 0.7, .coupled = true};
    HeardRounds by_itself;
    HeardRounds by_loop;
    const std::string strategy = std::string("layerskip:exit=2,gamma=5,verify=all-layers,weights=") +
                                 (trial % 2 == 0 ? "fp8" : "q4_0");
    EXPECT_EQ(text_under(*alone, strategy, request, by_itself), text_under(led, strategy, request, by_loop));
    expect_same_rounds(by_itself, by_loop);
  }
}

std::vector<float> logits_on(Backend& backend, const OwnedBatch& rows, std::optional<WeightFormat> weights) {
  Outputs outputs;
  Batch batch = rows.view();
  batch.weights = weights;
  const auto done = backend.forward(batch, outputs);
  EXPECT_TRUE(done) << done.error().message;
  return outputs.logits;
}

/// All formats are resident at once, beside each other.
TEST(DraftWeights, ComputeWhatABackendInTheirFormatDoes) {
  Random random(95);
  for (int trial = 0; trial < 3; ++trial) {
    const speculation::ModelShape shape = random_shape_for_drafts(random);
    const bool by_backend = trial == 2;  // The host then has no matrices.
    const auto synthetic = make_synthetic(shape, 0.5, 3, SyntheticMatrices::by_backend);
    ASSERT_TRUE(synthetic) << synthetic.error().message;
    const Checkpoint checkpoint = by_backend ? *synthetic : random_checkpoint(shape, DType::bf16, random());
    const auto stored = backend_on_device(checkpoint, {.cache_rows = held_cache_rows});
    for (const WeightFormat format : draft_formats) {
      const auto held = stored->prepare_draft_weights(format);
      ASSERT_TRUE(held) << held.error().message;
      ASSERT_TRUE(stored->prepare_draft_weights(format));  // The second call has nothing to do.
    }
    const OwnedBatch rows = chain(shape, random, 12, 0);
    for (const WeightFormat format : draft_formats) {
      SCOPED_TRACE(speculation::weight_format_name(format));
      const auto whole = backend_on_device(checkpoint, {.cache_rows = held_cache_rows, .weights = format});
      EXPECT_EQ(logits_on(*stored, rows, format), logits_on(*whole, rows, std::nullopt));
      EXPECT_NE(logits_on(*stored, rows, format), logits_on(*stored, rows, std::nullopt));
    }
  }
}

/// The device gets the same blocks as the CPU's quantiser writes without weighting columns.
TEST(DraftWeights, AreRoundedAsTheCpusSearchRoundsThem) {
  Random random(96);
  for (const WeightFormat format : {WeightFormat::q8_0, WeightFormat::q4_0}) {
    const speculation::ModelShape shape = random_shape_for_drafts(random);
    Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto stored = backend_on_device(checkpoint, {.cache_rows = held_cache_rows});
    ASSERT_TRUE(stored->prepare_draft_weights(format));
    PackedModel blocks = in_blocks(checkpoint, format);
    blocks.packed().weights.head = checkpoint.weights.head;  // Drafts use the target's head.
    const auto packed = backend_on_device(blocks.packed(), {.cache_rows = held_cache_rows});
    const OwnedBatch rows = chain(shape, random, 9, 0);
    EXPECT_EQ(logits_on(*stored, rows, format), logits_on(*packed, rows, std::nullopt));
  }
}

TEST(DraftWeights, AreRefusedWhereTheyCannotBe) {
  Random random(97);
  const speculation::ModelShape shape = random_shape_for_drafts(random);
  const auto refusal = [&](DType dtype, const CudaOptions& options, WeightFormat format) {
    const Checkpoint checkpoint = random_checkpoint(shape, dtype, 1);
    const auto held = backend_on_device(checkpoint, options)->prepare_draft_weights(format);
    return held ? "held" : held.error().message;
  };
  EXPECT_EQ(refusal(DType::f16, {.cache_rows = 9}, WeightFormat::fp8),
            "model random: found weights fp8 for drafts, expected int4 beside fp16");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9, .weights = WeightFormat::fp8}, WeightFormat::fp8),
            "model random: found weights fp8 for drafts, expected none beside fp8");
  EXPECT_EQ(refusal(DType::f16, {.cache_rows = 9}, WeightFormat::q4_0),
            "model random: found weights q4_0 for drafts, expected int4 beside fp16");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9}, WeightFormat::q4_1),
            "cuda backend: found weights q4_1 for drafts, expected one of fp8_block, fp8, q8_0, q4_0, q4_k, "
            "int4");
  EXPECT_EQ(refusal(DType::bf16, {.cache_rows = 9}, WeightFormat::q8_0), "held");
}

TEST(DraftWeights, MustBeHeldBeforeABatchNamesThem) {
  Random random(99);
  const speculation::ModelShape shape = random_shape_for_drafts(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 1);
  const auto backend = backend_on_device(checkpoint, {.cache_rows = held_cache_rows});
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
