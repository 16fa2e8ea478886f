// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that stay as a file packs them: all results have the bits of the same file widened.

#include <draftscope/engine/decode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "decoded_text.h"
#include "every_strategy.h"
#include "next_token_layer.h"
#include "same_bits.h"
#include "stored_formats.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

constexpr std::int32_t stored_cache_rows = 170;

/// Expects the same bits for a prompt (with a library's products or not), for a tree after it, and for one
/// row, on devices of different sizes.
void expect_same_bits(const Checkpoint& packed, const Checkpoint& widened, Random& random,
                      std::int32_t max_rows) {
  const speculation::ModelShape& shape = packed.shape;
  const CudaOptions options{.cache_rows = stored_cache_rows};
  const auto of_packed = backend_on_device(packed, options, pick(random, 1, 4));
  const auto of_widened = backend_on_device(widened, options, pick(random, 1, 4));
  const std::int32_t context = chance(random, 0.3) ? pick(random, 65, 80) : pick(random, 1, max_rows / 2);
  OwnedBatch prompt = chain(shape, random, context, 0);
  prompt.wanted.head_from = context - 1;
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, prompt), outputs_of(*of_widened, prompt)))
      << "prompt of " << context;
  OwnedBatch batch = tree(shape, random, pick(random, 2, max_rows), context);
  for (std::int32_t boundary = 0; boundary <= shape.n_layers; ++boundary)
    batch.hidden_after.push_back(boundary);
  if (chance(random, 0.5)) batch.mask = random_mask(random, shape.n_layers, 0.3);
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, batch), outputs_of(*of_widened, batch)))
      << "tree of " << batch.rows.size();
  const OwnedBatch one = chain(shape, random, 1, context);
  EXPECT_TRUE(have_same_bits(outputs_of(*of_packed, one), outputs_of(*of_widened, one)));
}

class StoredWeights : public testing::TestWithParam<StoredFormat> {
 protected:
  [[nodiscard]] const StoredFormat& format() const { return GetParam(); }
  /// The variant of a turn.
  [[nodiscard]] const StoredVariant& some(std::size_t turn) const {
    return format().variants[format().some[turn % format().some.size()]];
  }
  [[nodiscard]] speculation::ModelShape random_shape() { return random_shape_of(format(), random_); }
  [[nodiscard]] PackedModel made(const StoredVariant& variant, const speculation::ModelShape& shape) {
    return variant.pack(random_checkpoint(shape, variant.dtype, random_()), random_);
  }
  void expect_bits_of_widened(const StoredVariant& variant, const speculation::ModelShape& shape,
                              std::int32_t max_rows) {
    SCOPED_TRACE(variant.name);
    PackedModel model = made(variant, shape);
    expect_same_bits(model.packed(), model.widened(), random_, max_rows);
  }

  Random random_{151};
};

TEST_P(StoredWeights, HaveTheBitsOfTheSameFileWidened) {
  for (const StoredVariant& variant : format().variants)
    for (int round = 0; round < variant.rounds; ++round) {
      SCOPED_TRACE(round);
      expect_bits_of_widened(variant, random_shape(), format().max_rows);
    }
}

/// Depths give slices of every length, which may begin within a run, or within a lane's group of scales.
TEST_P(StoredWeights, HaveThemAtEveryDepth) {
  const std::int32_t step = format().depth_step;
  for (const StoredVariant& variant : format().variants)
    for (int round = 0; round < variant.deep_rounds; ++round) {
      SCOPED_TRACE(round);
      speculation::ModelShape shape = random_shape();
      shape.n_layers = 1;
      shape.vocab = std::min(shape.vocab, 40);
      shape.d_model = step * pick(random_, 1, 24 * 32 / step);
      shape.d_ff = step * pick(random_, std::max(1, 10 * 32 / step), 90 * 32 / step);
      expect_bits_of_widened(variant, shape, 12);
    }
}

TEST_P(StoredWeights, HaveThemInEveryFamily) {
  std::size_t turn = 0;
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!computed_by_cuda(family)) continue;
    SCOPED_TRACE(family.architecture);
    speculation::ModelShape shape = random_shape();
    shape.d_ff = std::max(format().depth_step, shape.d_ff % 256);
    expect_bits_of_widened(some(turn++), of_family(shape, family, random_), format().max_family_rows);
  }
}

