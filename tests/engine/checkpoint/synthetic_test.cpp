// SPDX-License-Identifier: GPL-3.0-or-later
#include "synthetic_fill.h"

#include <draftscope/engine/checkpoint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <tuple>

#include "published_models.h"

namespace draftscope::engine {
namespace {

using ::testing::HasSubstr;

/// The shapes that synthetic_golden.py uses.
speculation::ModelShape shape_named(std::string_view name) {
  speculation::ModelShape shape;
  shape.name = name;
  shape.architecture = "LlamaForCausalLM";
  shape.max_positions = 64;
  if (name == "gemma") {
    shape.n_layers = 2;
    shape.d_model = 20;
    shape.n_heads = 4;
    shape.n_kv_heads = 2;
    shape.head_dim = 8;
    shape.d_ff = 28;
    shape.vocab = 31;
    shape.tied_embeddings = true;
    shape.traits = {.norm_weight = speculation::NormWeight::plus_one,
                    .norm_place = speculation::NormPlace::around,
                    .qk_norm = speculation::QkNorm::heads,
                    .attention_multiplier = 0.3,
                    .embedding_multiplier = 0.0,
                    .logit_multiplier = 0.5};
    return shape;
  }
  const bool tied = name == "tied";
  shape.tied_embeddings = tied;
  shape.qkv_bias = shape.output_bias = shape.mlp_bias = !tied;
  shape.n_layers = tied ? 2 : 3;
  shape.d_model = tied ? 16 : 24;
  shape.n_heads = tied ? 2 : 3;
  shape.n_kv_heads = tied ? 1 : 3;
  shape.head_dim = tied ? 8 : 6;
  shape.d_ff = tied ? 24 : 40;
  shape.vocab = tied ? 50 : 33;
  return shape;
}

std::uint64_t fnv1a(const TensorView& view) {
  std::uint64_t digest = 0xCBF29CE484222325U;
  for (const auto byte : std::span(view.data, view.bytes()))
    digest = (digest ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3U;
  return digest;
}

TEST(Synthetic, EveryTensorHasTheBitsOfTheIndependentRecipe) {
  std::ifstream file(std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) /
                     "tests/engine/checkpoint/synthetic_golden.csv");
  std::string line;
  std::getline(file, line);
  using Run = std::tuple<std::string, std::uint64_t, double>;
  std::map<Run, std::map<std::pair<int, int>, std::uint64_t>> golden;
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    Run run;
    int layer = 0;
    int kind = 0;
    fields >> std::get<0>(run) >> std::get<1>(run) >> std::get<2>(run) >> layer >> kind;
    fields >> std::hex >> golden[run][{layer, kind}];
    ASSERT_TRUE(fields) << line;
  }
  ASSERT_EQ(golden.size(), 4U);
  for (const auto& [run, digests] : golden) {
    const auto& [name, seed, redundancy] = run;
    const auto checkpoint = make_synthetic(shape_named(name), redundancy, seed);
    ASSERT_TRUE(checkpoint) << checkpoint.error().message;
    auto weights = checkpoint->weights;
    const auto slots = tensor_slots(checkpoint->shape, weights);
    EXPECT_EQ(slots.size(), digests.size());
    for (const auto& slot : slots)
      EXPECT_EQ(fnv1a(*slot.view), digests.at({slot.layer, static_cast<int>(slot.kind)}))
          << name << slot.name;
  }
}

TEST(Synthetic, BitsDoNotDependOnTheNumberOfThreads) {
  auto shape = shape_named("tied");
  // Each tensor has several parts, and the last part has an odd size.
  shape.vocab = 200'003;
  const auto checkpoint = make_synthetic(shape, 0.0, 5);
  ASSERT_TRUE(checkpoint);
  for (const std::size_t threads : {1U, 2U, 3U, 7U}) {
    Weights weights;
    const auto slots = tensor_slots(shape, weights);
    std::vector<std::vector<std::byte>> memory;
    for (const auto& slot : slots) {
      memory.emplace_back(static_cast<std::size_t>(slot.rows * slot.columns) * 2);
      *slot.view = {memory.back().data(), DType::bf16, slot.rows, slot.columns};
    }
    fill_synthetic(slots, shape, {5, 0.0}, threads);
    const auto expected = named_tensors(shape, checkpoint->weights);
    for (std::size_t i = 0; i < slots.size(); ++i)
      EXPECT_EQ(fnv1a(*slots[i].view), fnv1a(expected[i].view)) << slots[i].name << ' ' << threads;
  }
}

TEST(Synthetic, FewerLayersAndTokensAreAPartOfTheWholeModel) {
  auto shape = shape_named("biased");
  const auto whole = make_synthetic(shape, 0.1, 9);
  shape.n_layers = 2;
  shape.vocab = 11;
  const auto part = make_synthetic(shape, 0.1, 9);
  ASSERT_TRUE(whole && part);
  const auto& rows = part->weights.embedding;
  EXPECT_EQ(std::memcmp(rows.data, whole->weights.embedding.data, rows.bytes()), 0);
  EXPECT_EQ(fnv1a(part->weights.layers[1].down), fnv1a(whole->weights.layers[1].down));
}

TEST(Synthetic, AnotherSeedMakesOtherWeights) {
  const auto one = make_synthetic(shape_named("tied"), 0.0, 1);
  const auto two = make_synthetic(shape_named("tied"), 0.0, 2);
  ASSERT_TRUE(one && two);
  EXPECT_NE(fnv1a(one->weights.embedding), fnv1a(two->weights.embedding));
  EXPECT_NE(one->hash, two->hash);
  EXPECT_EQ(one->hash, make_synthetic(shape_named("tied"), 0.0, 1)->hash);
}

TEST(Synthetic, HashIsTheSameOnEveryMachine) {
  EXPECT_EQ(make_synthetic(shape_named("biased"), 0.2, 7)->hash, "d4ce89a1e9b73e9f1c4f73ecb2dd4acb");
}

TEST(Synthetic, IsTheSameModelWhereTheBackendMakesTheMatrices) {
  const SyntheticOptions options{.model = "llama-3.2-1b", .redundancy = 0.5, .n_layers = 2};
  const auto here = make_synthetic(options);
  const auto there = make_synthetic(options, SyntheticMatrices::by_backend);
  ASSERT_TRUE(here && there);
  EXPECT_FALSE(there->matrices_in_memory);
  EXPECT_EQ(here->hash, there->hash);
  EXPECT_EQ(here->weight_bytes(), there->weight_bytes());
  const TensorView& norm = here->weights.final_norm;
  EXPECT_EQ(std::memcmp(norm.data, there->weights.final_norm.data, norm.bytes()), 0);
  EXPECT_TRUE(check_finite(*there));
}

TEST(Synthetic, NeverEndsAndIsFinite) {
  auto shape = shape_named("tied");
  shape.eos_tokens = {1};
  const auto checkpoint = make_synthetic(shape, 0.5, 1);
  ASSERT_TRUE(checkpoint);
  EXPECT_TRUE(checkpoint->synthetic);
  EXPECT_EQ(checkpoint->redundancy, 0.5);
  EXPECT_THAT(checkpoint->shape.eos_tokens, ::testing::IsEmpty());
  EXPECT_EQ(checkpoint->weights.head.data, checkpoint->weights.embedding.data);
  EXPECT_TRUE(check_finite(*checkpoint));
}

TEST(CheckFinite, NamesTheFirstTensorWithANonFiniteWeight) {
  const auto checkpoint = make_synthetic(shape_named("tied"), 0.0, 1);
  ASSERT_TRUE(checkpoint);
  // The test may write to synthetic memory: put infinity, then a NaN at an earlier place.
  const auto put = [](const TensorView& view, std::size_t element, std::uint16_t bits) {
    std::memcpy(const_cast<std::byte*>(view.data) + 2 * element, &bits, 2);
  };
  put(checkpoint->weights.layers[1].down, 100, 0xFF80);
  EXPECT_THAT(check_finite(*checkpoint).error().message,
              HasSubstr("tensor model.layers.1.mlp.down_proj.weight: row 4 column 4 is not finite"));
  put(checkpoint->weights.layers[0].q, 17, 0x7FC1);
  EXPECT_THAT(check_finite(*checkpoint).error().message,
              HasSubstr("layers.0.self_attn.q_proj.weight: row 1"));
}

TEST(OpenModel, ReadsEverySettingOfASyntheticModel) {
  const auto checkpoint = open_model("synthetic:qwen2.5-0.5B,redundancy=0.8,seed=3,layers=2,vocab=64");
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->shape.name, "synthetic:Qwen2.5-0.5B,redundancy=0.8,seed=3,layers=2,vocab=64");
  EXPECT_EQ(checkpoint->shape.architecture, "Qwen2ForCausalLM");
  EXPECT_EQ(checkpoint->shape.n_layers, 2);
  EXPECT_EQ(checkpoint->shape.vocab, 64);
  EXPECT_EQ(checkpoint->shape.bos_token, 0);
  EXPECT_EQ(checkpoint->redundancy, 0.8);
  EXPECT_TRUE(checkpoint->weights.layers[0].q_bias.present());
  EXPECT_EQ(open_model(checkpoint->shape.name)->hash, checkpoint->hash);
}

