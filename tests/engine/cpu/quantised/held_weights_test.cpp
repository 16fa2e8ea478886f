// SPDX-License-Identifier: GPL-3.0-or-later
// Tests models with packed matrices, and copies of weights for drafts.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "backends.h"
#include "numbers/bf16.h"
#include "random_model.h"
#include "relative_error.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;
using testing::HasSubstr;

constexpr std::int32_t cache_rows = 96;
constexpr WeightFormat made[] = {WeightFormat::q8_0, WeightFormat::q5_1, WeightFormat::q5_0,
                                 WeightFormat::q4_1, WeightFormat::q4_0, WeightFormat::q3_0};

std::vector<float> logits_of(Backend& backend, const Batch& batch) {
  return outputs_of(backend, batch).logits;
}

TEST(PackedModels, AreNearTheModelTheyWereMadeOfAndTheNearerTheMoreBits) {
  Random random(41);
  double errors[std::size(made)] = {};
  constexpr int rounds = 4;
  for (int round = 0; round < rounds; ++round) {
    const speculation::ModelShape shape = random_shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const OwnedBatch batch = chain(shape, random, 12, 0);
    const std::vector<float> expected =
        logits_of(*make_backend(checkpoint, {.threads = 1, .cache_rows = cache_rows}), batch.view());
    for (std::size_t i = 0; i < std::size(made); ++i) {
      const auto packed =
          make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows, .weights = made[i]});
      EXPECT_EQ(packed->describe().weights, speculation::weight_format_name(made[i]));
      errors[i] += relative_error(logits_of(*packed, batch.view()), expected) / rounds;
    }
  }
  EXPECT_LT(errors[0], 0.03);
  for (std::size_t i = 1; i < std::size(made); ++i) {
    EXPECT_GT(errors[i], errors[0]);
    EXPECT_LT(errors[i], 0.6);
  }
}

TEST(PackedModels, HaveBitsThatDependNeitherOnOtherRowsNorOnThreads) {
  Random random(43);
  for (const std::string& kernels : kernel_names())
    for (const WeightFormat format : {WeightFormat::q8_0, WeightFormat::q4_1}) {
      const speculation::ModelShape shape = random_shape(random);
      const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
      const auto one = make_backend(
          checkpoint, {.threads = 1, .cache_rows = cache_rows, .kernels = kernels, .weights = format});
      const auto three = make_backend(
          checkpoint, {.threads = 3, .cache_rows = cache_rows, .kernels = kernels, .weights = format});
      const OwnedBatch batch = chain(shape, random, pick(random, 2, 64), 0);
      const std::vector<float> expected = logits_of(*three, batch.view());
      std::vector<float> alone;
      for (std::size_t row = 0; row < batch.rows.size(); ++row) {
        OwnedBatch single = batch;
        single.rows = {batch.rows[row]};
        single.first_row = static_cast<std::int32_t>(row);
        single.committed = single.first_row;
        const std::vector<float> logits = logits_of(*one, single.view());
        alone.insert(alone.end(), logits.begin(), logits.end());
      }
      ASSERT_EQ(alone.size(), expected.size());
      EXPECT_EQ(std::memcmp(alone.data(), expected.data(), alone.size() * sizeof(float)), 0) << kernels;
    }
}

TEST(HeldWeights, AreThoseOfAModelThatWasPackedWhenItWasLoaded) {
  Random random(47);
  for (std::size_t i = 0; i < 2 * std::size(made); ++i) {
    const WeightFormat format = made[i / 2];
    speculation::ModelShape shape = random_shape(random);
    if (i % 2 == 1) {  // An MLP without a gate has no such matrix to pack.
      const char* const architecture = i % 4 == 1 ? "ArceeForCausalLM" : "ApertusForCausalLM";
      shape = of_family(shape, *speculation::find_architecture(architecture), random);
    }
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    const auto plain = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows});
    const auto packed = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows, .weights = format});
    EXPECT_EQ(plain->describe().draft_weight_bytes, 0U);
    const OwnedBatch batch = chain(shape, random, 7, 0);
    const std::vector<float> before = logits_of(*plain, batch.view());
    ASSERT_TRUE(plain->prepare_draft_weights(format));
    EXPECT_GT(plain->describe().draft_weight_bytes, 0U);
    EXPECT_EQ(plain->describe().weights, "bf16");
    Batch draft = batch.view();
    draft.weights = format;
    EXPECT_EQ(logits_of(*plain, draft), logits_of(*packed, batch.view()));
    EXPECT_NE(logits_of(*plain, draft), before);
    EXPECT_EQ(logits_of(*plain, batch.view()), before) << "the model's own passes are as they were";
    // Preparing a format again neither makes the copy again nor stores it twice.
    const std::size_t held = plain->describe().draft_weight_bytes;
    ASSERT_TRUE(plain->prepare_draft_weights(format));
    EXPECT_EQ(plain->describe().draft_weight_bytes, held);
    ASSERT_TRUE(packed->prepare_draft_weights(format));
    EXPECT_EQ(packed->describe().draft_weight_bytes, 0U);
  }
}

/// The value of e4m3 that is nearest to a number of at most 448, found by trying all; of two equally near
/// ones that with an even code.
float nearest_in_e4m3(float value) {
  float nearest = 0.0F;
  for (int code = 0; code < 0x7f; ++code) {
    const float magnitude = code < 8 ? std::ldexp(static_cast<float>(code), -9)
                                     : std::ldexp(static_cast<float>(8 + code % 8), code / 8 - 10);
    const float here = std::abs(std::abs(value) - magnitude);
    const float best = std::abs(std::abs(value) - nearest);
    if (here < best || (here == best && code % 2 == 0)) nearest = magnitude;
  }
  return std::copysign(nearest, value);
}

