// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices may stay in the blocks of a GGUF file.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstring>

#include "checkpoint/gguf/widen.h"
#include "checkpoint/tensor_slots.h"
#include "formats/block_formats.h"
#include "gguf_goldens.h"
#include "numbers/bf16.h"
#include "random_model.h"
#include "relative_error.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

/// Random blocks with fp16 numbers so small that activations stay small.
std::string random_blocks(Random& random, std::uint32_t type, std::uint64_t count) {
  const gguf::BlockFormat& format = *gguf::find_block_format(type);
  std::string bytes(count / format.weights * format.bytes, '\0');
  for (char& byte : bytes) byte = static_cast<char>(pick(random, 0, 255));
  const bool two_levels = format.weights == 256;
  for (std::size_t block = 0; block < bytes.size(); block += format.bytes) {
    const std::uint16_t scale = float_to_f16((two_levels ? 1e-4F : 2e-3F) * (type == 8 ? 0.1F : 1.0F));
    const std::uint16_t minimum = float_to_f16(two_levels ? 1e-3F : -0.02F);
    std::memcpy(bytes.data() + block + (type == 14 ? 208 : 0), &scale, 2);
    if (type == 3 || type == 7 || type == 12 || type == 13)
      std::memcpy(bytes.data() + block + 2, &minimum, 2);
  }
  return bytes;
}

/// A matrix of random numbers of a plain type, or of random blocks.
std::string random_matrix(Random& random, std::uint32_t type, std::uint64_t count) {
  const gguf::BlockFormat& format = *gguf::find_block_format(type);
  if (!format.plain) return random_blocks(random, type, count);
  GgufBytes bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(pick(random, -1000, 1000)) / 8192.0F;
    if (*format.plain == DType::f32) bytes.number(value);
    if (*format.plain == DType::f16) bytes.number(float_to_f16(value));
    if (*format.plain == DType::bf16) bytes.number(float_to_bf16(value));
  }
  return bytes.text();
}

/// A model of one layer in two files with the same weights: as Phi-3 with fused tensors, and as Qwen2 with
/// biases of 0.
std::pair<GgufParts, GgufParts> fused_and_split(Random& random, std::uint32_t type) {
  constexpr GgufSizes sizes{
      .layers = 1, .context = 64, .width = 256, .inner = 512, .heads = 4, .kv_heads = 2};
  std::pair both{gguf_of_sizes("phi3", sizes), gguf_of_sizes("qwen2", sizes)};
  GgufParts& fused = both.first;  // not a structured binding, which clang 14's lambdas cannot capture
  GgufParts& split = both.second;
  constexpr std::uint64_t model = 256;
  constexpr std::uint64_t keys = 128;
  constexpr std::uint64_t inner = 512;
  const auto in_both = [&](const GgufTensor& tensor) {
    fused.tensors.push_back(tensor);
    split.tensors.push_back(tensor);
  };
  const auto matrix = [&](const char* name, std::uint64_t columns, std::uint64_t rows) {
    in_both({name, {columns, rows}, type, random_matrix(random, type, columns * rows)});
  };
  // Adds the rows as one tensor to the fused file and as several tensors to the split file.
  const auto together = [&](const char* name, const std::vector<std::pair<const char*, std::uint64_t>>& of) {
    GgufTensor whole{name, {model, 0}, type, {}};
    for (const auto& [part, rows] : of) {
      GgufTensor one{part, {model, rows}, type, random_matrix(random, type, model * rows)};
      whole.extents[1] += rows;
      whole.bytes += one.bytes;
      split.tensors.push_back(std::move(one));
    }
    fused.tensors.push_back(std::move(whole));
  };
  matrix("token_embd.weight", model, 70);
  in_both(gguf_vector("blk.0.attn_norm.weight", std::vector<float>(model, 1.0F)));
  together("blk.0.attn_qkv.weight",
           {{"blk.0.attn_q.weight", model}, {"blk.0.attn_k.weight", keys}, {"blk.0.attn_v.weight", keys}});
  split.tensors.push_back(gguf_vector("blk.0.attn_q.bias", std::vector<float>(model, 0.0F)));
  split.tensors.push_back(gguf_vector("blk.0.attn_k.bias", std::vector<float>(keys, 0.0F)));
  split.tensors.push_back(gguf_vector("blk.0.attn_v.bias", std::vector<float>(keys, 0.0F)));
  matrix("blk.0.attn_output.weight", model, model);
  in_both(gguf_vector("blk.0.ffn_norm.weight", std::vector<float>(model, 1.0F)));
  together("blk.0.ffn_up.weight", {{"blk.0.ffn_gate.weight", inner}, {"blk.0.ffn_up.weight", inner}});
  matrix("blk.0.ffn_down.weight", inner, model);
  in_both(gguf_vector("output_norm.weight", std::vector<float>(model, 1.0F)));
  matrix("output.weight", model, 70);
  return both;
}

