// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <functional>

#include "tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

using namespace draftscope::engine::tiny;
using ::testing::HasSubstr;
using ::testing::Not;

std::string bytes_of(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.data), view.bytes()};
}

void expect_same_tensors(const Checkpoint& checkpoint, std::vector<StoredTensor> stored) {
  for (const auto& [name, view] : named_tensors(checkpoint.shape, checkpoint.weights))
    EXPECT_EQ(bytes_of(view), tensor_named(stored, name).bytes) << name;
}

TEST(LoadCheckpoint, ShardsHoldTheSameModelAsOneFile) {
  const TemporaryFolder folder;
  write_sharded_checkpoint(folder.path(), tiny_tensors());
  const auto checkpoint = load_checkpoint(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->shape.name, folder.path().filename());
  EXPECT_FALSE(checkpoint->synthetic);
  expect_same_tensors(*checkpoint, tiny_tensors());
}

TEST(LoadCheckpoint, TiedHeadIsTheEmbedding) {
  auto config = tiny_config();
  config["tie_word_embeddings"] = true;
  auto tensors = tiny_tensors();
  tensors.pop_back();
  const Checkpoint checkpoint = loaded_tiny(tensors, config);
  EXPECT_EQ(checkpoint.weights.head.data, checkpoint.weights.embedding.data);
  EXPECT_EQ(checkpoint.bytes_per_step(), checkpoint.weight_bytes());
}

TEST(LoadCheckpoint, FusedTensorsAreSplitWhereTheyLie) {
  auto config = tiny_config();
  config["architectures"] = {"Phi3ForCausalLM"};
  auto tensors = tiny_tensors();
  std::vector<StoredTensor> fused;
  const auto joined = [&](const std::string& prefix, const std::vector<std::string>& parts,
                          const char* name) {
    StoredTensor whole{prefix + name, "BF16", {0, 8}, ""};
    for (const std::string& part : parts) {
      const StoredTensor& tensor = tensor_named(tensors, prefix + part);
      whole.shape[0] += tensor.shape[0];
      whole.bytes += tensor.bytes;
    }
    fused.push_back(whole);
  };
  for (const char* const layer : {"model.layers.0.", "model.layers.1."}) {
    joined(layer, {"self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight"},
           "self_attn.qkv_proj.weight");
    joined(layer, {"mlp.gate_proj.weight", "mlp.up_proj.weight"}, "mlp.gate_up_proj.weight");
  }
  for (const StoredTensor& tensor : tensors)
    if (tensor.name.find("_proj") == std::string::npos || tensor.name.find("o_proj") != std::string::npos ||
        tensor.name.find("down_proj") != std::string::npos)
      fused.push_back(tensor);
  const Checkpoint checkpoint = loaded_tiny(fused, config);
  const LayerWeights& layer = checkpoint.weights.layers[1];
  EXPECT_EQ(bytes_of(layer.q), tensor_named(tensors, "model.layers.1.self_attn.q_proj.weight").bytes);
  EXPECT_EQ(bytes_of(layer.k), tensor_named(tensors, "model.layers.1.self_attn.k_proj.weight").bytes);
  EXPECT_EQ(bytes_of(layer.v), tensor_named(tensors, "model.layers.1.self_attn.v_proj.weight").bytes);
  EXPECT_EQ(bytes_of(layer.up), tensor_named(tensors, "model.layers.1.mlp.up_proj.weight").bytes);
  fused[0].shape[0] -= 1;
  fused[0].bytes.resize(fused[0].bytes.size() - 16);
  EXPECT_THAT(refusal_of(fused, config),
              HasSubstr("model.layers.0.self_attn.qkv_proj.weight: shape is [15, 8], expected [16, 8]"));
}

