// SPDX-License-Identifier: GPL-3.0-or-later
// A GGUF file gives the same model as the Hugging Face folder it was made from (make_goldens.py).

#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/tensor_slots.h"
#include "gguf_goldens.h"
#include "numbers/bf16.h"
#include "random_model.h"
#include "relative_error.h"
#include "temporary_folder.h"

namespace draftscope::engine::test {
namespace {

using draftscope::test::TemporaryFolder;
using testing::HasSubstr;

Checkpoint loaded(const std::filesystem::path& path) {
  auto checkpoint = open_model(path.string());
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  return *std::move(checkpoint);
}

Checkpoint folder_of(const std::string& name) {
  return loaded(DRAFTSCOPE_SOURCE_DIR "/tests/engine/cpu/goldens/" + name);
}

std::vector<float> values_of(const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(view.rows * view.columns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::byte* const at = view.data + i * dtype_bytes(view.dtype);
    values[i] = view.dtype == DType::f32    ? load_unaligned<float>(at)
                : view.dtype == DType::bf16 ? bf16_to_float(load_unaligned<std::uint16_t>(at))
                                            : f16_to_float(load_unaligned<std::uint16_t>(at));
  }
  return values;
}

std::vector<float> logits_of(const Checkpoint& checkpoint, std::int32_t cache_rows = 32) {
  const auto backend =
      make_cpu_backend(checkpoint, {.threads = 2, .cache_rows = cache_rows, .kernels = "portable"});
  if (!backend) throw std::runtime_error(backend.error().message);
  Random random(7);
  return outputs_of(**backend, chain(checkpoint.shape, random, 12, 0).view()).logits;
}

class GgufOfFolder : public testing::TestWithParam<const char*> {};

TEST_P(GgufOfFolder, HasTheShapeAndTheWeightsOfTheFolder) {
  const Checkpoint expected = folder_of(GetParam());
  const Checkpoint found = loaded(gguf_goldens() / (std::string(GetParam()) + ".gguf"));
  EXPECT_TRUE(speculation::same_sizes(found.shape, expected.shape));
  EXPECT_EQ(found.shape.name, GetParam());
  EXPECT_EQ(found.shape.architecture, expected.shape.architecture);
  EXPECT_EQ(found.shape.max_positions, expected.shape.max_positions);
  EXPECT_EQ(found.shape.rms_epsilon, expected.shape.rms_epsilon);
  // A GGUF file has it in fp32.
  EXPECT_EQ(static_cast<float>(found.shape.rope.theta), static_cast<float>(expected.shape.rope.theta));
  EXPECT_EQ(found.shape.bos_token, expected.shape.bos_token);
  EXPECT_EQ(found.shape.eos_tokens, expected.shape.eos_tokens);
  EXPECT_EQ(found.weights.head.data == found.weights.embedding.data, expected.shape.tied_embeddings);
  for (std::int32_t layer = 0; layer < expected.shape.n_layers; ++layer) {
    EXPECT_EQ(found.shape.window_of(layer), expected.shape.window_of(layer)) << layer;
    EXPECT_EQ(found.shape.rotates(layer), expected.shape.rotates(layer)) << layer;
  }
  const bool adds_one = expected.shape.traits.norm_weight == speculation::NormWeight::plus_one;
  const auto tensors = named_tensors(found.shape, found.weights);
  const auto others = named_tensors(expected.shape, expected.weights);
  ASSERT_EQ(tensors.size(), others.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(tensors[i].name, others[i].name);
    auto values = values_of(others[i].view);
    if (adds_one && tensors[i].view.rows == 1)  // converters add 1 to norm weights
      for (float& value : values) value += 1.0F;
    EXPECT_EQ(values_of(tensors[i].view), values) << tensors[i].name;
    if (tensors[i].view.rows > 1) {
      EXPECT_EQ(tensors[i].view.dtype, others[i].view.dtype) << tensors[i].name;
    }
  }
}

TEST_P(GgufOfFolder, ComputesTheFoldersLogits) {
  const Checkpoint file = loaded(gguf_goldens() / (std::string(GetParam()) + ".gguf"));
  const Checkpoint folder = folder_of(GetParam());
  const auto found = logits_of(file);
  const auto expected = logits_of(folder);
  ASSERT_EQ(found.size(), expected.size());
  if (const std::string_view name = GetParam();
      name != "rope-llama3" && name != "hunyuan" && name != "apertus") {
    EXPECT_EQ(found, expected);
    // A context beyond the original length uses the second list of rotary factors, if there is one.
    EXPECT_EQ(logits_of(file, 64), logits_of(folder, 64));
    return;
  }
  // The file holds divisors, or a stretched base, in fp32, while the folder holds the formula that gives
  // them.
  EXPECT_LT(largest_error(found, expected), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, GgufOfFolder,
                         testing::Values("llama-bf16", "llama-fp16", "tied-bias", "qwen2", "rope-llama3",
                                         "qwen3", "olmo2", "granite", "smollm3", "phi3-short", "phi3-blocks",
                                         "gemma2", "gemma3", "exaone4", "hunyuan", "arcee", "apertus",
                                         "ministral3"),
                         [](const auto& kind) {
                           std::string name = kind.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(LoadGguf, DivisorsOfFrequenciesAreRead) {
  const Checkpoint found = loaded(gguf_goldens() / "rope-llama3.gguf");
  const Checkpoint expected = folder_of("rope-llama3");
  EXPECT_EQ(found.shape.rope.kind, speculation::RopeKind::standard);
  ASSERT_EQ(found.shape.rope.divisors.size(), static_cast<std::size_t>(expected.shape.head_dim / 2));
  EXPECT_THAT(found.shape.rope.divisors, testing::Each(testing::AllOf(testing::Ge(1.0F), testing::Le(8.0F))));
  EXPECT_EQ(found.shape.rope.divisors.back(), 8.0F);
}

TEST(LoadGguf, PlainMatricesStayInTheFileAndOthersBecomeBf16) {
  GgufParts parts = tiny_gguf("qwen2");
  const Checkpoint plain = loaded_gguf(parts);
  EXPECT_EQ(plain.weights.embedding.dtype, DType::f32);
  EXPECT_EQ(plain.stored_as, "gguf F32");
  EXPECT_EQ(values_of(plain.weights.embedding).front(), 0.125F);

  // If one matrix has another type, all matrices become bf16, and norms keep their type.
  GgufTensor& head = parts.tensor("output.weight");
  head.type = 30;
  head.bytes = std::string(8 * 10 * 2, '\x3F');
  const Checkpoint mixed = loaded_gguf(parts);
  EXPECT_EQ(mixed.stored_as, "gguf F32, BF16");
  EXPECT_EQ(mixed.weights.final_norm.dtype, DType::f32);
  const auto tensors = named_tensors(mixed.shape, mixed.weights);
  const auto exact = named_tensors(plain.shape, plain.weights);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].view.rows == 1) continue;
    EXPECT_EQ(tensors[i].view.dtype, DType::bf16) << tensors[i].name;
    if (tensors[i].name == "lm_head.weight") continue;
    auto expected = values_of(exact[i].view);
    for (float& value : expected) value = round_to_bf16(value);
    EXPECT_EQ(values_of(tensors[i].view), expected) << tensors[i].name;
  }
}

TEST(LoadGguf, EveryPartOfASplitModelIsRead) {
  const TemporaryFolder folder;
  const GgufParts whole = tiny_gguf();
  write_bytes(folder / "model.gguf", whole.file());
  const auto part_of = [&](std::uint32_t number, std::size_t begin, std::size_t end) {
    GgufParts part;
    if (number == 0) part.keys = whole.keys;
    part.tensors.assign(whole.tensors.begin() + static_cast<std::ptrdiff_t>(begin),
                        whole.tensors.begin() + static_cast<std::ptrdiff_t>(end));
    part.set(gguf_key("split.no", number));
    part.set(gguf_key("split.count", 3U));
    part.set(gguf_key("split.tensors.count", static_cast<std::uint32_t>(whole.tensors.size())));
    return part.file();
  };
  const auto name = [&](int number) { return folder / fmt::format("model-{:05}-of-00003.gguf", number); };
  write_bytes(name(1), part_of(0, 0, 0));
  write_bytes(name(2), part_of(1, 0, 9));
  write_bytes(name(3), part_of(2, 9, whole.tensors.size()));
  const Checkpoint expected = loaded(folder / "model.gguf");
  const Checkpoint found = loaded(name(1));
  EXPECT_EQ(found.shape.name, "model");
  EXPECT_NE(found.hash, expected.hash);
  EXPECT_EQ(logits_of(found), logits_of(expected));

  const auto message = [&](int number) { return open_model(name(number).string()).error().message; };
  EXPECT_THAT(message(2), HasSubstr("part 2 of 3 of a split model, expected the first"));
  write_bytes(name(2), part_of(2, 0, 9));
  EXPECT_THAT(message(1), HasSubstr("00002-of-00003.gguf: says it is part 3 of 3, expected part 2 of 3"));
  write_bytes(name(2), part_of(1, 0, 10));
  EXPECT_THAT(message(1), HasSubstr("tensor 'blk.0.ffn_down.weight' is in"));
  write_bytes(name(2), part_of(1, 0, 8));
  EXPECT_THAT(message(1), HasSubstr("expected 21 as split.tensors.count says"));
  std::filesystem::remove(name(2));
  EXPECT_THAT(message(1), HasSubstr("model-00002-of-00003.gguf: cannot be opened: No such file"));
  std::filesystem::rename(name(1), folder / "renamed.gguf");
  EXPECT_THAT(open_model((folder / "renamed.gguf").string()).error().message,
              HasSubstr("expected a name that ends in -00001-of-00003.gguf"));
}

TEST(LoadGguf, HashFollowsHeaderAndWeights) {
  GgufParts parts = tiny_gguf();
  const auto hash = [&] { return loaded_gguf(parts).hash; };
  const std::string first = hash();
  EXPECT_EQ(first.size(), 32U);
  EXPECT_EQ(hash(), first);
  parts.tensor("blk.1.ffn_up.weight").bytes[8] ^= 1;
  const std::string second = hash();
  EXPECT_NE(second, first);
  parts.set(gguf_key("general.name", "another"));
  EXPECT_NE(hash(), second);
}

TEST(LoadGguf, EveryEndOfATurnEndsARequest) {
  GgufParts parts = tiny_gguf();
  parts.set(gguf_key("tokenizer.ggml.bos_token_id", 1U));
  parts.set(gguf_key("tokenizer.ggml.eos_token_id", 2U));
  parts.set(gguf_key("tokenizer.ggml.eot_token_id", 3U));
  parts.set(gguf_key("tokenizer.ggml.eom_token_id", 2U));
  const Checkpoint found = loaded_gguf(parts);
  EXPECT_EQ(found.shape.bos_token, 1);
  EXPECT_THAT(found.shape.eos_tokens, testing::ElementsAre(2, 3));
}

TEST(LoadGguf, ScalingOfFrequenciesIsRead) {
  GgufParts parts = tiny_gguf();
  const auto rope = [&] { return loaded_gguf(parts).shape.rope; };
  parts.set(gguf_key("llama.rope.scale_linear", 4.0F));
  EXPECT_EQ(rope().kind, speculation::RopeKind::linear);
  EXPECT_EQ(rope().factor, 4.0);
  parts.set(gguf_key("llama.rope.scaling.type", "none"));
  EXPECT_EQ(rope().kind, speculation::RopeKind::standard);
  parts.set(gguf_key("llama.rope.scaling.type", "yarn"));
  parts.set(gguf_key("llama.rope.scaling.factor", 2.0F));
  parts.set(gguf_key("llama.rope.scaling.original_context_length", 16U));
  parts.set(gguf_key("llama.rope.freq_base", 500000.0F));
  EXPECT_EQ(rope().kind, speculation::RopeKind::yarn);
  EXPECT_EQ(rope().factor, 2.0);
  EXPECT_EQ(rope().original_max_positions, 16);
  EXPECT_EQ(rope().theta, 500000.0);
}

}  // namespace
}  // namespace draftscope::engine::test
