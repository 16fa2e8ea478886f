// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Scenario scenario_of(const char* model, double context = 4096.0) {
  Scenario scenario;
  scenario.shape = *speculation::find_model_shape(model);
  scenario.context = context;
  return scenario;
}

TEST(MemoryFit, WeightsAreTheModelsParameters) {
  // The parameters come from models/models.csv, two bytes each; only norms are missing.
  for (const auto& [model, billions] : {std::pair{"Llama-2-7B", 6.738}, std::pair{"Llama-3-8B", 8.03},
                                        std::pair{"Llama-3.2-1B", 1.236}, std::pair{"Llama-3-70B", 70.554}})
    EXPECT_NEAR(memory_need(scenario_of(model)).weights / (2e9 * billions), 1.0, 0.001) << model;
}

TEST(MemoryFit, HalfTheBitsAreHalfTheLayers) {
  const auto shapes = speculation::known_model_shapes();
  ASSERT_TRUE(shapes) << shapes.error().message;
  for (const ModelShape& shape : *shapes) {
    Scenario scenario;
    scenario.shape = shape;
    const auto weights = [&](WeightType type) {
      scenario.weights = type;
      return memory_need(scenario).weights;
    };
    const double vocabulary = (shape.tied_embeddings ? 1.0 : 2.0) * 2.0 * shape.vocab * shape.d_model;
    const double layers = weights(WeightType::bf16) - vocabulary;
    EXPECT_EQ(weights(WeightType::fp16), weights(WeightType::bf16));
    EXPECT_DOUBLE_EQ(weights(WeightType::fp32), 2.0 * weights(WeightType::bf16));
    EXPECT_NEAR(weights(WeightType::fp8) - vocabulary, 0.5 * layers, 1e-9 * layers);
    EXPECT_NEAR(weights(WeightType::int8) - vocabulary, 0.5 * layers, 1e-9 * layers);
    // The bytes include the scales of groups.
    for (const WeightType four_bits : {WeightType::int4, WeightType::nvfp4}) {
      EXPECT_GT(weights(four_bits) - vocabulary, 0.25 * layers);
      EXPECT_LT(weights(four_bits) - vocabulary, 0.29 * layers);
    }
  }
}

TEST(MemoryFit, NeedsGrowWithContextBatchRowsAndADraftModelAndShrinkWithGpus) {
  const Scenario base = scenario_of("Llama-3-8B");
  const double need = memory_need(base).total();
  const auto changed = [&](const auto& change) {
    Scenario scenario = base;
    change(scenario);
    return memory_need(scenario).total();
  };
  EXPECT_GT(changed([](Scenario& s) { s.context *= 2.0; }), need);
  EXPECT_GT(changed([](Scenario& s) { s.batch = 2; }), need);
  EXPECT_GT(changed([](Scenario& s) { s.widths = 256; }), need);
  EXPECT_GT(changed([](Scenario& s) { s.draft_model = *speculation::find_model_shape("Llama-3.2-1B"); }),
            need + 2e9);
  double before = need;
  for (const std::int32_t gpus : {2, 4, 8}) {
    const double shared = changed([&](Scenario& s) { s.tensor_parallel = gpus; });
    EXPECT_LT(shared, before);
    EXPECT_GE(shared, need / gpus);
    before = shared;
  }
  // The cache has 131,072 rows of 128 KiB.
  EXPECT_NEAR(memory_need(scenario_of("Llama-3-8B", 131072.0)).kv / (131072.0 * 131072.0), 1.0, 0.001);
}

TEST(MemoryFit, ARefusalSaysWhatIsNeededOfWhatAndWhatWouldFit) {
  const GpuSpecification small = *find_gpu("RTX 4090");
  const auto refused = check_memory(scenario_of("Llama-3-70B"), small);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("Llama-3-70B in bf16 does not fit RTX 4090"));
  EXPECT_THAT(refused.error().message, HasSubstr("141.1 GB of weights"));
  EXPECT_THAT(refused.error().message, HasSubstr("8 GPUs (--tensor-parallel 8) would fit"));
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  EXPECT_TRUE(check_memory(scenario_of("Llama-3-8B"), small));

  GpuSpecification unknown = small;
  unknown.memory_gb.reset();
  EXPECT_TRUE(check_memory(scenario_of("Llama-3-70B"), unknown));
  EXPECT_FALSE(first_that_fits(scenario_of("Llama-3-70B"), unknown));
}

