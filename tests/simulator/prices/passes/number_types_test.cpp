// SPDX-License-Identifier: GPL-3.0-or-later
// Products by number type, host time outside passes, and drafts whose cost is an input.
#include <draftscope/base/statistics.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "prices/fit/cost_parameters.h"
#include "prices/passes/cost_prices.h"
#include "prices/passes/cost_transfer.h"

namespace draftscope::simulator {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

CostModel specified(const char* gpu, const char* model, WeightType weights = WeightType::bf16) {
  return cost_model_of(*find_gpu(gpu), *speculation::find_model_shape(model), weights);
}

Prices priced(const CostModel& model, const Scenario& scenario) {
  const auto result = prices(model, scenario);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result.value_or(Prices{});
}

TEST(NumberTypeLaws, AGpuThatWasNotFittedHasTheMedianOfItsFamilyAndIsLessSure) {
  for (const MemoryFamily family : {MemoryFamily::hbm, MemoryFamily::gddr})
    for (const WeightType type : {WeightType::fp8, WeightType::nvfp4}) {
      std::vector<double> t0;
      std::vector<double> efficiency;
      double widest = 0.0;
      for (const GpuSpecification& gpu : known_gpus()) {
        const ProductLaw law = gpu.products(type);
        if (gpu.memory != family || law.calibration != Calibration::fitted) continue;
        t0.push_back(law.t0_us);
        efficiency.push_back(law.efficiency);
        widest = std::max(widest, law.t0_sigma);
      }
      ASSERT_FALSE(t0.empty());
      const GpuSpecification unknown =
          parse_gpu_specification(
              fmt::format(R"({{"name": "Mine", "mem_type": "{}", "mem_bw_gbs": 9, "bf16_dense_tflops": 9}})",
                          family == MemoryFamily::hbm ? "HBM3" : "GDDR7"),
              "mine.json")
              .value();
      const ProductLaw law = unknown.products(type);
      EXPECT_NEAR(law.t0_us, mean_median(t0), 0.01);
      EXPECT_NEAR(law.efficiency, mean_median(efficiency), 0.01);
      EXPECT_GT(law.t0_sigma, widest);
      EXPECT_EQ(law.calibration, Calibration::family);
    }
}

TEST(NumberTypeLaws, OnHbmGpusFewerBitsLaunchLater) {
  for (const GpuSpecification& gpu : known_gpus()) {
    if (gpu.memory != MemoryFamily::hbm || !gpu.fp8_tflops) continue;
    EXPECT_GT(gpu.products(WeightType::fp8).t0_us, gpu.t0_us) << gpu.name;
    EXPECT_EQ(gpu.products(WeightType::fp16).t0_us, gpu.t0_us) << gpu.name;
    EXPECT_GE(gpu.tflops(WeightType::fp8), gpu.tflops(WeightType::bf16)) << gpu.name;
    EXPECT_EQ(gpu.tflops(WeightType::int4), gpu.bf16_tflops) << gpu.name;
  }
}

TEST(NumberTypeLaws, TheHeadKeepsItsBits) {
  const CostVector wide = specified("H100-SXM5-80GB", "Llama-3-8B").values;
  const CostVector narrow = specified("H100-SXM5-80GB", "Llama-3-8B", WeightType::fp8).values;
  for (const std::size_t parameter :
       {launch_parameter(speculation::Operation::head), per_byte_parameter(speculation::Operation::head),
        per_byte_parameter(speculation::Operation::attention)})
    EXPECT_EQ(wide[parameter], narrow[parameter]);
  EXPECT_DOUBLE_EQ(narrow[launch_parameter(speculation::Operation::down)], 6290.0);
  EXPECT_DOUBLE_EQ(wide[launch_parameter(speculation::Operation::down)], 3760.0);
}

TEST(NumberTypeLaws, ASmallModelGainsLessFromFewerBitsThanItsBytes) {
  const auto gain = [](const char* model) {
    const CostModel wide = specified("H100-SXM5-80GB", model);
    Scenario scenario = fitted_scenario(wide);
    const double before = priced(wide, scenario).target_step.at(500);
    scenario.weights = WeightType::fp8;
    return before / priced(wide, scenario).target_step.at(500);
  };
  EXPECT_LT(gain("Llama-3.2-1B"), 1.15);
  EXPECT_GT(gain("Llama-3-70B"), gain("Llama-3-8B"));
  EXPECT_LT(gain("Llama-3-70B"), 2.0);
}

TEST(NumberTypeLaws, AnswersOfASpecificationDoNotDependOnTheTypeThatWasAskedFirst) {
  const CostModel wide = specified("H100-SXM5-80GB", "Llama-3-8B");
  const CostModel narrow = specified("H100-SXM5-80GB", "Llama-3-8B", WeightType::fp8);
  Scenario scenario = fitted_scenario(wide);
  scenario.weights = WeightType::fp8;
  EXPECT_DOUBLE_EQ(priced(wide, scenario).target_step.at(700), priced(narrow, scenario).target_step.at(700));
  // A recording's engine keeps its ratio to the specification.
  CostModel recorded = wide;
  recorded.from_trace = true;
  EXPECT_NEAR(priced(recorded, scenario).target_step.at(700) / priced(narrow, scenario).target_step.at(700),
              1.0, 1e-6);
}

TEST(Specifications, OfOnesOwnNameTypesAndTheirLaws) {
  const auto gpu = parse_gpu_specification(
      R"({"name": "Mine", "mem_type": "GDDR7", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200,
          "number_types": "bf16 fp8", "fp8_t0_us": 3, "fp8_product_eff": 0.5, "fp8_calibration": "fit:mine"})",
      "mine.json");
  ASSERT_TRUE(gpu) << gpu.error().message;
  EXPECT_EQ(gpu->products(WeightType::fp8).t0_us, 3.0);
  EXPECT_EQ(gpu->products(WeightType::fp8).calibration, Calibration::fitted);
  EXPECT_EQ(gpu->products(WeightType::int8).t0_us, 3.0);
  EXPECT_GT(gpu->products(WeightType::int8).t0_sigma, gpu->products(WeightType::fp8).t0_sigma);
  EXPECT_TRUE(check_number_type(*gpu, WeightType::fp8));
  EXPECT_FALSE(check_number_type(*gpu, WeightType::nvfp4));
  const auto refused = parse_gpu_specification(
      R"({"name": "Mine", "mem_type": "GDDR7", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200,
          "number_types": "bf16 fp6"})",
      "mine.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("number_types holds 'fp6'"));
  const auto rate = parse_gpu_specification(
      R"({"name": "Mine", "mem_type": "GDDR7", "mem_bw_gbs": 1000, "bf16_dense_tflops": 200, "nvfp4_product_eff": 2})",
      "mine.json");
  ASSERT_FALSE(rate);
  EXPECT_THAT(rate.error().message, HasSubstr("nvfp4_product_eff is 2"));
}

