// SPDX-License-Identifier: GPL-3.0-or-later
// Every kind of bad file is refused in one line that says what was found and what was expected.

#include <draftscope/engine/checkpoint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "gguf_bytes.h"
#include "gguf_goldens.h"
#include "temporary_folder.h"

namespace draftscope::engine::test {
namespace {

using draftscope::test::TemporaryFolder;
using testing::HasSubstr;

std::string message_of(const TemporaryFolder& folder, const std::string& bytes) {
  write_bytes(folder / "m.gguf", bytes);
  const auto loaded = load_gguf(folder / "m.gguf");
  return loaded ? "" : loaded.error().message;
}

void expect_one_line(const std::string& message) {
  EXPECT_FALSE(message.empty());
  EXPECT_LT(message.size(), 400U);
  for (const char c : message) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << message;
}

struct Damage {
  const char* name;
  std::function<void(GgufParts&)> change;
  const char* message;
  const char* architecture = "llama";
};

class DamagedGguf : public testing::TestWithParam<Damage> {};

TEST_P(DamagedGguf, IsRefusedInOneLine) {
  const TemporaryFolder folder;
  GgufParts parts = tiny_gguf(GetParam().architecture);
  GetParam().change(parts);
  const std::string message = message_of(folder, parts.file());
  expect_one_line(message);
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

std::function<void(GgufParts&)> set(const char* key, auto value) {
  return [=](GgufParts& parts) { parts.set(gguf_key(key, value)); };
}

std::function<void(GgufParts&)> change(const char* tensor, void (*edit)(GgufTensor&)) {
  return [=](GgufParts& parts) { edit(parts.tensor(tensor)); };
}

std::function<void(GgufParts&)> factors(const std::vector<float>& beyond, const std::vector<float>& within) {
  return [=](GgufParts& parts) {
    parts.tensors.push_back(gguf_vector("rope_factors_long.weight", beyond));
    parts.tensors.push_back(gguf_vector("rope_factors_short.weight", within));
  };
}

std::string nested(int depth) {
  GgufBytes bytes;
  bytes.number<std::uint32_t>(9);
  for (int i = 0; i < depth; ++i) bytes.number<std::uint32_t>(9).number<std::uint64_t>(1);
  return bytes.number<std::uint32_t>(4).number<std::uint64_t>(0).text();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, DamagedGguf,
    testing::ValuesIn(std::vector<Damage>{
        {"NoArchitecture", [](GgufParts& parts) { parts.remove("general.architecture"); },
         "general.architecture is missing, expected a string"},
        {"OtherArchitecture", set("general.architecture", "mamba"),
         "general.architecture is 'mamba', expected llama, qwen2, qwen3, olmo2, granite, smollm3, phi3, gemma2, "
         "gemma3, exaone4, hunyuan-dense, arcee, apertus, mistral3 or seed_oss"},
        {"ArchitectureIsNumber", set("general.architecture", 3U),
         "general.architecture is 3, expected a string"},
        {"NoLayers", [](GgufParts& parts) { parts.remove("llama.block_count"); },
         "llama.block_count is missing"},
        {"TooManyLayers", set("llama.block_count", 4000000000U), "llama.block_count is 4000000000, expected"},
        {"OneLayerTooMany", set("llama.block_count", 3U), "tensor blk.2.attn_norm.weight is missing"},
        {"OneLayerTooFew", set("llama.block_count", 1U),
         "found tensor 'blk.1.attn_k.weight', expected those of"},
        {"HeadsDoNotDivide", set("llama.attention.head_count", 3U),
         "embedding_length is 8, expected a multiple"},
        {"KvHeadsDoNotDivide", set("llama.attention.head_count_kv", 3U), "n_kv_heads is 3"},
        {"HeadsOfLayersDiffer", set("llama.attention.head_count", std::vector<std::int32_t>{2, 1}),
         "differs from layer to layer"},
        {"HeadSize", set("llama.attention.key_length", 6U),
         "attn_q.weight: shape is [8, 8], expected [8, 12]"},
        {"ValueSize", set("llama.attention.value_length", 2U),
         "value_length is 2, expected the head size, 4"},
        {"PartlyRotated", set("llama.rope.dimension_count", 2U),
         "dimension_count is 2, expected the head size, 4"},
        {"Vocabulary", set("llama.vocab_size", 11U), "vocab_size is 11, expected 10"},
        {"Epsilon", set("llama.attention.layer_norm_rms_epsilon", std::numeric_limits<float>::quiet_NaN()),
         "expected a number from 0 to 0.1"},
        {"Experts", set("llama.expert_count", 8U),
         "expert_count is 8, expected 0: layers of llama are computed without a mixture"},
        {"Capped", set("llama.final_logit_softcapping", 30.0F), "expected 0: layers of llama are computed without logit soft-capping"},
        {"ScalingType", set("llama.rope.scaling.type", "longrope"),
         "'longrope', expected none, linear or yarn"},
        {"EndBeyondVocabulary", set("tokenizer.ggml.eos_token_id", 10U), "eos_token_id is 10, expected"},
        {"Alignment", set("general.alignment", 24U), "general.alignment is 24, expected a power of two"},
        {"AlignmentZero", set("general.alignment", 0U), "general.alignment is 0, expected an integer from 8"},
        {"KeyTwice", [](GgufParts& parts) { parts.keys.push_back(parts.keys.front()); }, "occurs twice"},
        {"ValueType",
         [](GgufParts& parts) {
           parts.set({"x", GgufBytes().number(13U).text()});
         },
         "'x' has a value of type 13, expected 0 to 12"},
        {"LongString",
         [](GgufParts& parts) {
           parts.set({"x", GgufBytes().number(8U).number(std::uint64_t{1} << 63U).text()});
         },
         "takes 9223372036854775808 bytes, expected at most"},
        {"LongArray",
         [](GgufParts& parts) {
           parts.set({"x", GgufBytes().number(9U).number(10U).number(std::uint64_t{1} << 61U).text()});
         },
         "'x' has 2305843009213693952 elements, expected no more than"},
        {"DeepArray",
         [](GgufParts& parts) {
           parts.set({"x", nested(9)});
         },
         "nested more than 4 deep"},
        {"MissingTensor",
         [](GgufParts& parts) { parts.tensor("blk.0.ffn_up.weight").name = "blk.0.ffn_up2.weight"; },
         "tensor blk.0.ffn_up.weight is missing"},
        {"ForeignTensor",
         [](GgufParts& parts) {
           parts.tensors.push_back({"v.patch", {8}, 0, std::string(32, '\0')});
         },
         "found tensor 'v.patch', expected"},
        {"TensorTwice", [](GgufParts& parts) { parts.tensors.push_back(parts.tensors.front()); },
         "tensor 'token_embd.weight' occurs twice"},
        {"TensorName", [](GgufParts& parts) { parts.tensors.front().name = "a\nb\x1b[2J"; },
         "tensor token_embd.weight is missing"},
        {"UnknownType", change("output.weight", [](GgufTensor& one) { one.type = 99; }),
         "type unknown (99), expected one"},
        {"UnsupportedType", change("output.weight", [](GgufTensor& one) { one.type = 16; }),
         "type IQ2_XXS (16), expected one"},
        {"NewType", change("output.weight", [](GgufTensor& one) { one.type = 42; }),
         "type Q2_0 (42), expected one"},
        {"OldType", change("output.weight", [](GgufTensor& one) { one.type = 31; }),
         "type Q4_0_4_4, made by builds of 2024 and before (31), expected one"},
        {"FurtherTokensOfAWholeLayer", set("llama.nextn_predict_layers", 1U),
         "nextn_predict_layers is 1, expected fewer: blk.1 has no tensor 'nextn.…'"},
        {"FurtherTokensAlone", set("llama.nextn_predict_layers", 2U), "expected an integer from 0 to 1"},
        {"RowsOfPartBlocks", change("output.weight", [](GgufTensor& one) { one.type = 12; }),
         "rows of 8 weights, expected a multiple of 256 for Q4_K"},
        {"NoExtents", change("output.weight", [](GgufTensor& one) { one.extents.clear(); }),
         "0 dimensions, expected 1 to 4"},
        {"ZeroExtent", change("output.weight", [](GgufTensor& one) { one.extents[1] = 0; }),
         "dimension 1 is 0"},
        {"HugeProduct",
         change("output.weight",
                [](GgufTensor& one) {
                  one.extents = {std::uint64_t{1} << 40U, std::uint64_t{1} << 40U};
                }),
         "expected a number of bytes that fits 64 bits"},
        {"DataBeyondTheEnd", change("output.weight", [](GgufTensor& one) { one.extents[1] = 1000; }),
         "it is truncated or damaged"},
        {"Transposed",
         change("blk.0.ffn_up.weight", [](GgufTensor& one) { std::swap(one.extents[0], one.extents[1]); }),
         "blk.0.ffn_up.weight: shape is [12, 8], expected [8, 12]"},
        {"NormIsMatrix",
         change("output_norm.weight",
                [](GgufTensor& one) {
                  one.extents = {4, 2};
                }),
         "output_norm.weight: shape is [4, 2], expected [8]"},
        {"NormIsNotFinite",
         change("output_norm.weight", [](GgufTensor& one) { one.bytes[31] = one.bytes[30] = '\xFF'; }),
         "output_norm.weight: element 7 is not finite"},
        {"EmbeddingIsVector", change("token_embd.weight", [](GgufTensor& one) { one.extents = {80}; }),
         "token_embd.weight: shape is [80], expected [8, vocabulary]"},
        {"Divisors",
         [](GgufParts&
                parts) { parts.tensors.push_back({"rope_freqs.weight", {3}, 0, std::string(12, '\0')}); },
         "rope_freqs.weight: F32 [3], expected F32 [2]"},
        {"DivisorIsZero",
         [](GgufParts&
                parts) { parts.tensors.push_back({"rope_freqs.weight", {2}, 0, std::string(8, '\0')}); },
         "rope_freqs.weight: element 0 is 0, expected a positive number"},
        {"LooksAhead", set("gemma3.attention.causal", false),
         "gemma3.attention.causal is false, expected true: only a decoder that looks back", "gemma3"},
        {"ForeignWindow", set("smollm3.attention.sliding_window", 8U),
         "sliding_window is 8, expected 0: layers of smollm3 are computed without a sliding window", "smollm3"},
        {"ForeignScale", set("phi3.residual_scale", 0.5F),
         "residual_scale is 0.5, expected 1: layers of phi3", "phi3"},
        {"AttentionScale", set("granite.attention.scale", 0.0F),
         "granite.attention.scale is 0, expected a number from 1e-06", "granite"},
        {"EmbeddingScale", set("granite.embedding_scale", -1.0F),
         "granite.embedding_scale is -1, expected a number from 1e-06", "granite"},
        {"ResidualScale", set("granite.residual_scale", "0.2"),
         "granite.residual_scale is '0.2', expected a number", "granite"},
        {"LogitScale", set("granite.logit_scale", 0.0F),
         "granite.logit_scale is 0, expected a number from 1e-06", "granite"},
        {"LayersThatDoNotRotate", set("granite.rope.scaling.finetuned", false),
         "granite.rope.scaling.finetuned is false, expected true: all layers rotate", "granite"},
        {"Window", set("gemma2.attention.sliding_window", -1.0F),
         "gemma2.attention.sliding_window is -1, expected an integer from 0", "gemma2"},
        {"NoNumbersOfXielu", [](GgufParts& parts) { parts.remove("xielu.beta"); }, "xielu.beta is missing", "apertus"},
        {"TooFewNumbersOfXielu", set("xielu.alpha_p", std::vector<float>{1.0F}),
         "expected a number for each of 2 layers", "apertus"},
        {"NumberOfXieluIsNone", set("xielu.alpha_n", std::vector<float>{1.0F, NAN}),
         "expected numbers from -1000000 to 1000000", "apertus"},
        {"TextForXielu", set("xielu.eps", "small"), "xielu.eps is 'small', expected a number", "apertus"},
        {"GateWhereNoneIs", [](GgufParts& parts) { parts.tensors.push_back(gguf_vector("blk.0.ffn_gate.weight", {1})); },
         "found tensor 'blk.0.ffn_gate.weight', expected those of the architecture", "arcee"},
        {"ScaledQueries", set("llama.attention.temperature_scale", 0.1F),
         "expected 0: layers of llama are computed without queries scaled by their position"},
        {"ScaleOfQueries", set("mistral3.attention.temperature_scale", -1.0F),
         "mistral3.attention.temperature_scale is -1, expected a number from 0", "mistral3"},
        {"WindowOfPhi", set("phi3.attention.sliding_window", "none"),
         "phi3.attention.sliding_window is 'none', expected an integer from 0", "phi3"},
        {"WindowInterval", set("gemma3.attention.sliding_window_pattern", 1U << 21U),
         "gemma3.attention.sliding_window_pattern is 2097152, expected an integer from 0 to 1048576", "gemma3"},
        {"WindowList", set("gemma3.attention.sliding_window_pattern", std::vector<bool>{true, false, true}),
         "gemma3.attention.sliding_window_pattern is an array of 3, expected one of 2, as many as layers",
         "gemma3"},
        {"WindowListAtNoInterval", set("gemma2.attention.sliding_window_pattern", std::vector<bool>{false, true}),
         "gemma2.attention.sliding_window_pattern is an array of 2, expected false for every n-th layer",
         "gemma2"},
        {"WindowListOfNumbers",
         set("gemma2.attention.sliding_window_pattern", std::vector<std::int32_t>{1, 0}),
         "gemma2.attention.sliding_window_pattern is an array of 2, expected an array of booleans", "gemma2"},
        {"AttentionCap", set("gemma2.attn_logit_softcapping", -2.0F),
         "gemma2.attn_logit_softcapping is -2, expected a number from 0", "gemma2"},
        {"LogitCap", set("gemma3.final_logit_softcapping", std::numeric_limits<float>::infinity()),
         "gemma3.final_logit_softcapping is inf, expected a number from 0", "gemma3"},
        {"MoreHeadsThanNumbers",
         [](GgufParts& parts) {
           parts.set(gguf_key("gemma2.attention.head_count", 16U));
           parts.set(gguf_key("gemma2.attention.key_length", 4U));
         },
         "gemma2.embedding_length is 8, expected at least the 16 heads", "gemma2"},
        {"LocalBase",
         [](GgufParts& parts) {
           parts.set(gguf_key("gemma3.attention.sliding_window", 4U));
           parts.set(gguf_key("gemma3.rope.freq_base_swa", 0.5F));
         },
         "gemma3.rope.freq_base_swa is 0.5, expected a number from 1", "gemma3"},
        {"OddWidth", set("phi3.rope.dimension_count", 3U),
         "phi3.rope.dimension_count is 3, expected an even number up to the head size, 4", "phi3"},
        {"WideRotation", set("phi3.rope.dimension_count", 6U),
         "phi3.rope.dimension_count is 6, expected an even number up to the head size, 4", "phi3"},
        {"FusedRows", change("blk.1.attn_qkv.weight", [](GgufTensor& one) { one.extents = {16, 8}; }),
         "blk.1.attn_qkv.weight: shape is [16, 8], expected [8, 16]", "phi3"},
        {"FusedTensorIsMissing",
         [](GgufParts& parts) { parts.tensor("blk.0.attn_qkv.weight").name = "blk.0.attn_q.weight"; },
         "tensor blk.0.attn_qkv.weight is missing, expected one of 128 weights", "phi3"},
        {"GateBesideFused",
         [](GgufParts& parts) {
           parts.tensors.push_back({"blk.0.ffn_gate.weight", {8, 12}, 0, std::string(384, '\0')});
         },
         "found tensor 'blk.0.ffn_gate.weight', expected those of", "phi3"},
        {"LongFactorsAlone",
         [](GgufParts& parts) { parts.tensors.push_back(gguf_vector("rope_factors_long.weight", {1, 2})); },
         "tensor rope_factors_short.weight is missing, expected it beside rope_factors_long.weight", "phi3"},
        {"ShortFactorsAlone",
         [](GgufParts& parts) { parts.tensors.push_back(gguf_vector("rope_factors_short.weight", {1, 2})); },
         "tensor rope_factors_long.weight is missing, expected it beside rope_factors_short.weight", "phi3"},
        {"FewFactors", factors({1, 2}, {1}), "rope_factors_short.weight: F32 [1], expected F32 [2]", "phi3"},
        {"NegativeFactor", factors({1, -2}, {1, 1}),
         "rope_factors_long.weight: element 1 is -2, expected a positive number", "phi3"},
        {"FactorsBesideYarn",
         [](GgufParts& parts) {
           factors({1, 2}, {1, 1})(parts);
           parts.set(gguf_key("phi3.rope.scaling.type", "yarn"));
         },
         "phi3.rope.scaling.type is 'yarn', expected longrope beside tensor rope_factors_long.weight", "phi3"},
        {"FactorsBesideDivisors",
         [](GgufParts& parts) {
           factors({1, 2}, {1, 1})(parts);
           parts.tensors.push_back(gguf_vector("rope_freqs.weight", {1, 2}));
         },
         "tensor rope_freqs.weight is there beside rope_factors_long.weight, expected one", "phi3"},
        {"FirstContext",
         [](GgufParts& parts) {
           factors({1, 2}, {1, 1})(parts);
           parts.set(gguf_key("phi3.rope.scaling.original_context_length", 1U));
         },
         "phi3.rope.scaling.original_context_length is 1, expected an integer from 2", "phi3"},
        {"AttentionFactor",
         [](GgufParts& parts) {
           factors({1, 2}, {1, 1})(parts);
           parts.set(gguf_key("phi3.rope.scaling.attn_factor", 0.0F));
         },
         "phi3.rope.scaling.attn_factor is 0, expected a number from 1e-06", "phi3"},
        {"AttentionFactorAlone", set("llama.rope.scaling.attn_factor", 1.19F),
         "llama.rope.scaling.attn_factor is 1.19, expected 1 without tensor rope_factors_long.weight"},
        {"Version", [](GgufParts& parts) { parts.version = 1; }, "GGUF version 1, expected 2 or 3"},
        {"BigEndian", [](GgufParts& parts) { parts.version = 3U << 24U; }, "a big-endian GGUF file"},
    }),
    [](const auto& damage) { return damage.param.name; });

TEST(DamagedGguf, VersionTwoIsReadAlike) {
  const TemporaryFolder folder;
  GgufParts parts = tiny_gguf();
  parts.version = 2;
  EXPECT_EQ(message_of(folder, parts.file()), "");
}

TEST(DamagedGguf, WhereverItEndsTheFileIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = tiny_gguf().file();
  ASSERT_EQ(message_of(folder, whole), "");
  for (std::size_t size = 0; size + 32 < whole.size(); size += size < 2048 ? 7 : 97)
    expect_one_line(message_of(folder, whole.substr(0, size)));
}

TEST(DamagedGguf, NumbersOfTheHeaderAreNotBelieved) {
  const TemporaryFolder folder;
  const std::string whole = tiny_gguf().file();
  for (const std::size_t at : {8U, 16U}) {  // offsets of the counts of tensors and keys
    std::string bytes = whole;
    const std::uint64_t count = std::uint64_t{1} << 60U;
    std::memcpy(bytes.data() + at, &count, sizeof count);
    EXPECT_THAT(message_of(folder, bytes), HasSubstr("1152921504606846976"));
  }
  EXPECT_THAT(message_of(folder, "GGML" + whole.substr(4)),
              HasSubstr("expected it to begin with the letters GGUF"));
  EXPECT_THAT(message_of(folder, "{}"), HasSubstr("no GGUF file"));
  EXPECT_THAT(open_model((folder / "none.gguf").string()).error().message, HasSubstr("or a GGUF file"));
}

// Changes the offset of one tensor, which is at the end of its entry.
TEST(DamagedGguf, OffsetsAreHeldToTheAlignmentAndTheOrder) {
  const TemporaryFolder folder;
  const std::string whole = tiny_gguf().file();
  const std::size_t at = whole.find("blk.0.attn_norm.weight") + 22 + 4 + 8 + 4;
  const auto moved = [&](std::uint64_t offset) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + at, &offset, sizeof offset);
    return message_of(folder, bytes);
  };
  EXPECT_EQ(moved(320), "");  // the 320 bytes of the embedding come first
  EXPECT_THAT(moved(321), HasSubstr("data at offset 321, expected a multiple of 32"));
  EXPECT_THAT(moved(352), HasSubstr("data at offset 352, expected 320, after the tensor before"));
  EXPECT_THAT(moved(std::uint64_t{1} << 62U), HasSubstr("truncated or damaged"));
  EXPECT_THAT(moved(0xFFFFFFFFFFFFFFE0U), HasSubstr("truncated or damaged"));
}

}  // namespace
}  // namespace draftscope::engine::test
