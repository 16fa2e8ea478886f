// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the windows, caps, multipliers and frequencies of the architectures that have them.

#include <draftscope/engine/opening_notes.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <tuple>

#include "gguf_goldens.h"
#include "numbers/bf16.h"
#include "temporary_folder.h"

namespace draftscope::engine::test {
namespace {

using draftscope::test::TemporaryFolder;
using speculation::ModelShape;
using testing::ElementsAre;

ModelShape shape_of(const GgufParts& parts) {
  return loaded_gguf(parts).shape;
}

std::string bytes_of(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.data), view.bytes()};
}

/// Repeats the first layer until the model has this many layers.
void repeat_first_layer(GgufParts& parts, const std::string& architecture, std::uint32_t layers) {
  std::vector<GgufTensor> first;
  for (const GgufTensor& tensor : parts.tensors)
    if (tensor.name.starts_with("blk.0.")) first.push_back(tensor);
  for (std::uint32_t layer = 2; layer < layers; ++layer) {
    for (GgufTensor tensor : first) {
      tensor.name = "blk." + std::to_string(layer) + tensor.name.substr(5);
      parts.tensors.push_back(std::move(tensor));
    }
  }
  parts.set(gguf_key(architecture + ".block_count", layers));
}

TEST(GgufParticulars, GraniteHasItsMultipliers) {
  GgufParts parts = tiny_gguf("granite");
  parts.set(gguf_key("granite.rope.scaling.finetuned", true));
  const auto without = shape_of(parts).traits;
  EXPECT_EQ(without.attention_multiplier, 0.0);  // 0 = derived from the head's size
  EXPECT_EQ(without.embedding_multiplier, 1.0);
  EXPECT_EQ(without.residual_multiplier, 1.0);
  EXPECT_EQ(without.logit_multiplier, 1.0);
  parts.set(gguf_key("granite.attention.scale", 0.2F));
  parts.set(gguf_key("granite.embedding_scale", 12.0F));
  parts.set(gguf_key("granite.residual_scale", 0.22F));
  parts.set(gguf_key("granite.logit_scale", 8.0F));
  const auto traits = shape_of(parts).traits;
  EXPECT_EQ(traits.attention_multiplier, 0.2);
  EXPECT_EQ(traits.embedding_multiplier, 12.0);
  EXPECT_EQ(traits.residual_multiplier, 0.22);
  EXPECT_EQ(traits.logit_multiplier, 0.125);
}

TEST(GgufParticulars, AnActivationsNumbersAreOneForAllLayersOrOneForEach) {
  const Checkpoint loaded = loaded_gguf(tiny_gguf("apertus"));
  const auto number = [](const TensorView& view) { return load_unaligned<float>(view.data); };
  const LayerWeights& last = loaded.weights.layers[1];
  EXPECT_FALSE(last.gate.present());
  EXPECT_EQ(number(last.alpha_p), 0.5F);
  EXPECT_EQ(number(last.alpha_n), -0.5F);
  EXPECT_EQ(number(last.beta), 0.5F);
  EXPECT_EQ(number(last.epsilon), -1e-6F);
  EXPECT_EQ(loaded.shape.mlp_matrices(), 2);
}

TEST(GgufParticulars, Mistral3HasYarnAndAScaleOfQueriesWhereItsFileSaysSo) {
  GgufParts parts = tiny_gguf("mistral3");
  const auto plain = shape_of(parts).rope;
  EXPECT_EQ(plain.kind, speculation::RopeKind::standard);
  EXPECT_EQ(plain.query_beta, 0.0);
  parts.set(gguf_key("mistral3.rope.scaling.type", "yarn"));
  parts.set(gguf_key("mistral3.rope.scaling.factor", 16.0F));
  parts.set(gguf_key("mistral3.rope.scaling.original_context_length", 2U));
  parts.set(gguf_key("mistral3.rope.scaling.yarn_log_multiplier", 0.5F));
  parts.set(gguf_key("mistral3.attention.temperature_scale", 0.1F));
  const auto rope = shape_of(parts).rope;
  EXPECT_EQ(rope.kind, speculation::RopeKind::yarn);
  EXPECT_EQ(rope.original_max_positions, 2);
  EXPECT_EQ(rope.mscale, 1.0);
  EXPECT_EQ(rope.mscale_all_dim, 0.5);
  EXPECT_EQ(rope.query_beta, 0.1);
}