TEST(MemoryFit, WhatWouldFitDoesAndComesInItsOrder) {
  const GpuSpecification h100 = *find_gpu("H100-SXM5-80GB");
  Scenario scenario = scenario_of("Llama-3-70B");
  EXPECT_EQ(first_that_fits(scenario, h100), "2 GPUs (--tensor-parallel 2)");
  scenario.tensor_parallel = 8;
  scenario.batch = 64;
  scenario.context = 50000.0;  // With 1 TB of K/V no GPU type helps, but a shorter context does.
  const auto shorter = first_that_fits(scenario, h100);
  ASSERT_TRUE(shorter);
  EXPECT_THAT(*shorter, HasSubstr("a context of "));
  scenario.context = std::stod(shorter->substr(std::string("a context of ").size()));
  EXPECT_TRUE(check_memory(scenario, h100));
  scenario.context += 1.0;
  EXPECT_FALSE(check_memory(scenario, h100));

  // No types are suggested that the GPU's arithmetic lacks.
  const GpuSpecification a100 = *find_gpu("A100-PCIe-40GB");
  scenario = scenario_of("Llama-3.1-405B");
  scenario.tensor_parallel = 8;
  scenario.widths = 2;
  const auto bits = first_that_fits(scenario, a100);
  ASSERT_TRUE(bits);
  EXPECT_THAT(*bits, Not(HasSubstr("fp")));
}

TEST(NumberTypes, ThatTheGpuLacksAreRefusedByName) {
  const auto refusal = [](const char* gpu, WeightType type) {
    const auto result = check_number_type(*find_gpu(gpu), type);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(refusal("A100-SXM4-80GB", WeightType::fp8),
            "GPU A100-SXM4-80GB has no fp8 arithmetic, expected weights in bf16, fp16, int8, int4");
  EXPECT_THAT(refusal("H100-SXM5-80GB", WeightType::nvfp4), HasSubstr("no nvfp4 arithmetic"));
  EXPECT_THAT(refusal("T4", WeightType::bf16), HasSubstr("no bf16 arithmetic"));
  for (const GpuSpecification& gpu : known_gpus()) {
    EXPECT_FALSE(gpu.number_types.empty()) << gpu.name;
    EXPECT_EQ(bool(check_number_type(gpu, WeightType::fp8)), gpu.fp8_tflops.has_value()) << gpu.name;
    EXPECT_TRUE(check_number_type(gpu, WeightType::fp16)) << gpu.name;
    EXPECT_TRUE(check_number_type(gpu, WeightType::int4)) << gpu.name;
    if (check_number_type(gpu, WeightType::nvfp4)) {
      EXPECT_TRUE(gpu.architecture.starts_with("sm1")) << gpu.name;
    }
  }
}

TEST(NumberTypes, NamesAreReadBack) {
  for (const WeightType type : all_weight_types) EXPECT_EQ(parse_weight_type(weight_type_name(type)), type);
  EXPECT_THAT(parse_weight_type("int3").error().message, HasSubstr("int4, nvfp4"));
}

TEST(NumberTypes, HaveTheBytesOfTheEnginesFormats) {
  for (const speculation::WeightFormatRow& row : speculation::weight_formats()) {
    const WeightType type = weight_type_of(row.format);
    const bool is_plain = row.bits >= 16.0;
    EXPECT_EQ(is_narrow(type), !is_plain) << row.name;
    // The 4 bits of AWQ and GPTQ are counted as their files hold them.
    EXPECT_NEAR(8.0 * layer_weight_bytes(type), row.bits, type == WeightType::int4 ? 0.1 : 1e-9) << row.name;
    for (const GpuSpecification& gpu : known_gpus()) {
      EXPECT_TRUE(check_number_type(gpu, type) || is_plain || type == WeightType::fp8) << row.name;
      EXPECT_GT(gpu.products(type).efficiency, 0.0);
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