TEST(OpenModel, RefusesWhatItDoesNotKnow) {
  const std::pair<const char*, const char*> refused[] = {
      {"synthetic:", "closest:"},
      {"synthetic:lama-3.2-1b",
       "'lama-3.2-1b' is unknown, expected one of models.csv; closest: Llama-3.2-1B"},
      {"synthetic:llama-3.1-405b", "GB of weights, expected at most this machine's memory"},
      {"synthetic:llama-2-7b,depth=3", "unknown key 'depth', expected redundancy, seed, layers or vocab"},
      {"synthetic:llama-2-7b,", "unknown key ''"},
      {"synthetic:llama-2-7b,layers", "layers is '', expected a positive integer"},
      {"synthetic:llama-2-7b,layers=0", "layers is 0, expected a positive integer"},
      {"synthetic:llama-2-7b,layers=9999", "n_layers is 9999, expected 1 to 1024"},
      {"synthetic:llama-2-7b,vocab=1k", "vocab is '1k', expected a positive integer"},
      {"synthetic:llama-2-7b,seed=-1", "seed is '-1', expected an unsigned integer"},
      {"synthetic:llama-2-7b,seed=1,seed=2", "'seed' is given twice"},
      {"synthetic:llama-2-7b,redundancy=1", "redundancy is 1, expected 0"},
      {"synthetic:llama-2-7b,redundancy=nan", "redundancy is 'nan', expected a number from 0"},
      {"synthetic:llama-2-7b,redundancy=x", "redundancy is 'x', expected a number"}};
  for (const auto& [argument, expected] : refused) {
    const auto checkpoint = open_model(argument);
    ASSERT_FALSE(checkpoint) << argument;
    EXPECT_THAT(checkpoint.error().message, HasSubstr(expected));
  }
}

