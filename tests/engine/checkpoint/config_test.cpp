// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include <draftscope/base/json_text.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/model_families.h>
#include "tensor_slots.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

std::filesystem::path here() {
  return std::filesystem::path(DRAFTSCOPE_SOURCE_DIR) / "tests/engine/checkpoint";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result<speculation::ModelShape> parse_config(const nlohmann::json& config) {
  return speculation::parse_model_config({config.dump(), "config.json"}, std::nullopt);
}

std::string_view name_of(speculation::RopeKind kind) {
  constexpr std::string_view names[] = {"standard", "linear", "dynamic", "llama3", "yarn"};
  return names[static_cast<std::size_t>(kind)];
}

class PublishedConfig : public testing::TestWithParam<std::string> {
 protected:
  static nlohmann::json golden() {
    return nlohmann::json::parse(read(here() / "config_golden.json")).at(GetParam());
  }
  static Result<speculation::ModelShape> shape() {
    const auto folder = here() / "configs" / GetParam();
    const auto config = read(folder / "config.json");
    const auto generation = read(folder / "generation_config.json");
    if (generation.empty()) return speculation::parse_model_config({config, "config.json"}, std::nullopt);
    return speculation::parse_model_config({config, "config.json"},
                                           speculation::ConfigText{generation, "generation_config.json"});
  }
};

TEST_P(PublishedConfig, ReadsAsHuggingFaceReadsIt) {
  const auto parsed = shape();
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto expected = golden();
  EXPECT_EQ(parsed->architecture, expected.at("architecture").get<std::string>());
  EXPECT_EQ(parsed->n_layers, expected.at("n_layers"));
  EXPECT_EQ(parsed->d_model, expected.at("d_model"));
  EXPECT_EQ(parsed->n_heads, expected.at("n_heads"));
  EXPECT_EQ(parsed->n_kv_heads, expected.at("n_kv_heads"));
  EXPECT_EQ(parsed->head_dim, expected.at("head_dim"));
  EXPECT_EQ(parsed->d_ff, expected.at("d_ff"));
  EXPECT_EQ(parsed->vocab, expected.at("vocab"));
  EXPECT_EQ(parsed->max_positions, expected.at("max_positions"));
  EXPECT_EQ(parsed->rms_epsilon, expected.at("rms_epsilon"));
  EXPECT_EQ(parsed->tied_embeddings, expected.at("tied_embeddings"));
  EXPECT_EQ(parsed->sliding_window, expected.at("sliding_window"));
  EXPECT_EQ(parsed->bos_token, expected.at("bos_token"));
  auto end_tokens = parsed->eos_tokens;
  std::sort(end_tokens.begin(), end_tokens.end());
  EXPECT_EQ(end_tokens, expected.at("eos_tokens").get<std::vector<std::int32_t>>());
}

TEST_P(PublishedConfig, RotatesAsHuggingFaceDoes) {
  const auto parsed = shape();
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto expected = golden().at("rope");
  const auto& rope = parsed->rope;
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
  const auto original = rope.kind == speculation::RopeKind::dynamic
                            ? parsed->max_positions
                            : expected.value("original_max_positions", 0);
  EXPECT_EQ(rope.original_max_positions, original);
}

TEST_P(PublishedConfig, AsksForTheTensorsTheModelHas) {
  const auto parsed = shape();
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto expected = golden().at("tensors");
  Weights weights;
  std::size_t matched = 0;
  for (const auto& slot : tensor_slots(*parsed, weights)) {
    if (slot.layer > 0) continue;
    ASSERT_TRUE(expected.contains(slot.name)) << slot.name;
    const auto extents = slot.is_vector() ? std::vector<std::int64_t>{slot.columns}
                                          : std::vector<std::int64_t>{slot.rows, slot.columns};
    EXPECT_EQ(extents, expected.at(slot.name).get<std::vector<std::int64_t>>()) << slot.name;
    ++matched;
  }
  EXPECT_EQ(matched, expected.size());
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

TEST(ModelFamilies, EachIsReadOrRefusedWithItsNameAndTheMissingTrait) {
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    auto by_architecture = tiny::tiny_config();
    by_architecture["architectures"] = {family.architecture};
    auto by_type = tiny::tiny_config();
    by_type.erase("architectures");
    by_type["model_type"] = family.model_type;
    const auto trait = speculation::unsupported_trait(family.traits);
    for (const auto& config : {by_architecture, by_type}) {
      const auto shape = parse_config(config);
      if (trait) {
        ASSERT_FALSE(shape) << family.architecture;
        EXPECT_EQ(shape.error().message,
                  fmt::format("config.json: model_type {}: needs {}, expected only what a backend supports",
                              family.model_type, *trait));
      } else {
        ASSERT_TRUE(shape) << shape.error().message;
        EXPECT_EQ(shape->architecture, family.architecture);
      }
    }
  }
}

TEST(ModelFamilies, GemmaTwoNamesItsCap) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"Gemma2ForCausalLM"};
  EXPECT_EQ(
      parse_config(config).error().message,
      "config.json: model_type gemma2: needs logit soft-capping, expected only what a backend supports");
}

TEST(ModelFamilies, WhatNobodyKnowsIsRefusedWithTheSupportedOnes) {
  auto config = tiny::tiny_config();
  config["architectures"] = {"GPT2LMHeadModel"};
  EXPECT_EQ(parse_config(config).error().message,
            "config.json: architectures names 'GPT2LMHeadModel', expected LlamaForCausalLM, "
            "MistralForCausalLM or Qwen2ForCausalLM");
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