/// A plain matrix of bf16 rounded to e4m3, with a scale for each tile of the given rows and columns.
std::vector<std::uint16_t> in_e4m3(const TensorView& tensor, std::int64_t tile_rows,
                                   std::int64_t tile_columns) {
  const auto* const bits = reinterpret_cast<const std::uint16_t*>(tensor.data);
  std::vector<std::uint16_t> rounded(static_cast<std::size_t>(tensor.rows * tensor.columns));
  for (std::int64_t row = 0; row < tensor.rows; ++row)
    for (std::int64_t column = 0; column < tensor.columns; ++column) {
      const std::int64_t top = row / tile_rows * tile_rows;
      const std::int64_t left = column / tile_columns * tile_columns;
      float largest = 0.0F;
      for (std::int64_t i = top; i < std::min(tensor.rows, top + tile_rows); ++i)
        for (std::int64_t k = left; k < std::min(tensor.columns, left + tile_columns); ++k)
          largest = std::max(largest, std::abs(bf16_to_float(bits[i * tensor.columns + k])));
      const float scale = largest / 448.0F;
      const std::int64_t at = row * tensor.columns + column;
      rounded[static_cast<std::size_t>(at)] =
          float_to_bf16(scale > 0.0F ? nearest_in_e4m3(bf16_to_float(bits[at]) / scale) * scale : 0.0F);
    }
  return rounded;
}

TEST(HeldWeights, InE4m3AreThoseOfAModelWhoseLayersWereRounded) {
  Random random(67);
  for (const WeightFormat format :
       {WeightFormat::fp8, WeightFormat::fp8_block, WeightFormat::fp8, WeightFormat::fp8_block}) {
    const bool is_by_block = format == WeightFormat::fp8_block;
    const speculation::ModelShape shape = random_shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    Checkpoint rounded = checkpoint;
    std::vector<std::vector<std::uint16_t>> kept;
    for (LayerWeights& layer : rounded.weights.layers)
      for (TensorView* matrix :
           {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down}) {
        kept.push_back(in_e4m3(*matrix, is_by_block ? 128 : 1, is_by_block ? 128 : matrix->columns));
        matrix->data = reinterpret_cast<const std::byte*>(kept.back().data());
      }
    const auto plain = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows});
    const auto expected = make_backend(rounded, {.threads = 1, .cache_rows = cache_rows});
    const OwnedBatch batch = chain(shape, random, 7, 0);
    const std::vector<float> before = logits_of(*plain, batch.view());
    ASSERT_TRUE(plain->prepare_draft_weights(format));
    EXPECT_GT(plain->describe().draft_weight_bytes, 0U);
    Batch draft = batch.view();
    draft.weights = format;
    const std::vector<float> drafted = logits_of(*plain, draft);
    EXPECT_EQ(drafted, logits_of(*expected, batch.view()));
    EXPECT_NE(drafted, before);
    EXPECT_LT(relative_error(drafted, before), 0.2);
    EXPECT_EQ(logits_of(*plain, batch.view()), before);
  }
}

TEST(HeldWeights, LeaveTheCacheAsItWas) {
  Random random(61);
  const speculation::ModelShape shape = random_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
  const auto holds = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows});
  const auto never = make_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows});
  const OwnedBatch prompt = chain(shape, random, 9, 0);
  for (Backend* backend : {holds.get(), never.get()}) logits_of(*backend, prompt.view());
  ASSERT_TRUE(holds->prepare_draft_weights(WeightFormat::q4_0));
  OwnedBatch next = chain(shape, random, 4, 9);
  next.committed = 9;
  EXPECT_EQ(logits_of(*holds, next.view()), logits_of(*never, next.view()));
}

TEST(HeldWeights, AreRefusedWhereTheyAreNotHeldOrNotMade) {
  Random random(59);
  const speculation::ModelShape shape = random_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
  const auto backend = make_backend(checkpoint, {.threads = 1, .cache_rows = cache_rows});
  ASSERT_TRUE(backend->prepare_draft_weights(WeightFormat::q8_0));
  const OwnedBatch batch = chain(shape, random, 3, 0);
  Batch draft = batch.view();
  draft.weights = WeightFormat::q4_0;
  Outputs outputs;
  const auto refused = backend->forward(draft, outputs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "batch.weights is q4_0, expected the model's own, q8_0");
  EXPECT_FALSE(make_cpu_backend(checkpoint, {.weights = WeightFormat::fp8}));
  for (const WeightFormat format : {WeightFormat::int4, WeightFormat::q4_k, WeightFormat::bf16}) {
    const auto not_made = backend->prepare_draft_weights(format);
    ASSERT_FALSE(not_made);
    EXPECT_THAT(not_made.error().message, HasSubstr("expected one of q8_0"));
    EXPECT_FALSE(make_cpu_backend(checkpoint, {.weights = format}));
  }
}

TEST(HeldWeights, AreOfExactlyTheFormatsThatARefusalNames) {
  Random random(71);
  const Checkpoint checkpoint = random_checkpoint(random_shape(random), DType::bf16, random());
  const auto backend = make_backend(checkpoint, {.threads = 1, .cache_rows = cache_rows});
  const auto refused = backend->prepare_draft_weights(WeightFormat::int4);
  ASSERT_FALSE(refused);
  const std::string named = refused.error().message + ",";
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    EXPECT_EQ(backend->prepare_draft_weights(row.format).has_value(),
              named.substr(named.find("expected")).find(fmt::format(" {},", row.name)) != std::string::npos)
        << row.name;
}

}  // namespace
}  // namespace draftscope::engine::test