TEST(GgufParticulars, EveryFourthLayerOfSmolLM3DoesNotRotate) {
  GgufParts parts = tiny_gguf("smollm3");
  repeat_first_layer(parts, "smollm3", 9);
  const ModelShape shape = shape_of(parts);
  for (std::int32_t layer = 0; layer < 9; ++layer)
    EXPECT_EQ(shape.rotates(layer), layer != 3 && layer != 7) << layer;
}

TEST(GgufParticulars, WhatAFileOfGemma2DoesNotSayIsKnown) {
  GgufParts parts = tiny_gguf("gemma2");
  const ModelShape shape = shape_of(parts);
  EXPECT_EQ(shape.window_of(0), 4096);
  EXPECT_EQ(shape.window_of(1), 0);
  EXPECT_EQ(shape.traits.logit_cap, 30.0);
  EXPECT_EQ(shape.traits.attention_logit_cap, 50.0);
  EXPECT_EQ(shape.traits.attention_multiplier, 0.5);  // 1 / √4, since heads have 4 values
  EXPECT_EQ(shape.traits.norm_weight, speculation::NormWeight::plain);
  EXPECT_EQ(shape.rope.local_theta, 0.0);
  parts.set(gguf_key("gemma2.final_logit_softcapping", 0.0F));
  parts.set(gguf_key("gemma2.attn_logit_softcapping", 20.0F));
  EXPECT_EQ(shape_of(parts).traits.logit_cap, 0.0);
  EXPECT_EQ(shape_of(parts).traits.attention_logit_cap, 20.0);
}

TEST(GgufParticulars, WindowsOfGemma3AreInAllButEverySixthLayer) {
  GgufParts parts = tiny_gguf("gemma3");
  repeat_first_layer(parts, "gemma3", 7);
  const auto windows = [&] {
    const ModelShape shape = shape_of(parts);
    std::vector<std::int32_t> found;
    for (std::int32_t layer = 0; layer < 7; ++layer) found.push_back(shape.window_of(layer));
    return found;
  };
  EXPECT_THAT(windows(), testing::Each(0));
  parts.set(gguf_key("gemma3.attention.sliding_window", 16U));
  parts.set(gguf_key("gemma3.rope.freq_base", 1e6F));
  parts.set(gguf_key("gemma3.rope.scaling.type", "linear"));
  parts.set(gguf_key("gemma3.rope.scaling.factor", 8.0F));
  EXPECT_THAT(windows(), ElementsAre(16, 16, 16, 16, 16, 0, 16));
  const ModelShape shape = shape_of(parts);
  EXPECT_EQ(shape.rope.theta, 1e6);
  EXPECT_EQ(shape.rope.local_theta, 1e4);
  EXPECT_EQ(shape.rope.kind, speculation::RopeKind::linear);
  EXPECT_EQ(shape.traits.logit_cap, 0.0);
  parts.set(gguf_key("gemma3.rope.freq_base_swa", 2e4F));
  EXPECT_EQ(shape_of(parts).rope.local_theta, 2e4);
  parts.set(gguf_key("gemma3.attention.sliding_window_pattern", 3U));
  EXPECT_THAT(windows(), ElementsAre(16, 16, 0, 16, 16, 0, 16));
  parts.set(gguf_key("gemma3.attention.sliding_window_pattern",
                     std::vector<bool>{true, true, true, false, true, true, true}));
  EXPECT_THAT(windows(), ElementsAre(16, 16, 16, 0, 16, 16, 16));
  parts.set(gguf_key("gemma3.attention.sliding_window_pattern", 1U));  // every layer is one without a window
  EXPECT_THAT(windows(), testing::Each(0));
  EXPECT_EQ(shape_of(parts).rope.local_theta, 0.0);
}

