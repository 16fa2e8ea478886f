// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include <draftscope/base/json_text.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include "numbers/trait_numbers.h"
#include "tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

std::filesystem::path here() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/engine/checkpoint";
}

using draftscope::test::bytes_of;

Result<speculation::ModelShape> parse_config(const nlohmann::json& config) {
  return speculation::parse_model_config({config.dump(), "config.json"}, std::nullopt);
}

std::string_view name_of(speculation::RopeKind kind) {
  constexpr std::string_view names[] = {"standard", "linear", "dynamic", "llama3", "yarn", "longrope"};
  return names[static_cast<std::size_t>(kind)];
}

class PublishedConfig : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto folder = here() / "configs" / GetParam();
    const auto config = bytes_of(folder / "config.json");
    const auto generation = bytes_of(folder / "generation_config.json");
    std::optional<speculation::ConfigText> of_generation;
    if (!generation.empty()) of_generation = {generation, "generation_config.json"};
    const auto parsed = speculation::parse_model_config({config, "config.json"}, of_generation);
    ASSERT_TRUE(parsed) << parsed.error().message;
    shape = *parsed;
    golden = nlohmann::json::parse(bytes_of(here() / "config_golden.json")).at(GetParam());
  }
  speculation::ModelShape shape;
  nlohmann::json golden;
};

TEST_P(PublishedConfig, ReadsAsHuggingFaceReadsIt) {
  EXPECT_EQ(shape.architecture, golden.at("architecture").get<std::string>());
  EXPECT_EQ(shape.n_layers, golden.at("n_layers"));
  EXPECT_EQ(shape.d_model, golden.at("d_model"));
  EXPECT_EQ(shape.n_heads, golden.at("n_heads"));
  EXPECT_EQ(shape.n_kv_heads, golden.at("n_kv_heads"));
  EXPECT_EQ(shape.head_dim, golden.at("head_dim"));
  EXPECT_EQ(shape.d_ff, golden.at("d_ff"));
  EXPECT_EQ(shape.vocab, golden.at("vocab"));
  EXPECT_EQ(shape.max_positions, golden.at("max_positions"));
  EXPECT_EQ(shape.rms_epsilon, golden.at("rms_epsilon"));
  EXPECT_EQ(shape.tied_embeddings, golden.at("tied_embeddings"));
  EXPECT_EQ(shape.bos_token, golden.at("bos_token"));
  std::ranges::sort(shape.eos_tokens);
  EXPECT_EQ(shape.eos_tokens, golden.at("eos_tokens").get<std::vector<std::int32_t>>());
}

TEST_P(PublishedConfig, DepartsFromLlamaAsHuggingFaceDoes) {
  const auto& expected = golden.at("traits");
  for (std::int32_t layer = 0; layer < shape.n_layers; ++layer) {
    const auto index = static_cast<std::size_t>(layer);
    EXPECT_EQ(shape.window_of(layer), expected.at("windows").at(index)) << layer;
    EXPECT_EQ(shape.rotates(layer) ? 1 : 0, expected.at("rotates").at(index)) << layer;
  }
  const speculation::ArchitectureTraits& traits = shape.traits;
  EXPECT_NEAR(attention_scale(shape), expected.at("attention_scale").get<double>(), 1e-7);
  EXPECT_NEAR(embedding_scale(shape, DType::f32), expected.at("embedding_scale").get<double>(), 1e-5);
  EXPECT_EQ(traits.residual_multiplier, expected.at("residual_multiplier"));
  EXPECT_EQ(traits.logit_multiplier, 1.0 / expected.at("logit_divisor").get<double>());
  EXPECT_EQ(traits.logit_cap, expected.at("logit_cap"));
  EXPECT_EQ(traits.attention_logit_cap, expected.at("attention_logit_cap"));
  EXPECT_EQ(traits.activation == speculation::Activation::gelu_tanh, expected.at("gelu"));
}