TEST(Host, SlowerEnginesTakeLongerStepsInTheirRange) {
  const CostModel model = specified("H100-SXM5-80GB", "Llama-3-8B");
  Scenario scenario = fitted_scenario(model);
  scenario.context = 800.0;
  const Prices nobody = priced(model, scenario);
  const auto step = [&](const char* name) {
    scenario.host = find_host_time(name).value();
    const Prices found = priced(model, scenario);
    return found.target_step.at(800.0) + found.step_round_ns;
  };
  const double passes = nobody.target_step.at(800.0) + nobody.step_round_ns;
  EXPECT_DOUBLE_EQ(step("graph"), passes);
  const double pass = nobody.target_step.at(800.0);
  EXPECT_GT(step("serving"), passes + 0.15 * pass);
  EXPECT_LT(step("serving"), passes + 0.27 * pass);
  EXPECT_GT(step("eager"), passes + 0.53 * pass);
  EXPECT_LT(step("eager"), passes + 0.68 * pass);
  // A serving engine schedules once per round, whatever the draft.
  scenario.host = find_host_time("serving").value();
  const Prices serving = priced(model, scenario);
  EXPECT_DOUBLE_EQ(serving.drafts[4].step.ns, nobody.drafts[4].step.ns);
  EXPECT_NEAR(serving.round_ns - nobody.round_ns, 0.21 * pass, 1e-6 * pass);
}

TEST(Host, SpreadsTokensPerSecondAndIsStated) {
  const CostModel model = specified("H100-SXM5-80GB", "Llama-3-8B");
  Scenario scenario = fitted_scenario(model);
  const auto spread = [&](const HostTime& host) {
    scenario.host = host;
    const auto map = PriceMap::make(model, scenario);
    EXPECT_TRUE(map);
    double square = 0.0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      Prices drawn;
      map->draw(3, i, {.fit = false, .width = false, .transfer = true}, drawn);
      const double share = drawn.target_step.ns / map->mean().target_step.ns - 1.0;
      square += share * share;
    }
    return std::sqrt(square / 500);
  };
  const double certain = spread({.name = "certain", .is_per_pass = true});
  const double unsure = spread({.name = "unsure", .min_share = 0.0, .max_share = 0.6, .is_per_pass = true});
  EXPECT_GT(certain, 0.01);  // The efficiency of a GPU that was not recorded counts as transfer.
  EXPECT_GT(unsure, 3.0 * certain);
  scenario.host.reset();
  const auto map = PriceMap::make(model, scenario);
  EXPECT_THAT(map->notes(), Contains(Field(&CostNote::text, HasSubstr("host graph"))));
}

TEST(Host, OfARecordingIsTheRecordings) {
  CostModel model = specified("H100-SXM5-80GB", "Llama-3-8B");
  model.from_trace = true;
  Scenario scenario = fitted_scenario(model);
  scenario.host = find_host_time("serving").value();
  const auto refused = prices(model, scenario);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the engine's own time was recorded"));
}