// The 27B models scale attention by the width per head, which differs from their head size. A file does not
// state that.
TEST(GgufParticulars, TheMultiplierOfGemmas27BIsKnownByItsLayers) {
  for (const auto& [architecture, layers] : {std::pair{"gemma2", 46U}, std::pair{"gemma3", 62U}}) {
    const auto multiplier = [&, of = std::string(architecture)](std::uint32_t count, bool stated) {
      GgufParts parts = tiny_gguf(of);
      parts.set(gguf_key(of + ".attention.head_count", 4U));  // width per head 8 / 4 = 2, head size 4
      parts.set(gguf_key(of + ".attention.key_length", 4U));
      if (stated) parts.set(gguf_key(of + ".attention.scale", 0.25F));
      for (GgufTensor& tensor : parts.tensors) {
        if (tensor.name.ends_with("attn_q.weight")) tensor.extents[1] = 16;
        if (tensor.name.ends_with("attn_output.weight")) tensor.extents[0] = 16;
        if (tensor.name.ends_with("attn_q.weight") || tensor.name.ends_with("attn_output.weight"))
          tensor.bytes += tensor.bytes;
      }
      repeat_first_layer(parts, of, count);
      return shape_of(parts).traits.attention_multiplier;
    };
    EXPECT_EQ(multiplier(layers, false), 1.0 / std::sqrt(2.0));
    EXPECT_EQ(multiplier(layers - 1, false), 0.5);
    EXPECT_EQ(multiplier(layers, true), 0.25);
  }
}

TEST(GgufParticulars, TheEndOfATurnThatNoKeyNamesEndsARequest) {
  for (const auto& [architecture, text, ends] :
       {std::tuple{"gemma2", "<end_of_turn>", true}, std::tuple{"gemma3", "<end_of_turn>", true},
        std::tuple{"phi3", "<|end|>", true}, std::tuple{"llama", "<|end|>", false}}) {
    GgufParts parts = tiny_gguf(architecture);
    std::vector<std::string> tokens(10, "x");
    tokens[7] = text;
    parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
    parts.set(gguf_key("tokenizer.ggml.eos_token_id", 1U));
    EXPECT_EQ(shape_of(parts).eos_tokens,
              ends ? (std::vector<std::int32_t>{1, 7}) : std::vector<std::int32_t>{1});
    parts.set(gguf_key("tokenizer.ggml.eot_token_id", 7U));
    EXPECT_THAT(shape_of(parts).eos_tokens, ElementsAre(1, 7));
    // A token beyond the rows of the embedding does not exist.
    parts.remove("tokenizer.ggml.eot_token_id");
    tokens.emplace_back("x");
    std::swap(tokens[7], tokens.back());
    parts.set(gguf_key("tokenizer.ggml.tokens", tokens));
    EXPECT_THAT(shape_of(parts).eos_tokens, ElementsAre(1));
  }
}