TEST(PublishedShape, CarriesWhatTheFamilyPublishes) {
  const auto shape = published_shape("LLAMA-3.1-405b");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->n_layers, 126);
  EXPECT_EQ(shape->rope.kind, speculation::RopeKind::llama3);
  EXPECT_EQ(shape->rope.theta, 500000.0);
  EXPECT_EQ(shape->rope.original_max_positions, 8192);
  EXPECT_EQ(published_shape("Mistral-7B-v0.1")->sliding_window, 4096);
  EXPECT_EQ(published_shape("DeepSeek-Coder-33B")->rope.factor, 4.0);
  EXPECT_TRUE(published_shape("Qwen2.5-72B")->qkv_bias);
}

TEST(PublishedShape, HasAsManyParametersAsTheTableSays) {
  // Compares each model's parameters in the embedding, the head and the layers with column params_b of
  // models.csv.
  const std::pair<const char*, double> billions[] = {
      {"Llama-2-7B", 6.738},     {"Llama-3-70B", 70.554}, {"Llama-3.2-1B", 1.236}, {"Yi-34B", 34.389},
      {"CodeLlama-34B", 33.744}, {"Qwen2.5-7B", 7.616},   {"Qwen3-8B", 8.191},     {"SmolLM3-3B", 3.075},
      {"Granite-3.3-8B", 8.171}, {"OLMo-2-7B", 7.299},    {"Phi-4-mini", 3.836},   {"Gemma-2-2B", 2.614},
      {"Gemma-3-1B", 1.0},       {"Apertus-8B", 8.053}};
  for (const auto& [name, expected] : billions) {
    const auto shape = published_shape(name);
    ASSERT_TRUE(shape) << shape.error().message;
    Weights weights;
    double parameters = 0;
    for (const auto& slot : tensor_slots(*shape, weights))
      parameters += static_cast<double>(slot.rows * slot.columns);
    EXPECT_NEAR(parameters / 1e9, expected, 0.001) << name;
  }
}

}  // namespace
}  // namespace draftscope::engine