/// Gives a tensor other numbers, in another type.
void retype(GgufParts& parts, std::string_view name, std::uint32_t type, std::uint64_t weights,
            Random& random) {
  parts.tensor(name).type = type;
  parts.tensor(name).bytes = random_matrix(random, type, weights);
}

/// A model of two layers of width 256 with matrices of many types. In the second layer either gate or up
/// can't be multiplied as stored.
GgufParts mixed_gguf(Random& random) {
  GgufParts parts = gguf_of_sizes(
      "llama", {.layers = 2, .context = 64, .width = 256, .inner = 512, .heads = 4, .kv_heads = 2});
  const auto matrix = [&](const std::string& name, std::uint64_t columns, std::uint64_t rows,
                          std::uint32_t type) {
    parts.tensors.push_back({name, {columns, rows}, type, random_blocks(random, type, columns * rows)});
  };
  const auto norm = [&](const std::string& name) {
    parts.tensors.push_back(gguf_vector(name, std::vector<float>(256, 1.0F)));
  };
  matrix("token_embd.weight", 256, 70, 14);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    norm(layer + "attn_norm.weight");
    matrix(layer + "attn_q.weight", 256, 256, 12);
    matrix(layer + "attn_k.weight", 256, 128, 12);
    matrix(layer + "attn_v.weight", 256, 128, 14);
    matrix(layer + "attn_output.weight", 256, 256, 2);
    norm(layer + "ffn_norm.weight");
    matrix(layer + "ffn_gate.weight", 256, 512, 8);
    matrix(layer + "ffn_up.weight", 256, 512, layer == "blk.0." ? 3 : 20);
    matrix(layer + "ffn_down.weight", 512, 256, layer == "blk.0." ? 7 : 13);
  }
  norm("output_norm.weight");
  matrix("output.weight", 256, 70, 6);
  return parts;
}

std::vector<float> logits_of(Backend& backend, std::optional<speculation::WeightFormat> weights = {}) {
  Random random(7);
  const OwnedBatch owned = chain(backend.shape(), random, 12, 0);
  Batch batch = owned.view();
  batch.weights = weights;
  return outputs_of(backend, batch).logits;
}

/// Expects that each tensor of the stored model has the numbers of the widened one, bit for bit.
void expect_same_numbers(const Checkpoint& stored, const Checkpoint& wide) {
  EXPECT_EQ(stored.hash, wide.hash);
  const auto expected = named_tensors(wide.shape, wide.weights);
  const auto found = named_tensors(stored.shape, stored.weights);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TensorView& view = found[i].view;
    const auto rows = view.is_plain() ? std::vector(view.data, view.data + view.bytes())
                                      : gguf::widened_rows(view, 0, view.rows);
    EXPECT_EQ(std::memcmp(rows.data(), expected[i].view.data, rows.size()), 0) << found[i].name;
  }
}

Checkpoint mixed(BlockMatrices blocks) {
  Random random(5);
  return loaded_gguf(mixed_gguf(random), blocks);
}