TEST(GgufParticulars, PhiHasTwoListsOfFactorsForTheDimensionsThatRotate) {
  GgufParts parts = tiny_gguf("phi3");
  parts.set(gguf_key("phi3.attention.sliding_window", 7U));
  EXPECT_EQ(shape_of(parts).window_of(1), 7);
  EXPECT_EQ(shape_of(parts).rotary_width(), 4);
  parts.set(gguf_key("phi3.rope.dimension_count", 2U));
  parts.set(gguf_key("phi3.rope.scaling.original_context_length", 8U));
  parts.tensors.push_back(gguf_vector("rope_factors_long.weight", {4.5F}));
  parts.tensors.push_back(gguf_vector("rope_factors_short.weight", {1.5F}));
  const auto rope = shape_of(parts).rope;
  EXPECT_EQ(rope.kind, speculation::RopeKind::longrope);
  EXPECT_EQ(shape_of(parts).rotary_width(), 2);
  EXPECT_THAT(rope.long_factors, ElementsAre(4.5));
  EXPECT_THAT(rope.short_factors, ElementsAre(1.5));
  EXPECT_EQ(rope.original_max_positions, 8);
  EXPECT_EQ(rope.factor, 4.0);  // 32 positions / 8 original positions
  EXPECT_EQ(rope.attention_factor, 0.0);

  // A file may state the derived factor, which converters write in fp32, or another one.
  const double derived = std::sqrt(1.0 + std::log(4.0) / std::log(8.0));
  parts.set(gguf_key("phi3.rope.scaling.attn_factor", static_cast<float>(derived)));
  EXPECT_EQ(shape_of(parts).rope.attention_factor, 0.0);
  parts.set(gguf_key("phi3.rope.scaling.attn_factor", 1.5F));
  EXPECT_EQ(shape_of(parts).rope.attention_factor, 1.5);
  parts.set(gguf_key("phi3.rope.scaling.type", "longrope"));
  EXPECT_EQ(shape_of(parts).rope.kind, speculation::RopeKind::longrope);
}

/// Converters count such layers among the blocks; their tensors may be missing or be a whole layer's.
TEST(GgufParticulars, LayersThatPredictFurtherTokensAreLeftOut) {
  const std::string head = "blk.2.nextn.eh_proj.weight";
  for (const bool has_head : {false, true})
    for (const bool has_whole_layer : {false, true}) {
      if (has_whole_layer && !has_head) continue;
      GgufParts parts = tiny_gguf("llama");
      if (has_whole_layer) repeat_first_layer(parts, "llama", 3);
      parts.set(gguf_key("llama.block_count", 3U));
      parts.set(gguf_key("llama.nextn_predict_layers", 1U));
      if (has_head) parts.tensors.push_back(gguf_vector(head, std::vector<float>(16, 1.0F)));
      const TemporaryFolder folder;
      write_bytes(folder / "model.gguf", parts.file());
      std::vector<std::string> notes;
      const auto loaded = load_gguf(folder / "model.gguf", BlockMatrices::widened, notes);
      ASSERT_TRUE(loaded) << loaded.error().message;
      EXPECT_EQ(loaded->shape.n_layers, 2);
      EXPECT_EQ(loaded->weights.layers.size(), 2U);
      ASSERT_EQ(notes.size(), has_head ? 2U : 0U);
      if (!has_head) continue;
      EXPECT_FALSE(loaded->has_next_token_layer);
      EXPECT_THAT(notes[0], testing::HasSubstr("layers that predict further tokens"));
      EXPECT_THAT(notes[1], testing::HasSubstr("mtp cannot draft with the next-token layer: 'blk.2."));
    }
}