TEST_P(PublishedConfig, RotatesAsHuggingFaceDoes) {
  const auto& expected = golden.at("rope");
  const auto& rope = shape.rope;
  EXPECT_EQ(name_of(rope.kind), expected.at("kind").get<std::string>());
  EXPECT_EQ(rope.theta, expected.at("theta"));
  EXPECT_EQ(rope.factor, expected.value("factor", 1.0));
  EXPECT_EQ(rope.low_frequency_factor, expected.value("low_frequency_factor", 1.0));
  EXPECT_EQ(rope.high_frequency_factor, expected.value("high_frequency_factor", 4.0));
  EXPECT_EQ(rope.beta_fast, expected.value("beta_fast", 32.0));
  EXPECT_EQ(rope.beta_slow, expected.value("beta_slow", 1.0));
  EXPECT_EQ(rope.attention_factor, expected.value("attention_factor", 0.0));
  EXPECT_EQ(rope.mscale, expected.value("mscale", 0.0));
  EXPECT_EQ(rope.mscale_all_dim, expected.value("mscale_all_dim", 0.0));
  EXPECT_EQ(rope.truncate, expected.value("truncate", true));
  EXPECT_EQ(rope.short_factors, expected.value("short_factors", std::vector<double>()));
  EXPECT_EQ(rope.long_factors, expected.value("long_factors", std::vector<double>()));
  EXPECT_EQ(rope.local_theta, expected.value("local_theta", 0.0));
  EXPECT_EQ(rope.rotated_dimensions, expected.value("rotated_dimensions", 0));
  const auto original = rope.kind == speculation::RopeKind::dynamic
                            ? shape.max_positions
                            : expected.value("original_max_positions", 0);
  EXPECT_EQ(rope.original_max_positions, original);
}

TEST_P(PublishedConfig, AsksForTheTensorsTheModelHas) {
  const auto& expected = golden.at("tensors");
  Weights weights;
  std::map<std::string, std::int64_t> rows;  // by tensor name, summed over the tensor's slots
  for (const auto& slot : tensor_slots(shape, weights)) {
    if (slot.layer > 0) continue;
    ASSERT_TRUE(expected.contains(slot.name)) << slot.name;
    EXPECT_EQ(slot.first_row, rows[slot.name]) << slot.name;
    rows[slot.name] += slot.rows;
    const std::int64_t stored = slot.stored_rows > 0 ? slot.stored_rows : slot.rows;
    const auto extents = slot.is_vector() ? std::vector<std::int64_t>{slot.columns}
                                          : std::vector<std::int64_t>{stored, slot.columns};
    EXPECT_EQ(extents, expected.at(slot.name).get<std::vector<std::int64_t>>()) << slot.name;
  }
  EXPECT_EQ(rows.size(), expected.size());
  for (const auto& [name, all] : rows) {
    if (expected.at(name).size() == 2) {
      EXPECT_EQ(all, expected.at(name).at(0)) << name;
    }
  }
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(here() / "configs"))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& parameter) {
  auto name = parameter.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Families, PublishedConfig, testing::ValuesIn(folders()), test_name);

TEST(ModelFamilies, EachIsReadByItsArchitectureAndByItsType) {
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    auto by_architecture = tiny::tiny_config();
    if (family.nested) by_architecture = {{"text_config", tiny::tiny_config()}};
    auto by_type = by_architecture;
    by_architecture["architectures"] = {family.architecture};
    by_type.erase("architectures");
    by_type["model_type"] = family.model_type;
    for (const auto& config : {by_architecture, by_type}) {
      const auto shape = parse_config(config);
      ASSERT_TRUE(shape) << shape.error().message;
      EXPECT_EQ(shape->architecture, family.architecture);
    }
  }
}

TEST(ModelFamilies, WhatNobodyKnowsIsRefusedWithTheSupportedOnes) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"GPT2LMHeadModel"};
  EXPECT_EQ(
      parse_config(config).error().message,
      "config.json: architectures names 'GPT2LMHeadModel', expected that of llama, mistral, qwen2, qwen3, "
      "smollm3, granite, olmo2, phi3, gemma2, gemma3_text, gemma3, olmo3, exaone4, seed_oss, "
      "hunyuan_v1_dense, arcee, apertus, ministral3 or mistral3");
}

TEST(ModelFamilies, WhatIsAskedForIsRefusedWithWhatIsMissing) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"NemotronForCausalLM"};
  EXPECT_THAT(parse_config(config).error().message,
              testing::StartsWith("config.json: architectures names 'NemotronForCausalLM', which has norms "
                                  "with a mean and a bias, expected that of llama, "));
}

struct Refusal {
  const char* type;
  const char* fields;  ///< changes to tiny_config()
  const char* message;
};