TEST(LoadCheckpoint, ADecoderNestedInALargerModelIsFoundUnderEitherPrefix) {
  for (const std::string_view prefix : {"language_model.model.", "model.language_model."}) {
    auto decoder = tiny_config();
    decoder["head_dim"] = 4;
    const nlohmann::json config{{"architectures", {"Gemma3ForConditionalGeneration"}},
                                {"text_config", decoder}};
    std::vector<StoredTensor> tensors;
    for (StoredTensor tensor : tiny_tensors()) {
      if (tensor.name == "lm_head.weight") continue;  // the head is tied
      tensor.name = std::string(prefix) + tensor.name.substr(std::string_view("model.").size());
      if (tensor.name.find("input_layernorm") != std::string::npos)
        for (const auto& [name, columns] :
             {std::pair{"self_attn.q_norm", 4}, std::pair{"self_attn.k_norm", 4},
              std::pair{"pre_feedforward_layernorm", 8}, std::pair{"post_feedforward_layernorm", 8}}) {
          StoredTensor norm = tensor;
          norm.name = tensor.name.substr(0, tensor.name.find("input_layernorm")) + name + ".weight";
          norm.shape = {static_cast<std::uint64_t>(columns)};
          norm.bytes.resize(static_cast<std::size_t>(columns) * 2);
          tensors.push_back(norm);
        }
      tensors.push_back(tensor);
    }
    tensors.push_back({"vision_tower.patch", "BF16", {1}, std::string(2, '\0')});
    const Checkpoint checkpoint = loaded_tiny(tensors, config);
    EXPECT_EQ(checkpoint.shape.n_layers, 2);
    EXPECT_TRUE(checkpoint.weights.layers[1].mlp_output_norm.present());
  }
}

TEST(LoadCheckpoint, AStepReadsOneRowOfAnUntiedEmbedding) {
  const Checkpoint checkpoint = loaded_tiny(tiny_tensors());
  std::size_t bytes = 0;
  for (const auto& tensor : tiny_tensors()) bytes += tensor.bytes.size();
  EXPECT_EQ(checkpoint.weight_bytes(), bytes);
  EXPECT_EQ(checkpoint.bytes_per_step(), bytes - 9 * 8 * 2);
}

TEST(LoadCheckpoint, TheMappingOutlivesTheCheckpointItWasMovedFrom) {
  const TemporaryFolder folder;
  write_tiny_checkpoint(folder.path());
  auto loaded = load_checkpoint(folder.path());
  ASSERT_TRUE(loaded);
  const Checkpoint kept = std::move(*loaded);
  loaded = fail("gone");
  expect_same_tensors(kept, tiny_tensors());
}

TEST(LoadCheckpoint, HashFollowsContentAndNotPlace) {
  // Each call loads from another folder.
  const std::string hash = "d6404c3dab1e3ae9679b6026a1d6b480";  // This is the same on every machine.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(loaded_tiny(tiny_tensors()).hash, hash);
  auto tensors = tiny_tensors();
  tensor_named(tensors, "model.layers.1.mlp.up_proj.weight").bytes[40] ^= 1;
  EXPECT_NE(loaded_tiny(tensors).hash, hash);
  auto config = tiny_config();
  config["rope_theta"] = 20000.0;
  EXPECT_NE(loaded_tiny(tiny_tensors(), config).hash, hash);
}