/// Rounds run on the device. Strategies take turns at greedy text by one model and coupled text by another.
TEST_P(StoredWeights, DecodeTheTextOfTheWidenedFile) {
  speculation::ModelShape shape = random_shape();
  shape.n_layers = 3;
  shape.sliding_window = 0;
  shape.d_ff = format().depth_step;
  if (format().depth_step == 32) {
    shape.d_model = 64;
    shape.d_ff = 160;
    shape.head_dim = 32;
    shape.vocab = 48;
  }
  const CudaOptions options{.cache_rows = stored_cache_rows};
  const Checkpoint other = random_checkpoint(shape, DType::bf16, random_());
  const auto draft = std::shared_ptr<Backend>(backend_on_device(other, options));
  const StrategyResources resources = with_next_token_layer(
      other, [&](const Checkpoint& layer) { return backend_on_device(layer, options); },
      {.open_draft_model = [&](const std::string&) -> Result<std::shared_ptr<Backend>> { return draft; }});
  const std::vector<std::int32_t> prompt = random_prompt(random_, shape.vocab, 12);
  struct Text {
    PackedModel model;
    DecodeRequest request;
    std::unique_ptr<Backend> packed;
    std::vector<std::int32_t> expected;
  };
  std::vector<Text> texts;
  for (const std::size_t turn : {0U, 1U}) {
    Text text{.model = made(some(turn), shape),
              .request = {.prompt = prompt, .max_new_tokens = format().text_tokens}};
    if (turn == 1) text.request.sampling = {.temperature = 0.8, .coupled = true};
    text.packed = backend_on_device(text.model.packed(), options);
    text.expected =
        text_under(*backend_on_device(text.model.widened(), options), "vanilla", text.request, resources);
    texts.push_back(std::move(text));
  }
  const EveryStrategy strategies(shape, {});  // It also writes the files that the strategies name.
  const std::vector<std::string>& all = strategies.specifications();
  std::size_t turn = 0;
  for (std::size_t i = 0; i < all.size(); i += format().strategy_step) {
    SCOPED_TRACE(all[i]);
    const Text& text = texts[turn++ % texts.size()];
    EXPECT_EQ(text_under(*text.packed, all[i], text.request, resources), text.expected);
  }
}

/// Rounding packed layers to another format gives the same weights as rounding the widened file.
TEST_P(StoredWeights, AreRoundedAsTheWidenedFileIs) {
  for (std::size_t turn = 0; turn < format().some.size(); ++turn) {
    SCOPED_TRACE(some(turn).name);
    const speculation::ModelShape shape = random_shape();
    PackedModel model = made(some(turn), shape);
    const CudaOptions options{.cache_rows = 40, .weights = WeightFormat::fp8};
    const auto packed = backend_on_device(model.packed(), options);
    const auto widened = backend_on_device(model.widened(), options);
    const OwnedBatch rows = chain(shape, random_, 5, 0);
    EXPECT_THAT(packed->describe().weights, testing::StartsWith("fp8"));
    EXPECT_TRUE(have_same_bits(outputs_of(*packed, rows), outputs_of(*widened, rows)));
  }
}

/// Drafts in another format equal a backend whose layers are all in that format. A draft shares the K/V in
/// the activations' type: beside fp16 there is int4 alone.
TEST_P(StoredWeights, HaveDraftsInOtherFormats) {
  using enum WeightFormat;
  for (std::size_t turn = 0; turn < format().some.size(); ++turn) {
    const speculation::ModelShape shape = random_shape();
    PackedModel model = made(some(turn), shape);
    const bool is_f16 = some(turn).dtype == DType::f16;
    const auto backend = backend_on_device(model.packed(), {.cache_rows = 40});
    const OwnedBatch rows = chain(shape, random_, 5, 0);
    for (const WeightFormat draft : {fp8, q8_0, q4_0, q4_k, int4, fp8_block}) {
      SCOPED_TRACE(some(turn).name + ", draft in " + std::string(speculation::weight_format_name(draft)));
      const auto held = backend->prepare_draft_weights(draft);
      if (is_f16 && draft != int4) {
        ASSERT_FALSE(held);
        EXPECT_THAT(held.error().message, testing::HasSubstr("for drafts, expected int4 beside fp16"));
        continue;
      }
      ASSERT_TRUE(held) << held.error().message;
      const auto rounded = backend_on_device(model.packed(), {.cache_rows = 40, .weights = draft});
      EXPECT_THAT(rounded->describe().weights,
                  testing::StartsWith(std::string(speculation::weight_format_name(draft))));
      Batch batch = rows.view();
      batch.weights = draft;
      Outputs drafted;
      Outputs whole;
      ASSERT_TRUE(backend->forward(batch, drafted));
      ASSERT_TRUE(rounded->forward(rows.view(), whole));
      EXPECT_EQ(drafted.logits, whole.logits);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, StoredWeights, testing::ValuesIn(stored_formats()),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace draftscope::engine::test