TEST(ModelFamilies, WhatContradictsItselfOrIsNotSupportedIsRefusedInALineWithKeyAndValue) {
  constexpr Refusal refusals[] = {
      {"smollm3", R"({"no_rope_layers": [1]})",
       "no_rope_layers has 1 entries, expected num_hidden_layers = 2"},
      {"smollm3", R"({"no_rope_layers": [1, 2]})", "no_rope_layers[1] is 2, expected an integer from 0 to 1"},
      {"smollm3", R"({"num_hidden_layers": 3, "no_rope_layers": [0, 1, 1]})",
       "no_rope_layers names layers at no fixed interval, expected 0 for every n-th layer and 1 for the "
       "rest"},
      {"smollm3", R"({"no_rope_layers": [1, 0], "no_rope_layer_interval": 4})",
       "no_rope_layer_interval is 4, expected 2 as no_rope_layers has it"},
      {"smollm3", R"({"use_sliding_window": true})", "use_sliding_window is true, expected false"},
      {"granite", R"({"logits_scaling": 0})", "logits_scaling is 0, expected a number from"},
      {"granite", R"({"residual_multiplier": "0.22"})", "residual_multiplier is '0.22', expected a number"},
      {"phi3", R"({"partial_rotary_factor": 0.3})",
       "partial_rotary_factor is 0.3, expected a share of head_dim 4 that is an even number of dimensions"},
      {"phi3", R"({"rope_scaling": {"type": "su", "short_factor": [1, 1], "long_factor": [1]}})",
       "rope_scaling.long_factor has 1 entries, expected 2, one for each rotated pair"},
      {"phi3", R"({"rope_scaling": {"type": "longrope", "short_factor": [1, 0], "long_factor": [1, 1]}})",
       "rope_scaling.short_factor holds 0, expected numbers above 0"},
      {"phi3", R"({"hidden_act": "gelu"})", "hidden_act is 'gelu', expected 'silu'"},
      {"arcee", R"({"hidden_act": "silu"})", "hidden_act is 'silu', expected 'relu2'"},
      {"apertus", R"({"hidden_act": "relu2"})", "hidden_act is 'relu2', expected 'xielu'"},
      {"gemma2", R"({"hidden_activation": "silu"})",
       "hidden_activation is 'silu', expected 'gelu_pytorch_tanh'"},
      {"gemma2", R"({"layer_types": ["sliding_attention", "chunked_attention"]})",
       "layer_types holds 'chunked_attention', expected full_attention or sliding_attention"},
      {"gemma2", R"({"sliding_window": null, "layer_types": ["sliding_attention", "full_attention"]})",
       "layer_types holds 'sliding_attention', expected full_attention in every layer without "
       "sliding_window"},
      {"gemma3_text",
       R"({"sliding_window_pattern": 6, "layer_types": ["sliding_attention", "full_attention"]})",
       "sliding_window_pattern is 6, expected 2 as layer_types has it"},
      {"gemma3_text", R"({"use_bidirectional_attention": true})", "use_bidirectional_attention is true"},
      {"gemma3_text",
       R"({"rope_parameters": {"full_attention": {}, "sliding_attention": {"rope_type": "yarn"}}})",
       "rope_parameters.sliding_attention.rope_type is 'yarn', expected default"},
      {"qwen3", R"({"rope_parameters": {"rope_type": "default", "theta": 500000}})",
       "rope_parameters.theta is 500000, expected a key that is known, such as rope_type, rope_theta"},
      {"llama", R"({"rope_scaling": {"base": 5}})", "rope_scaling.base is 5, expected a key that is known"},
      {"llama", R"({"rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {"rope_theta": 7}})",
       "rope_scaling is an object, expected null or the same as rope_parameters"},
      {"llama", R"({"rope_parameters": {"full_attention": {"base": 5}}})",
       "rope_parameters.full_attention.base is 5, expected a key that is known"},
      {"llama", R"({"rope_parameters": {"full_attention": {}, "rope_theta": 5}})",
       "rope_parameters.rope_theta is 5, expected full_attention and sliding_attention alone"},
      {"llama", R"({"rope_parameters": {"rope_type": "default", "llama_4_scaling_beta": 0.1}})",
       "rope_parameters.llama_4_scaling_beta is 0.1, expected a key that is known"},
      {"ministral3", R"({"rope_parameters": {"rope_type": "default", "llama_4_scaling_beta": 0.1}})",
       "rope_parameters.original_max_position_embeddings is missing, expected an integer"},
      {"exaone4", R"({"sliding_window_pattern": "LGL"})",
       "sliding_window_pattern is 'LGL', expected a number, or letters L before one G"},
      {"hunyuan_v1_dense", R"({"use_qk_norm": false})", "use_qk_norm is false, expected true"},
      {"qwen3", R"({"num_experts": 8})", "num_experts is 8: the model has a mixture of experts"},
  };
  for (const Refusal& refusal : refusals) {
    auto config = tiny::tiny_config();
    config.erase("architectures");
    config["model_type"] = refusal.type;
    config.update(nlohmann::json::parse(refusal.fields));
    const auto shape = parse_config(config);
    ASSERT_FALSE(shape) << refusal.fields;
    EXPECT_THAT(shape.error().message, testing::HasSubstr(refusal.message));
    EXPECT_THAT(shape.error().message, testing::StartsWith("config.json: "));
    EXPECT_LT(shape.error().message.size(), 300U);
  }
}