TEST(GgufParticulars, ANextTokenLayerIsTheBlockBehindTheDecoder) {
  GgufParts parts = tiny_gguf("llama");
  repeat_first_layer(parts, "llama", 3);
  parts.set(gguf_key("llama.nextn_predict_layers", 1U));
  for (const char* const norm : {"enorm", "hnorm", "shared_head_norm"})
    parts.tensors.push_back(
        gguf_vector(fmt::format("blk.2.nextn.{}.weight", norm), std::vector<float>(8, 2.0F)));
  std::vector<float> projection(8 * 16);
  for (std::size_t i = 0; i < projection.size(); ++i) projection[i] = static_cast<float>(i);
  parts.tensors.push_back(gguf_vector("blk.2.nextn.eh_proj.weight", projection));
  parts.tensors.back().extents = {16, 8};
  const TemporaryFolder folder;
  write_bytes(folder / "model.gguf", parts.file());
  std::vector<std::string> notes;
  const auto model = load_gguf(folder / "model.gguf", BlockMatrices::widened, notes);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_TRUE(model->has_next_token_layer);
  EXPECT_TRUE(notes.empty());
  const auto layer = open_next_token_layer(*model);
  ASSERT_TRUE(layer) << layer.error().message;
  EXPECT_EQ(bytes_of(layer->weights.layers.at(0).q), bytes_of(model->weights.layers[0].q));
  EXPECT_EQ(bytes_of(layer->weights.layers[0].down), bytes_of(model->weights.layers[0].down));
  EXPECT_EQ(bytes_of(layer->weights.embedding), bytes_of(model->weights.embedding));
  EXPECT_NE(bytes_of(layer->weights.final_norm), bytes_of(model->weights.final_norm));
  // In the file the columns of the embedding come first, here those of the state.
  const auto* const first = reinterpret_cast<const float*>(layer->weights.join->projection.data);
  EXPECT_EQ(first[0], 8.0F);
  EXPECT_EQ(first[8], 0.0F);
  parts.tensors.push_back(gguf_vector("blk.2.ffn_gate_inp.weight", std::vector<float>(8, 1.0F)));
  write_bytes(folder / "experts.gguf", parts.file());
  const auto experts = load_gguf(folder / "experts.gguf", BlockMatrices::widened, notes);
  ASSERT_TRUE(experts) << experts.error().message;
  EXPECT_FALSE(experts->has_next_token_layer);
  EXPECT_THAT(notes.back(), testing::HasSubstr("found 'blk.2.ffn_gate_inp.weight'"));
}

/// ggml's converter calls Seed-OSS's norm before the MLP what it calls others' norm after attention.
TEST(GgufParticulars, SeedOssHasAnotherNameForTheNormBeforeItsMlp) {
  GgufParts parts = tiny_gguf("seed_oss");
  EXPECT_THROW(shape_of(parts), std::runtime_error);
  for (GgufTensor& tensor : parts.tensors)
    if (const auto place = tensor.name.find("ffn_norm"); place != std::string::npos)
      tensor.name.replace(place, 8, "post_attention_norm");
  EXPECT_EQ(shape_of(parts).architecture, "SeedOssForCausalLM");
}

TEST(GgufParticulars, AScaleBesideNvfp4MultipliesItsWeights) {
  GgufParts parts = tiny_gguf("llama");
  const auto down = [&] {
    const Checkpoint loaded = loaded_gguf(parts);
    return bytes_of(loaded.weights.layers[0].down);
  };
  parts.set(gguf_key("llama.feed_forward_length", 64U));
  for (const char* const layer : {"blk.0.", "blk.1."}) {
    for (const char* const name : {"ffn_gate.weight", "ffn_up.weight"}) {
      GgufTensor& tensor = parts.tensor(std::string(layer) + name);
      tensor.extents = {8, 64};
      tensor.bytes.resize(8 * 64 * 4, '\0');
    }
    GgufTensor& tensor = parts.tensor(std::string(layer) + "ffn_down.weight");
    tensor.extents = {64, 8};
    tensor.type = 40;
    tensor.bytes = std::string(8 * 36, '\x38');  // scales of 1, codes 8 and 3
  }
  const std::string plain = down();
  parts.tensors.push_back(gguf_vector("blk.0.ffn_down.scale", {2.0F}));
  parts.tensors.push_back(gguf_vector("blk.0.ffn_down.input_scale", {3.0F}));
  const std::string doubled = down();
  ASSERT_EQ(doubled.size(), plain.size());
  // In bf16, doubling adds one to the exponent, which begins at bit 7.
  for (std::size_t i = 0; i < plain.size(); i += 2) {
    const auto number = [&](const std::string& bytes) {
      return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) |
             static_cast<unsigned>(static_cast<unsigned char>(bytes[i + 1])) << 8U;
    };
    EXPECT_EQ(number(doubled), (number(plain) & 0x7FFFU) == 0 ? number(plain) : number(plain) + 0x80U);
  }
  parts.tensors.push_back(gguf_vector("blk.0.ffn_up.scale", {2.0F}));  // beside F32
  EXPECT_THROW(down(), std::runtime_error);
}

}  // namespace
}  // namespace draftscope::engine::test