TEST(AsStored, BlocksHoldTheWidenedNumbersInTheSameOrder) {
  const Checkpoint wide = mixed(BlockMatrices::widened);
  const Checkpoint stored = mixed(BlockMatrices::as_stored);
  EXPECT_EQ(stored.stored_as, wide.stored_as);
  EXPECT_FALSE(wide.has_blocks());
  EXPECT_TRUE(stored.has_blocks());
  EXPECT_LT(stored.weight_bytes(), wide.weight_bytes() / 2);
  EXPECT_LT(stored.bytes_per_step(), stored.weight_bytes());
  expect_same_numbers(stored, wide);
  for (const NamedTensor& tensor : named_tensors(stored.shape, stored.weights)) {
    const bool widened = tensor.view.rows == 1 || tensor.name == "model.layers.1.mlp.gate_proj.weight" ||
                         tensor.name == "model.layers.1.mlp.up_proj.weight";
    EXPECT_EQ(tensor.view.blocks == nullptr, widened) << tensor.name;
  }
  EXPECT_TRUE(check_finite(stored));
}

TEST(AsStored, LogitsAreThoseOfTheWidenedModelButForRounding) {
  const Checkpoint wide = mixed(BlockMatrices::widened);
  const Checkpoint stored = mixed(BlockMatrices::as_stored);
  const auto plain = make_cpu_backend(wide, {.threads = 2, .cache_rows = 64});
  const auto packed = make_cpu_backend(stored, {.threads = 2, .cache_rows = 64});
  ASSERT_TRUE(plain);
  ASSERT_TRUE(packed) << packed.error().message;
  const std::vector<float> expected = logits_of(**plain);
  EXPECT_LT(relative_error(logits_of(**packed), expected), 0.05);
  EXPECT_THAT((*packed)->describe().weights, HasSubstr("q4_k"));
  EXPECT_LT((*packed)->describe().weight_bytes * 3, (*plain)->describe().weight_bytes * 2);
  // Copies for drafts are made from the numbers of the blocks.
  ASSERT_TRUE((*packed)->prepare_draft_weights(speculation::WeightFormat::q8_0));
  EXPECT_LT(relative_error(logits_of(**packed, speculation::WeightFormat::q8_0), expected), 0.05);
}

/// For a GPU, layers' matrices stay in blocks if all of them share one format that the GPU multiplies.
TEST(AsStored, BlocksStayForAGpuWhereTheLayersShareAFormatOfIts) {
  Random random(13);
  for (const std::uint32_t type : {0U, 1U, 2U, 3U, 8U, 12U, 14U}) {
    SCOPED_TRACE(type);
    const GgufParts parts = fused_and_split(random, type).second;
    const Checkpoint stored = loaded_gguf(parts, BlockMatrices::cuda_as_stored);
    expect_same_numbers(stored, loaded_gguf(parts));
    const bool stays = type == 2 || type == 8 || type == 12;
    EXPECT_EQ(stored.has_blocks(), stays);
    EXPECT_EQ(stored.weights.embedding.blocks, nullptr);
    EXPECT_EQ(stored.weights.head.blocks != nullptr, stays && type != 12);
  }
  // A head of another type is widened alone. The layers are widened if one of their matrices has another
  // type.
  GgufParts parts = fused_and_split(random, 8).second;
  retype(parts, "output.weight", 14, 256 * 70, random);
  const Checkpoint other_head = loaded_gguf(parts, BlockMatrices::cuda_as_stored);
  EXPECT_TRUE(other_head.has_blocks());
  EXPECT_EQ(other_head.weights.head.blocks, nullptr);
  retype(parts, "blk.0.ffn_down.weight", 2, 512 * 256, random);
  EXPECT_FALSE(loaded_gguf(parts, BlockMatrices::cuda_as_stored).has_blocks());
}