TEST(Config, DefaultEndTokenHoldsOnlyIfNeitherFileNamesOne) {
  const auto config = tiny::tiny_config().dump();
  const auto alone = speculation::parse_model_config({config, "config.json"}, std::nullopt);
  ASSERT_TRUE(alone);
  EXPECT_THAT(alone->eos_tokens, testing::ElementsAre(2));
  const auto named = speculation::parse_model_config(
      {config, "config.json"}, speculation::ConfigText{R"({"eos_token_id": [7, 8]})", "g"});
  ASSERT_TRUE(named);
  EXPECT_THAT(named->eos_tokens, testing::ElementsAre(7, 8));
}

TEST(Config, DefaultTokensOutsideTheVocabularyAreNone) {
  auto config = tiny::tiny_config();
  config["vocab_size"] = 1;
  const auto shape = parse_config(config);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->bos_token, -1);
  EXPECT_THAT(shape->eos_tokens, testing::IsEmpty());
}

TEST(Config, EndTokensOfBothFilesAreMergedWithoutRepetition) {
  auto config = tiny::tiny_config();
  config["eos_token_id"] = {3, 4};
  const auto shape = speculation::parse_model_config(
      {config.dump(), "config.json"}, speculation::ConfigText{R"({"eos_token_id": [4, 5]})", "g"});
  ASSERT_TRUE(shape);
  EXPECT_THAT(shape->eos_tokens, testing::ElementsAre(3, 4, 5));
}

TEST(Config, RopeParametersTakePrecedenceOverRopeTheta) {
  auto config = tiny::tiny_config();
  config["rope_theta"] = 5.0;
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 7.0}};
  EXPECT_EQ(parse_config(config)->rope.theta, 7.0);
  config["rope_scaling"] = {{"rope_type", "default"}};  // The old name, without what the new one has besides.
  EXPECT_EQ(parse_config(config)->rope.theta, 7.0);
  config["rope_scaling"] = nlohmann::json::object();  // An empty object says nothing.
  EXPECT_EQ(parse_config(config)->rope.theta, 7.0);
}

TEST(Config, RopeParametersMayBeWrittenByKindOfLayer) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"Qwen3ForCausalLM"};
  const nlohmann::json wide = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  const nlohmann::json narrow = {{"rope_type", "default"}, {"rope_theta", 2e4}};
  for (const char* kind : {"full_attention", "sliding_attention"}) {
    config["rope_parameters"] = {{kind, wide}};
    EXPECT_EQ(parse_config(config)->rope, (speculation::RopeScaling{.theta = 1e6})) << kind;
  }
  config["rope_parameters"] = {{"full_attention", wide}, {"sliding_attention", wide}};
  EXPECT_EQ(parse_config(config)->rope, (speculation::RopeScaling{.theta = 1e6}));
  config["rope_parameters"]["sliding_attention"] = narrow;
  EXPECT_EQ(parse_config(config)->rope, (speculation::RopeScaling{.theta = 1e6, .local_theta = 2e4}));
}

TEST(Config, YarnWithANullFactorStretchesToTheWholeContext) {
  auto config = tiny::tiny_config();
  config["rope_scaling"] = {{"type", "yarn"}, {"factor", nullptr}, {"original_max_position_embeddings", 16}};
  const auto shape = parse_config(config);
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->rope.factor, 4.0);
}

TEST(Config, Qwen2WindowBelowMaxWindowLayersIsNoWindow) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"Qwen2ForCausalLM"};
  config["use_sliding_window"] = true;
  config["sliding_window"] = 16;
  config["max_window_layers"] = 2;
  EXPECT_EQ(parse_config(config)->sliding_window, 0);
  config["max_window_layers"] = 0;
  EXPECT_EQ(parse_config(config)->sliding_window, 16);
  config["use_sliding_window"] = false;
  EXPECT_EQ(parse_config(config)->sliding_window, 0);
}

}  // namespace
}  // namespace draftscope::engine