TEST(LoadCheckpoint, TensorDataIsMappedAndNotRead) {
  // The file is a sparse gigabyte: reading or copying it would make its pages resident.
  const TemporaryFolder folder;
  auto config = tiny_config();
  config["vocab_size"] = 1 << 24;
  config["hidden_size"] = 16;
  config["head_dim"] = 4;
  config["tie_word_embeddings"] = true;
  constexpr std::uint64_t table_bytes = (std::uint64_t{1} << 24) * 16 * 2;
  nlohmann::ordered_json header;
  std::uint64_t begin = 0;
  const auto add = [&](const std::string& name, std::vector<std::uint64_t> shape) {
    std::uint64_t bytes = 2;
    for (const auto extent : shape) bytes *= extent;
    header[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {begin, begin + bytes}}};
    begin += bytes;
  };
  add("model.embed_tokens.weight", {1 << 24, 16});
  for (const auto& tensor : tiny_tensors()) {
    if (!tensor.name.starts_with("model.layers.") && tensor.name != "model.norm.weight") continue;
    auto shape = tensor.shape;
    for (auto& extent : shape)
      if (extent == 8) extent = 16;
    if (tensor.name.find("q_proj") != std::string::npos) shape = {8, 16};
    if (tensor.name.find("o_proj") != std::string::npos) shape = {16, 8};
    add(tensor.name, shape);
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  write_bytes(folder.path() / "config.json", config.dump());
  const auto path = folder.path() / "model.safetensors";
  write_bytes(path, safetensors_file(text, 0));
  std::filesystem::resize_file(path, 8 + text.size() + begin);

  const auto checkpoint = load_checkpoint(folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  constexpr std::size_t page = 4096;
  // The table starts some bytes after a page boundary, so only the pages after its first one are checked.
  const std::byte* const table = checkpoint->weights.embedding.data;
  auto* const first_page =
      const_cast<std::byte*>(table) + (page - reinterpret_cast<std::uintptr_t>(table) % page);
  std::vector<unsigned char> resident(table_bytes / page - 1);
  ASSERT_EQ(::mincore(first_page, resident.size() * page, resident.data()), 0);
  std::size_t pages = 0;
  for (const auto state : resident) pages += state & 1U;
  // The hash samples one place, and some kernels fetch a little around it.
  EXPECT_LT(pages, 256U);
}

struct Damage {
  const char* name;
  std::function<void(const std::filesystem::path&)> damage;
  const char* expected;
};

class DamagedCheckpoint : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedCheckpoint, IsRefusedInOneLineThatSaysWhy) {
  const TemporaryFolder folder;
  write_tiny_checkpoint(folder.path());
  GetParam().damage(folder.path());
  const auto checkpoint = load_checkpoint(folder.path());
  ASSERT_FALSE(checkpoint);
  EXPECT_THAT(checkpoint.error().message, HasSubstr(GetParam().expected));
  EXPECT_THAT(checkpoint.error().message, HasSubstr(folder.path().filename().string()));
  EXPECT_THAT(checkpoint.error().message, Not(HasSubstr("\n")));
}

/// Sets a field of config.json to the JSON value in this text; "" removes the field.
auto config_field(const char* field, const char* value) {
  return [=](const std::filesystem::path& folder) {
    auto config = tiny_config();
    if (*value == '\0')
      config.erase(field);
    else
      config[field] = nlohmann::json::parse(value);
    write_bytes(folder / "config.json", config.dump());
  };
}

auto qwen2_field(const char* field, const char* value) {
  return [=](const std::filesystem::path& folder) {
    auto config = tiny_config();
    config["architectures"] = {"Qwen2ForCausalLM"};
    config["use_sliding_window"] = true;
    config[field] = nlohmann::json::parse(value);
    write_bytes(folder / "config.json", config.dump());
  };
}

auto file_text(const char* file, const std::string& text) {
  return [=](const std::filesystem::path& folder) { write_bytes(folder / file, text); };
}

auto tensors(const std::function<void(std::vector<StoredTensor>&)>& change) {
  return [=](const std::filesystem::path& folder) {
    auto stored = tiny_tensors();
    change(stored);
    write_bytes(folder / "model.safetensors", safetensors_file(stored));
  };
}

auto shards(const std::function<void(const std::filesystem::path&, nlohmann::json&)>& change) {
  return [=](const std::filesystem::path& folder) {
    std::filesystem::remove(folder / "model.safetensors");
    write_sharded_checkpoint(folder, tiny_tensors());
    const auto path = folder / "model.safetensors.index.json";
    auto index = nlohmann::json::parse(draftscope::test::bytes_of(path));
    change(folder, index);
    write_bytes(path, index.dump());
  };
}

constexpr const char* up = "model.layers.1.mlp.up_proj.weight";
constexpr const char* norm = "model.layers.1.input_layernorm.weight";