/// Q4_K matrices stay as stored whatever the types of the others, since such files mix types.
TEST(AsStored, Q4KStaysForAGpuBesideOtherTypes) {
  Random random(14);
  GgufParts parts = fused_and_split(random, 12).second;
  const auto kept = [&] {
    const Checkpoint stored = loaded_gguf(parts, BlockMatrices::cuda_as_stored);
    expect_same_numbers(stored, loaded_gguf(parts));
    EXPECT_EQ(stored.weights.embedding.dtype, DType::bf16);
    std::string names;
    for (const auto& [name, view] : named_tensors(stored.shape, stored.weights)) {
      if (view.is_plain()) continue;
      EXPECT_EQ(view.blocks->multiplied, speculation::WeightFormat::q4_k);
      names += name.substr(name.rfind('.', name.rfind('.') - 1) + 1) + " ";
    }
    return names;
  };
  constexpr std::uint64_t d_model = 256;
  retype(parts, "blk.0.attn_v.weight", 14, 128 * d_model, random);
  retype(parts, "blk.0.ffn_down.weight", 14, 512 * d_model, random);
  retype(parts, "output.weight", 14, 70 * d_model, random);
  EXPECT_EQ(kept(), "q_proj.weight k_proj.weight o_proj.weight gate_proj.weight up_proj.weight ");
  // Gate and up are one product, so both are widened.
  retype(parts, "blk.0.ffn_up.weight", 13, 512 * d_model, random);
  retype(parts, "blk.0.attn_q.weight", 8, d_model * d_model, random);
  EXPECT_EQ(kept(), "k_proj.weight o_proj.weight ");
  retype(parts, "blk.0.attn_k.weight", 1, 128 * d_model, random);
  retype(parts, "blk.0.attn_output.weight", 20, d_model * d_model, random);
  EXPECT_EQ(kept(), "");
}

TEST(AsStored, NumbersThatAreNoneAreNamed) {
  Random random(9);
  GgufParts parts = mixed_gguf(random);
  const std::uint16_t infinity = 0x7c00;
  std::memcpy(parts.tensor("blk.1.attn_output.weight").bytes.data() + 18 * 9, &infinity, 2);
  const Checkpoint stored = loaded_gguf(parts, BlockMatrices::as_stored);
  const Checkpoint wide = loaded_gguf(parts);
  for (const Checkpoint* checkpoint : {&stored, &wide}) {
    const auto checked = check_finite(*checkpoint);
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().message,
                HasSubstr("tensor model.layers.1.self_attn.o_proj.weight: row 1 column 32 is not finite"));
  }
  EXPECT_EQ(non_finite_weight(stored, 1), non_finite_weight(wide, 1));
  EXPECT_NE(non_finite_weight(stored, 1), "");
}

TEST(AsStored, AdaptersAreRefused) {
  Checkpoint stored = mixed(BlockMatrices::as_stored);
  const auto merged = merge_adapter("anywhere", stored);
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("expected them widened"));
}

class FusedTensors : public testing::TestWithParam<std::uint32_t> {};

TEST_P(FusedTensors, AreTheRowsOfTheirParts) {
  Random random(11);
  const auto [fused, split] = fused_and_split(random, GetParam());
  for (const BlockMatrices blocks : {BlockMatrices::widened, BlockMatrices::as_stored}) {
    const Checkpoint whole = loaded_gguf(fused, blocks);
    const Checkpoint parts = loaded_gguf(split, blocks);
    EXPECT_EQ(whole.has_blocks(), parts.has_blocks());
    EXPECT_EQ(whole.stored_as, parts.stored_as);
    const LayerWeights& layer = whole.weights.layers[0];
    // The parts are one tensor, one after the other; only widened parts are copied.
    EXPECT_EQ(layer.k.row_bytes(), layer.q.row_bytes());
    if (blocks == BlockMatrices::as_stored || gguf::find_block_format(GetParam())->plain) {
      EXPECT_EQ(layer.k.data, layer.q.data + layer.q.bytes());
      EXPECT_EQ(layer.v.data, layer.k.data + layer.k.bytes());
      EXPECT_EQ(layer.up.data, layer.gate.data + layer.gate.bytes());
    }
    const auto found = make_cpu_backend(whole, {.threads = 2, .cache_rows = 32});
    const auto expected = make_cpu_backend(parts, {.threads = 2, .cache_rows = 32});
    ASSERT_TRUE(found && expected);
    EXPECT_EQ(logits_of(**found), logits_of(**expected));
  }
}

// The types are the plain ones and all whose blocks are multiplied as stored.
INSTANTIATE_TEST_SUITE_P(Types, FusedTensors, testing::Values(0U, 1U, 30U, 8U, 2U, 3U, 6U, 7U, 12U, 13U, 14U),
                         [](const auto& type) {
                           return std::string(gguf::find_block_format(type.param)->name);
                         });

}  // namespace
}  // namespace draftscope::engine::test
