// SPDX-License-Identifier: GPL-3.0-or-later
// Tests merges computed by hand, and refusals. golden_test.cpp compares with PEFT itself.

#include <draftscope/engine/checkpoint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "numbers/bf16.h"
#include "tiny_checkpoint.h"

namespace draftscope::engine {
namespace {

using namespace draftscope::engine::tiny;
using ::testing::HasSubstr;

constexpr const char* module_name = "base_model.model.model.layers.1.self_attn.k_proj";

nlohmann::json adapter_config() {
  return {{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 4}, {"target_modules", {"k_proj"}}};
}

StoredTensor floats(const std::string& name, std::vector<std::uint64_t> shape, std::vector<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {name, "F32", std::move(shape), std::move(bytes)};
}

/// A is [2][8] and B is [4][2]. Each rank has one non-zero in A and one in B, whose product is one element of
/// B·A.
std::vector<StoredTensor> adapter_tensors() {
  std::vector<float> a(16);
  std::vector<float> b(8);
  a[0] = 1.0F;      // rank 0 from input 0
  a[8 + 3] = 2.0F;  // rank 1 from input 3
  b[0] = 0.5F;      // output 0 of rank 0
  b[2 * 2 + 1] = -1.0F;
  return {floats(std::string(module_name) + ".lora_A.weight", {2, 8}, a),
          floats(std::string(module_name) + ".lora_B.weight", {4, 2}, b)};
}

void write_adapter(const std::filesystem::path& folder, const nlohmann::json& config,
                   std::span<const StoredTensor> tensors) {
  write_bytes(folder / "adapter_config.json", config.dump());
  write_bytes(folder / "adapter_model.safetensors", safetensors_file(tensors));
}

float element(const TensorView& view, std::int64_t row, std::int64_t column) {
  const std::byte* at =
      view.data + (row * view.columns + column) * static_cast<std::int64_t>(dtype_bytes(view.dtype));
  if (view.dtype == DType::f32) return load_unaligned<float>(at);
  const auto bits = load_unaligned<std::uint16_t>(at);
  return view.dtype == DType::bf16 ? bf16_to_float(bits) : f16_to_float(bits);
}

TEST(MergeAdapter, AddsTheScaledProductToItsMatrixAndToNothingElse) {
  for (const std::string_view dtype : {"F32", "BF16", "F16"}) {
    const TemporaryFolder adapter;
    Checkpoint checkpoint = loaded_tiny(tiny_tensors(dtype));
    const Checkpoint before = checkpoint;
    write_adapter(adapter.path(), adapter_config(), adapter_tensors());
    const auto merged = merge_adapter(adapter.path(), checkpoint);
    ASSERT_TRUE(merged) << merged.error().message;
    const TensorView& old = before.weights.layers[1].k;
    const TensorView& now = checkpoint.weights.layers[1].k;
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t column = 0; column < 8; ++column) {
        // s = 4 / 2; B·A has 0.5 at (0, 0) and −2 at (2, 3).
        const float added = row == 0 && column == 0 ? 1.0F : row == 2 && column == 3 ? -4.0F : 0.0F;
        EXPECT_NEAR(element(now, row, column), element(old, row, column) + added,
                    dtype == "F32" ? 0.0F : 0.02F)
            << dtype;
        if (added == 0.0F) {
          EXPECT_EQ(element(now, row, column), element(old, row, column));
        }
      }
    EXPECT_EQ(checkpoint.weights.layers[0].k.data, before.weights.layers[0].k.data);
    EXPECT_EQ(checkpoint.weights.layers[1].q.data, before.weights.layers[1].q.data);
    EXPECT_NE(checkpoint.hash, before.hash);
    EXPECT_EQ(checkpoint.weight_bytes(), before.weight_bytes());
  }
}

TEST(MergeAdapter, HalvesRoundAsTheyRead) {
  // Every fp16 number rounds to itself, and the middle between two numbers rounds to the even one.
  for (std::uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    const float value = f16_to_float(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(float_to_f16(value), bits);
    ASSERT_EQ(float_to_f16(-value), bits | 0x8000U);
    if (bits + 1 == 0x7c00U) continue;
    const float middle = (value + f16_to_float(static_cast<std::uint16_t>(bits + 1))) / 2.0F;
    ASSERT_EQ(float_to_f16(middle), bits + (bits & 1U)) << bits;
  }
  EXPECT_EQ(float_to_f16(65520.0F), 0x7c00U);
}

struct AdapterRefusal {
  std::string fields;  ///< changes to adapter_config()
  std::string message;
  void (*damage)(std::vector<StoredTensor>&) = nullptr;
};

TEST(MergeAdapter, RefusesInOneLineAndLeavesTheCheckpointAsItWas) {
  const AdapterRefusal refusals[] = {
      {R"({"peft_type": "IA3"})", "adapter_config.json: peft_type is 'IA3', expected 'LORA'"},
      {R"({"peft_type": null})", "peft_type is"},
      {R"({"use_dora": true})", "use_dora is true, expected none"},
      {R"({"rank_pattern": {"k_proj": 4}})", "rank_pattern is an object, expected none"},
      {R"({"modules_to_save": ["lm_head"]})", "modules_to_save is an array, expected none"},
      {R"({"alora_invocation_tokens": [7]})", "alora_invocation_tokens is an array"},
      {R"({"bias": "all"})", "bias is 'all', expected 'none'"},
      {R"({"init_lora_weights": "pissa"})",
       "init_lora_weights is 'pissa', expected true, false or 'gaussian'"},
      {R"({"r": 0})", "r is 0, expected an integer from 1"},
      {R"({"r": 3})", "k_proj.lora_A: shape is [2, 8], expected [3, 8]"},
      {R"({"lora_alpha": "16"})", "lora_alpha is '16', expected a number"},
      {R"({"target_modules": "model.*"})",
       "target_modules is 'model.*', expected a list of modules or 'all-linear'"},
      {R"({"target_modules": ["q_proj"]})", "k_proj', expected modules among target_modules (q_proj)"},
      {R"({"target_modules": ["k_proj", "o_proj"]})", "target_modules holds 'o_proj', expected modules that"},
      {R"({"layers_to_transform": [2]})", "layers_to_transform[0] is 2, expected an integer from 0 to 1"},
      {R"({"layers_to_transform": [0]})", "expected layers among layers_to_transform (0)"},
      {"{}", "lora_B: shape is [3, 2], expected [4, 2]",
       [](auto& tensors) {
         tensors[1] = floats(tensors[1].name, {3, 2}, std::vector<float>(6));
       }},
      {"{}", "has no lora_B, expected lora_A and lora_B", [](auto& tensors) { tensors.pop_back(); }},
      {"{}", "found tensor 'base_model.model.lm_head.weight'",
       [](auto& tensors) {
         tensors.push_back(floats("base_model.model.lm_head.weight", {1, 1}, {0.0F}));
       }},
      {"{}", "self_attn.w_proj', expected linear modules of LlamaForCausalLM with 2 layers",
       [](auto& tensors) {
         for (StoredTensor& tensor : tensors) tensor.name.replace(tensor.name.find("k_proj"), 1, "w");
       }},
      {"{}", "element 3 is not finite",
       [](auto& tensors) {
         const auto infinity = std::bit_cast<std::uint32_t>(INFINITY);
         std::memcpy(tensors[0].bytes.data() + 12, &infinity, 4);
       }},
      {"{}", "dtype is I32, expected F32, BF16 or F16", [](auto& tensors) { tensors[0].dtype = "I32"; }},
  };
  for (const AdapterRefusal& refusal : refusals) {
    const TemporaryFolder adapter;
    Checkpoint checkpoint = loaded_tiny(tiny_tensors("F32"));
    const Checkpoint before = checkpoint;
    auto config = adapter_config();
    config.update(nlohmann::json::parse(refusal.fields));
    auto tensors = adapter_tensors();
    if (refusal.damage != nullptr) refusal.damage(tensors);
    write_adapter(adapter.path(), config, tensors);
    const auto merged = merge_adapter(adapter.path(), checkpoint);
    ASSERT_FALSE(merged) << refusal.message;
    EXPECT_THAT(merged.error().message, HasSubstr(refusal.message));
    EXPECT_LT(merged.error().message.size(), 300U);
    EXPECT_EQ(checkpoint.weights.layers[1].k.data, before.weights.layers[1].k.data);
    EXPECT_EQ(checkpoint.hash, before.hash);
  }
}

TEST(MergeAdapter, NeedsBothFilesAndARealModel) {
  const TemporaryFolder adapter;
  Checkpoint checkpoint = loaded_tiny(tiny_tensors("F32"));
  EXPECT_THAT(merge_adapter(adapter.path(), checkpoint).error().message,
              HasSubstr("adapter_config.json: no such file"));
  auto synthetic = open_model("synthetic:qwen2.5-0.5B,layers=1,vocab=64");
  ASSERT_TRUE(synthetic);
  EXPECT_THAT(merge_adapter(adapter.path(), *synthetic).error().message,
              HasSubstr("given for a synthetic model"));
}

}  // namespace
}  // namespace draftscope::engine