std::vector<Damage> damages() {
  using Path = std::filesystem::path;
  using Tensors = std::vector<StoredTensor>;
  return {
      {"NoConfig", [](const Path& f) { std::filesystem::remove(f / "config.json"); },
       "config.json: no such file"},
      {"ConfigIsFolder",
       [](const Path& f) {
         std::filesystem::remove(f / "config.json");
         std::filesystem::create_directory(f / "config.json");
       },
       "config.json: found a folder, expected a regular file"},
      {"ConfigTooLarge", file_text("config.json", std::string((1 << 20) + 1, ' ')),
       "1048577 bytes, expected at most 1048576"},
      {"ConfigEmpty", file_text("config.json", ""), "config.json: not valid JSON"},
      {"ConfigCutOff", file_text("config.json", R"({"hidden_size": 8,)"), "config.json: not valid JSON"},
      {"ConfigEndsInZeros", file_text("config.json", std::string("{}\0\0", 4)), "a zero byte at byte 2"},
      {"ConfigIsArray", file_text("config.json", "[]"), "found an array, expected a JSON object"},
      {"ConfigKeyTwice", file_text("config.json", R"({"a":1,"b":{"c":1,"c":2}})"),
       "the key 'c' occurs twice"},
      {"ConfigNumberTooLarge", config_field("hidden_size", "99999999999999999999"),
       "hidden_size is 1e+20, expected an integer"},
      {"OtherArchitecture", config_field("architectures", R"(["GPT2LMHeadModel"])"),
       "names 'GPT2LMHeadModel', expected that of llama, mistral, qwen2, qwen3"},
      {"ArchitecturesIsText", config_field("architectures", R"("LlamaForCausalLM")"),
       "expected a list of strings"},
      {"NoArchitecture", file_text("config.json", R"({"model_type":"gemma"})"),
       "model_type is 'gemma', expected"},
      {"NoHiddenSize", config_field("hidden_size", ""), "hidden_size is missing, expected an integer from 1"},
      {"HiddenSizeIsText", config_field("hidden_size", R"("8")"), "hidden_size is '8', expected an integer"},
      {"HiddenSizeIsFraction", config_field("hidden_size", "8.0"), "hidden_size is 8.0, expected an integer"},
      {"HiddenSizeIsZero", config_field("hidden_size", "0"), "hidden_size is 0, expected an integer from 1"},
      {"HiddenSizeIsNegative", config_field("hidden_size", "-8"), "hidden_size is -8, expected an integer"},
      {"HiddenSizeNotOfHeads", config_field("hidden_size", "9"),
       "expected a multiple of num_attention_heads 2"},
      {"LayersTooMany", config_field("num_hidden_layers", "100000"), "num_hidden_layers is 100000, expected"},
      {"VocabTooLarge", config_field("vocab_size", "4294967296"), "vocab_size is 4294967296, expected"},
      {"KvHeadsNoDivisor", config_field("num_key_value_heads", "3"),
       "num_key_value_heads is 3, expected a divisor"},
      {"OddHeadDim", config_field("head_dim", "5"), "head_dim is 5, expected an even number"},
      {"OtherActivation", config_field("hidden_act", R"("gelu")"), "hidden_act is 'gelu', expected 'silu'"},
      {"EpsilonIsText", config_field("rms_norm_eps", R"("1e-5")"),
       "rms_norm_eps is '1e-5', expected a number"},
      {"EpsilonIsImplausible", config_field("rms_norm_eps", "1.5"),
       "rms_norm_eps is 1.5, expected a number from 0"},
      {"BiasIsNumber", config_field("attention_bias", "1"), "attention_bias is 1, expected true or false"},
      {"ThetaIsZero", config_field("rope_theta", "0"), "rope_theta is 0, expected a number from 1"},
      {"RopeIsText", config_field("rope_scaling", R"("linear")"),
       "rope_scaling is 'linear', expected an object"},
      {"LongropeNoFactors", config_field("rope_scaling", R"({"type":"longrope"})"),
       "rope_scaling.short_factor is missing"},
      {"RopeUnknownKind", config_field("rope_scaling", R"({"type":"mrope"})"),
       "rope_scaling.type is 'mrope', expected default, linear, dynamic, llama3, yarn or longrope"},
      {"RopeParametersOtherKind", config_field("rope_parameters", R"({"rope_type":"su"})"),
       "rope_parameters.rope_type is 'su', expected"},
      {"RopeNoFactor", config_field("rope_scaling", R"({"type":"linear"})"),
       "rope_scaling.factor is missing"},
      {"RopeFactorBelowOne", config_field("rope_scaling", R"({"type":"dynamic","factor":0.5})"),
       "rope_scaling.factor is 0.5, expected a number from 1"},
      {"Llama3FactorsReversed",
       config_field("rope_scaling",
                    R"({"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":1})"),
       "high_freq_factor is 1, expected above low_freq_factor 4"},
      {"YarnBetasReversed", config_field("rope_scaling", R"({"type":"yarn","factor":2,"beta_fast":0.5})"),
       "beta_fast is 0.5, expected at least beta_slow 1"},
      {"YarnFactorAbsent", config_field("rope_scaling", R"({"type":"yarn"})"),
       "rope_scaling.factor is missing"},
      {"PartialRotation", config_field("partial_rotary_factor", "0.5"),
       "partial_rotary_factor is 0.5, expected 1"},
      {"Quantised", config_field("quantization_config", R"({"bits":4})"),
       "quantization_config.quant_method is missing"},
      {"EndTokenOutsideVocabulary", config_field("eos_token_id", "10"),
       "eos_token_id is 10, expected an integer"},
      {"EndTokenListHoldsText", config_field("eos_token_id", R"([1,"2"])"),
       "eos_token_id[1] is '2', expected"},
      {"FirstTokenOutsideVocabulary", config_field("bos_token_id", "-2"), "bos_token_id is -2, expected"},
      {"GenerationConfigCutOff", file_text("generation_config.json", "{"),
       "generation_config.json: not valid JSON"},
      {"GenerationEndTokenIsText", file_text("generation_config.json", R"({"eos_token_id":"x"})"),
       "generation_config.json: eos_token_id is 'x'"},
      {"WindowInSomeLayers", qwen2_field("max_window_layers", "1"), "max_window_layers is 1 of 2 layers"},
      {"LayerTypesMixed", qwen2_field("layer_types", R"(["full_attention","sliding_attention"])"),
       "layer_types holds full_attention at no fixed interval, expected it in every n-th layer alone"},
      {"LayerTypesTooFew", qwen2_field("layer_types", R"(["full_attention"])"),
       "layer_types has 1 entries, expected num_hidden_layers = 2"},
      {"NoWeights", [](const Path& f) { std::filesystem::remove(f / "model.safetensors"); },
       "expected model.safetensors or model.safetensors.index.json"},
      {"WeightsEmpty", file_text("model.safetensors", ""), "model.safetensors: found an empty file"},
      {"WeightsAreText", file_text("model.safetensors", "version https://git-lfs.github.com/spec/v1"),
       "not a safetensors file?"},
      {"WeightsTruncated",
       [](const Path& f) {
         const auto path = f / "model.safetensors";
         std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
       },
       "the file is truncated or damaged"},
      {"WeightsAreFolder",
       [](const Path& f) {
         std::filesystem::remove(f / "model.safetensors");
         std::filesystem::create_directory(f / "model.safetensors");
       },
       "model.safetensors: expected a regular file"},
      {"TensorMissing",
       tensors([](Tensors& t) { std::erase_if(t, [](const auto& x) { return x.name == up; }); }),
       "model.safetensors: tensor model.layers.1.mlp.up_proj.weight is missing, expected one of [12, 8]"},
      {"HeadMissing", tensors([](Tensors& t) { t.pop_back(); }), "tensor lm_head.weight is missing"},
      {"MatrixTransposed", tensors([](Tensors& t) {
         tensor_named(t, up).shape = {8, 12};
       }),
       "up_proj.weight: shape is [8, 12], expected [12, 8]"},
      {"MatrixFlat", tensors([](Tensors& t) { tensor_named(t, up).shape = {96}; }),
       "shape is [96], expected [12, 8]"},
      {"NormOfRankTwo", tensors([](Tensors& t) {
         tensor_named(t, norm).shape = {1, 8};
       }),
       "shape is [1, 8], expected [8]"},
      {"ConfigAsksForWiderLayers", config_field("intermediate_size", "13"),
       "shape is [12, 8], expected [13, 8]"},
      {"ConfigAsksForMoreLayers", config_field("num_hidden_layers", "3"),
       "tensor model.layers.2.input_layernorm.weight is missing"},
      {"MatrixOfOtherType", tensors([](Tensors& t) { tensor_named(t, up).dtype = "I16"; }),
       "dtype is I16, expected F32, BF16 or F16"},
      {"NormNotFinite", tensors([](Tensors& t) { tensor_named(t, norm).bytes.replace(6, 2, "\x80\x7f"); }),
       "model.layers.1.input_layernorm.weight: element 3 is not finite"},
      {"UnexpectedBias", tensors([](Tensors& t) {
         t.push_back({"model.layers.0.self_attn.q_proj.bias", "BF16", {8}, std::string(16, '\0')});
       }),
       "tensor 'model.layers.0.self_attn.q_proj.bias', expected those of LlamaForCausalLM"},
      {"UnexpectedQueryNorm", tensors([](Tensors& t) {
         t.push_back({"model.layers.1.self_attn.q_norm.weight", "BF16", {4}, std::string(8, '\0')});
       }),
       "q_norm.weight', expected those"},
      {"IndexIsText", shards([](const Path&, nlohmann::json& index) { index = "x"; }),
       "expected a JSON object"},
      {"IndexWithoutMap", shards([](const Path&, nlohmann::json& index) { index.erase("weight_map"); }),
       "weight_map is missing"},
      {"IndexMapIsList", shards([](const Path&, nlohmann::json& index) { index["weight_map"] = {1}; }),
       "weight_map is an array"},
      {"IndexNamesNumber", shards([](const Path&, nlohmann::json& index) { index["weight_map"][up] = 3; }),
       "is 3, expected a file name"},
      {"IndexLeavesFolder",
       shards([](const Path&, nlohmann::json& index) { index["weight_map"][up] = "../other.safetensors"; }),
       "is '../other.safetensors', expected a file name without folders"},
      {"IndexNamesAbsentShard",
       shards([](const Path&, nlohmann::json& index) { index["weight_map"][up] = "model-3.safetensors"; }),
       "model-3.safetensors: cannot be opened: No such file or directory"},
      {"IndexLacksTensor", shards([](const Path&, nlohmann::json& index) { index["weight_map"].erase(up); }),
       "up_proj.weight is missing from weight_map"},
      {"IndexNamesOtherShard", shards([](const Path&, nlohmann::json& index) {
         auto& file = index["weight_map"][up];
         file = file == "model-00001-of-00002.safetensors" ? "model-00002-of-00002.safetensors"
                                                           : "model-00001-of-00002.safetensors";
       }),
       "up_proj.weight is missing, expected it here as the index says"},
      {"IndexMapIsEmpty",
       shards([](const Path&, nlohmann::json& index) { index["weight_map"] = nlohmann::json::object(); }),
       "model.safetensors.index.json: tensor model.embed_tokens.weight is missing"},
      {"ShardTruncated", shards([](const Path& folder, nlohmann::json&) {
         std::filesystem::resize_file(folder / "model-00002-of-00002.safetensors", 300);
       }),
       "model-00002-of-00002.safetensors: header of"},
  };
}

INSTANTIATE_TEST_SUITE_P(Table, DamagedCheckpoint, ::testing::ValuesIn(damages()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(LoadCheckpoint, AFileInPlaceOfTheFolderIsRefused) {
  EXPECT_THAT(load_checkpoint("/dev/null").error().message, HasSubstr("/dev/null: expected a folder"));
  EXPECT_THAT(open_model("no/such/folder").error().message, HasSubstr("no/such/folder: expected a folder"));
}

}  // namespace
}  // namespace draftscope::engine
