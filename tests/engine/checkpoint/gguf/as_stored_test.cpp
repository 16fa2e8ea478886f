// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices may stay in the blocks of a GGUF file.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>

#include "checkpoint/gguf/widen.h"
#include "checkpoint/tensor_slots.h"
#include "formats/block_formats.h"
#include "gguf_bytes.h"
#include "gguf_goldens.h"
#include "numbers/bf16.h"
#include "random_model.h"
#include "temporary_folder.h"

namespace draftscope::engine::test {
namespace {

using draftscope::test::TemporaryFolder;
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
  std::pair<GgufParts, GgufParts> both;
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
  for (GgufParts* const parts : {&fused, &split}) {
    const std::string architecture = parts == &fused ? "phi3" : "qwen2";
    const auto key = [&](const char* name, auto value) { parts->set(gguf_key(architecture + name, value)); };
    parts->set(gguf_key("general.architecture", architecture.c_str()));
    key(".block_count", 1U);
    key(".context_length", 64U);
    key(".embedding_length", 256U);
    key(".feed_forward_length", 512U);
    key(".attention.head_count", 4U);
    key(".attention.head_count_kv", 2U);
    key(".attention.layer_norm_rms_epsilon", 1e-5F);
  }
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

/// A model of two layers of width 256 with matrices of many types. In the second layer either gate or up
/// can't be multiplied as stored.
GgufParts mixed_gguf(Random& random) {
  GgufParts parts;
  const auto key = [&](const char* name, auto value) {
    parts.set(gguf_key(std::string("llama.") + name, value));
  };
  parts.set(gguf_key("general.architecture", "llama"));
  key("block_count", 2U);
  key("context_length", 64U);
  key("embedding_length", 256U);
  key("feed_forward_length", 512U);
  key("attention.head_count", 4U);
  key("attention.head_count_kv", 2U);
  key("attention.layer_norm_rms_epsilon", 1e-5F);
  const auto matrix = [&](const std::string& name, std::uint64_t columns, std::uint64_t rows,
                          std::uint32_t type) {
    parts.tensors.push_back({name, {columns, rows}, type, random_blocks(random, type, columns * rows)});
  };
  const auto norm = [&](const std::string& name) {
    GgufBytes ones;
    for (int i = 0; i < 256; ++i) ones.number(1.0F);
    parts.tensors.push_back({name, {256}, 0, ones.text()});
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

Checkpoint loaded(const std::filesystem::path& path, BlockMatrices blocks) {
  auto checkpoint = load_gguf(path, blocks);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  return *std::move(checkpoint);
}

std::vector<float> logits_of(Backend& backend, std::optional<speculation::WeightFormat> weights = {}) {
  Random random(7);
  const OwnedBatch owned = chain(backend.shape(), random, 12, 0);
  Batch batch = owned.view();
  batch.weights = weights;
  Outputs outputs;
  const auto done = backend.forward(batch, outputs);
  if (!done) throw std::runtime_error(done.error().message);
  return outputs.logits;
}

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  double missed = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    missed += difference * difference;
    size += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(missed / size);
}

class AsStored : public testing::Test {
 protected:
  AsStored() {
    Random random(5);
    write_bytes(folder_ / "mixed.gguf", mixed_gguf(random).file());
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "mixed.gguf"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(AsStored, BlocksHoldTheWidenedNumbersInTheSameOrder) {
  const Checkpoint wide = loaded(file(), BlockMatrices::widened);
  const Checkpoint stored = loaded(file(), BlockMatrices::as_stored);
  EXPECT_EQ(stored.hash, wide.hash);
  EXPECT_EQ(stored.stored_as, wide.stored_as);
  EXPECT_FALSE(wide.has_blocks());
  EXPECT_TRUE(stored.has_blocks());
  EXPECT_LT(stored.weight_bytes(), wide.weight_bytes() / 2);
  EXPECT_LT(stored.bytes_per_step(), stored.weight_bytes());
  const auto expected = named_tensors(wide.shape, wide.weights);
  const auto found = named_tensors(stored.shape, stored.weights);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const TensorView& view = found[i].view;
    const bool widened = view.rows == 1 || found[i].name == "model.layers.1.mlp.gate_proj.weight" ||
                         found[i].name == "model.layers.1.mlp.up_proj.weight";
    ASSERT_EQ(view.blocks == nullptr, widened) << found[i].name;
    if (widened) continue;
    const auto rows = gguf::widened_rows(view, 0, view.rows);
    EXPECT_EQ(std::memcmp(rows.data(), expected[i].view.data, rows.size()), 0) << found[i].name;
  }
  EXPECT_TRUE(check_finite(stored));
}

TEST_F(AsStored, LogitsAreThoseOfTheWidenedModelButForRounding) {
  const Checkpoint wide = loaded(file(), BlockMatrices::widened);
  const Checkpoint stored = loaded(file(), BlockMatrices::as_stored);
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
TEST_F(AsStored, BlocksStayForAGpuWhereTheLayersShareAFormatOfIts) {
  Random random(13);
  const TemporaryFolder folder;
  for (const std::uint32_t type : {0U, 1U, 2U, 3U, 8U, 12U, 14U}) {
    SCOPED_TRACE(type);
    GgufParts parts = fused_and_split(random, type).second;
    write_bytes(folder / "one.gguf", parts.file());
    const Checkpoint wide = loaded(folder / "one.gguf", BlockMatrices::widened);
    const Checkpoint stored = loaded(folder / "one.gguf", BlockMatrices::cuda_as_stored);
    EXPECT_EQ(stored.hash, wide.hash);
    const bool stays = type == 2 || type == 8 || type == 12;
    EXPECT_EQ(stored.has_blocks(), stays);
    EXPECT_EQ(stored.weights.embedding.blocks, nullptr);
    EXPECT_EQ(stored.weights.head.blocks != nullptr, stays && type != 12);
    const auto expected = named_tensors(wide.shape, wide.weights);
    const auto found = named_tensors(stored.shape, stored.weights);
    for (std::size_t i = 0; stays && i < found.size(); ++i) {
      if (found[i].view.blocks == nullptr) continue;
      const auto rows = gguf::widened_rows(found[i].view, 0, found[i].view.rows);
      EXPECT_EQ(std::memcmp(rows.data(), expected[i].view.data, rows.size()), 0) << found[i].name;
    }
  }
  // A head of another type is widened alone. The layers are widened if one of their matrices has another
  // type.
  GgufParts parts = fused_and_split(random, 8).second;
  parts.tensor("output.weight").type = 14;
  parts.tensor("output.weight").bytes = random_matrix(random, 14, 256 * 70);
  write_bytes(folder / "head.gguf", parts.file());
  const Checkpoint other_head = loaded(folder / "head.gguf", BlockMatrices::cuda_as_stored);
  EXPECT_TRUE(other_head.has_blocks());
  EXPECT_EQ(other_head.weights.head.blocks, nullptr);
  parts.tensor("blk.0.ffn_down.weight").type = 2;
  parts.tensor("blk.0.ffn_down.weight").bytes = random_matrix(random, 2, 512 * 256);
  write_bytes(folder / "mixed.gguf", parts.file());
  EXPECT_FALSE(loaded(folder / "mixed.gguf", BlockMatrices::cuda_as_stored).has_blocks());
}

/// Q4_K matrices stay as stored whatever the types of the others, since such files mix types.
TEST_F(AsStored, Q4KStaysForAGpuBesideOtherTypes) {
  Random random(14);
  const TemporaryFolder folder;
  GgufParts parts = fused_and_split(random, 12).second;
  const auto retype = [&](const char* name, std::uint32_t type, std::uint64_t weights) {
    parts.tensor(name).type = type;
    parts.tensor(name).bytes = random_matrix(random, type, weights);
  };
  const auto kept = [&](const char* file) {
    write_bytes(folder / file, parts.file());
    const Checkpoint wide = loaded(folder / file, BlockMatrices::widened);
    const Checkpoint stored = loaded(folder / file, BlockMatrices::cuda_as_stored);
    EXPECT_EQ(stored.weights.embedding.dtype, DType::bf16);
    std::string names;
    const auto expected = named_tensors(wide.shape, wide.weights);
    const auto found = named_tensors(stored.shape, stored.weights);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const TensorView& view = found[i].view;
      const auto rows = view.is_plain() ? std::vector(view.data, view.data + view.bytes())
                                        : gguf::widened_rows(view, 0, view.rows);
      EXPECT_EQ(std::memcmp(rows.data(), expected[i].view.data, rows.size()), 0) << found[i].name;
      if (view.is_plain()) continue;
      EXPECT_EQ(view.blocks->multiplied, speculation::WeightFormat::q4_k);
      const std::string& name = found[i].name;
      names += name.substr(name.rfind('.', name.rfind('.') - 1) + 1) + " ";
    }
    return names;
  };
  constexpr std::uint64_t d_model = 256;
  retype("blk.0.attn_v.weight", 14, 128 * d_model);
  retype("blk.0.ffn_down.weight", 14, 512 * d_model);
  retype("output.weight", 14, 70 * d_model);
  EXPECT_EQ(kept("medium.gguf"),
            "q_proj.weight k_proj.weight o_proj.weight gate_proj.weight up_proj.weight ");
  retype("blk.0.ffn_up.weight", 13, 512 * d_model);  // gate and up are one product, so both are widened
  retype("blk.0.attn_q.weight", 8, d_model * d_model);
  EXPECT_EQ(kept("large.gguf"), "k_proj.weight o_proj.weight ");
  retype("blk.0.attn_k.weight", 1, 128 * d_model);
  retype("blk.0.attn_output.weight", 20, d_model * d_model);
  EXPECT_EQ(kept("gate.gguf"), "");
}

TEST_F(AsStored, NumbersThatAreNoneAreNamed) {
  Random random(9);
  GgufParts parts = mixed_gguf(random);
  const std::uint16_t infinity = 0x7c00;
  std::memcpy(parts.tensor("blk.1.attn_output.weight").bytes.data() + 18 * 9, &infinity, 2);
  const TemporaryFolder folder;
  write_bytes(folder / "bad.gguf", parts.file());
  const Checkpoint stored = loaded(folder / "bad.gguf", BlockMatrices::as_stored);
  const Checkpoint wide = loaded(folder / "bad.gguf", BlockMatrices::widened);
  ASSERT_FALSE(check_finite(stored));
  EXPECT_EQ(check_finite(stored).error().message, check_finite(wide).error().message);
  EXPECT_EQ(non_finite_weight(stored, 1), non_finite_weight(wide, 1));
  EXPECT_NE(non_finite_weight(stored, 1), "");
}

TEST_F(AsStored, AdaptersAreRefused) {
  Checkpoint stored = loaded(file(), BlockMatrices::as_stored);
  const auto merged = merge_adapter("anywhere", stored);
  ASSERT_FALSE(merged);
  EXPECT_THAT(merged.error().message, HasSubstr("expected them widened"));
}

class FusedTensors : public testing::TestWithParam<std::uint32_t> {};

TEST_P(FusedTensors, AreTheRowsOfTheirParts) {
  Random random(11);
  const auto [fused, split] = fused_and_split(random, GetParam());
  const TemporaryFolder folder;
  write_bytes(folder / "fused.gguf", fused.file());
  write_bytes(folder / "split.gguf", split.file());
  for (const BlockMatrices blocks : {BlockMatrices::widened, BlockMatrices::as_stored}) {
    const Checkpoint whole = loaded(folder / "fused.gguf", blocks);
    const Checkpoint parts = loaded(folder / "split.gguf", blocks);
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