TEST(Host, FilesGiveARange) {
  const auto host = parse_host_time(R"({"name": "mine", "min_us": 100, "max_us": 300})", "host.json");
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ(host->name, "mine");
  EXPECT_EQ(host->min_ns, 100e3);
  EXPECT_EQ(host->max_ns, 300e3);
  EXPECT_FALSE(host->is_per_pass);
  for (const char* text : {"{}", "[]", R"({"min_share": 0.1})", R"({"min_share": 0.3, "max_share": 0.1})",
                           R"({"min_us": -1, "max_us": 1})", R"({"min_us": 1, "max_us": 1, "step": 2})"}) {
    const auto refused = parse_host_time(text, "host.json");
    ASSERT_FALSE(refused) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("host.json"));
    EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
  }
}

TEST(DraftCostInputs, ReplaceTheDraftsLayersAndNothingElse) {
  const CostModel model = specified("H100-SXM5-80GB", "Llama-3-8B");
  Scenario scenario = fitted_scenario(model);
  const Prices layers = priced(model, scenario);
  const auto with = [&](const DraftCostInput& cost) {
    scenario.draft_cost = cost;
    return priced(model, scenario);
  };
  const Prices free = with({.kind = DraftCostInput::Kind::free});
  const Prices share = with({.kind = DraftCostInput::Kind::share, .share = 0.05});
  const Prices one = with({.kind = DraftCostInput::Kind::one_layer});
  const Prices reduced = with({.kind = DraftCostInput::Kind::one_layer, .vocabulary = 32000});
  for (const std::size_t exit : {1U, 16U, 31U}) {
    EXPECT_EQ(free.drafts[exit].step.at(900.0), 0.0);
    EXPECT_DOUBLE_EQ(share.drafts[exit].step.at(900.0), 0.05 * layers.target_step.at(900.0));
    EXPECT_LT(reduced.drafts[exit].step.at(900.0), one.drafts[exit].step.at(900.0));
    EXPECT_DOUBLE_EQ(one.drafts[exit].verify[5].at(900.0), layers.drafts[exit].verify[5].at(900.0));
  }
  EXPECT_NEAR(one.drafts[7].step.at(900.0) / layers.drafts[1].step.at(900.0), 1.0, 1e-9);
  EXPECT_TRUE(one.auxiliary.empty());
  EXPECT_DOUBLE_EQ(one.target_step.ns, layers.target_step.ns);
}

TEST(Links, OverPcieTakeLongerAndAreLessSure) {
  const GpuSpecification h100 = *find_gpu("H100-SXM5-80GB");
  const GpuSpecification l40s = *find_gpu("L40S");
  EXPECT_EQ(link_kind(h100), LinkKind::nvlink_h100);
  EXPECT_EQ(link_kind(l40s), LinkKind::pcie);
  EXPECT_EQ(link_kind(*find_gpu("A100-SXM4-80GB")), LinkKind::nvlink_a100);
  EXPECT_EQ(link_kind(*find_gpu("GB200")), LinkKind::nvlink_b200);
  EXPECT_GT(all_reduce_sigma(LinkKind::pcie), all_reduce_sigma(LinkKind::nvlink_h100));
}

TEST(Contexts, AreReadAtTheBytesOfTheirKeysAndValues) {
  for (const char* gpu : {"H100-SXM5-80GB", "B200-SXM-180GB", "L40S"}) {
    const CostModel model = specified(gpu, "Llama-3-8B");
    Scenario scenario = fitted_scenario(model);
    scenario.context = 131072.0;
    const Prices found = priced(model, scenario);
    const double bytes = 32.0 * 2.0 * 8.0 * 128.0 * 2.0;
    const double at_most = model.gpu->bandwidth_gb_s;
    const double rate = bytes / found.target_step.ns_per_context_row;
    EXPECT_LT(rate, 0.975 * at_most) << gpu;
    EXPECT_GT(rate, 0.8 * at_most) << gpu;
    EXPECT_NEAR(found.target_step.at(131072.0) - found.target_step.ns, 131072.0 * bytes / rate, 1.0) << gpu;
  }
}

TEST(Contexts, BeyondTheCacheBeginLater) {
  const CostModel model = specified("H100-SXM5-80GB", "Llama-3-8B");
  Scenario scenario = fitted_scenario(model);
  scenario.context = 4096.0;  // K/V take 17 MB per layer, in a cache of 50.
  const double near = priced(model, scenario).target_step.ns;
  scenario.context = 32768.0;
  const double far = priced(model, scenario).target_step.ns;
  EXPECT_GT(far - near, 32.0 * 2e3);
  EXPECT_LT(far - near, 32.0 * 27e3);
  // The attention of a recording was measured.
  CostModel recorded = model;
  recorded.from_trace = true;
  const double own = priced(recorded, scenario).target_step.ns;
  scenario.context = 4096.0;
  EXPECT_DOUBLE_EQ(priced(recorded, scenario).target_step.ns, own);
}

}  // namespace
}  // namespace draftscope::simulator
