// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of engines on an H200 by their laws, and drafts on weights of their own.
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "../../../value_of.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/engine_law.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

const char* const h200 = "H200-SXM5-141GB";

Prices priced(const char* host, const char* gpu, const char* model, WeightType weights,
              std::vector<speculation::DraftSublayers> drafts = {}, std::int32_t batch = 1) {
  Scenario scenario{.gpu = find_gpu(gpu).value(),
                    .shape = speculation::find_model_shape(model).value(),
                    .weights = weights,
                    .host = find_host_time(host).value()};
  scenario.widths = 32;
  scenario.context = 512.0;
  scenario.drafts = std::move(drafts);
  scenario.batch = batch;
  return value_of(prices(cost_model_of(*scenario.gpu, scenario.shape, weights), scenario));
}

struct MeasuredSteps {
  const char* host;
  const char* model;
  WeightType weights;
  std::vector<std::size_t> rows;
  std::vector<double> ms;  ///< [place in rows]
};

/// The bf16 limit is 4 %, that of fewer bits 8 %.
class StepsOfAnH200 : public ::testing::TestWithParam<MeasuredSteps> {};

TEST_P(StepsOfAnH200, AreThoseOfTheEnginesLaw) {
  const MeasuredSteps& steps = GetParam();
  const Prices found = priced(steps.host, h200, steps.model, steps.weights);
  for (std::size_t i = 0; i < steps.rows.size(); ++i) {
    const std::size_t rows = steps.rows[i];
    const AffineTime& time = rows == 1 ? found.target_step : found.drafts[1].verify[rows];
    EXPECT_NEAR(1e-6 * time.at(512.0) / steps.ms[i], 1.0, steps.weights == WeightType::bf16 ? 0.04 : 0.08)
        << steps.host << ", " << steps.model << ", " << weight_type_name(steps.weights) << ", " << rows;
  }
}

// One H200, context 512: 2026-11-27 (bench/gpu/measured/h200_programs.csv, the second run).
INSTANTIATE_TEST_SUITE_P(
    Programs, StepsOfAnH200,
    ::testing::Values(
        MeasuredSteps{"draftscope",
                      "Llama-3-8B",
                      WeightType::bf16,
                      {1, 2, 5, 8, 12, 16, 24, 32},
                      {4.377, 4.415, 4.645, 4.793, 5.376, 5.663, 6.744, 7.059}},
        MeasuredSteps{"draftscope",
                      "Llama-3.2-1B",
                      WeightType::bf16,
                      {1, 2, 5, 8, 12, 16, 24, 32},
                      {1.073, 1.097, 1.186, 1.255, 1.515, 1.617, 1.821, 1.884}},
        MeasuredSteps{
            "draftscope", "SmolLM2-135M", WeightType::bf16, {1, 2, 5, 8}, {0.940, 0.977, 1.149, 1.275}},
        MeasuredSteps{"draftscope", "Llama-3-8B", WeightType::fp8, {1, 8}, {4.343, 4.765}},
        MeasuredSteps{"draftscope", "Llama-3-8B", WeightType::q8_0, {1, 8}, {3.648, 4.152}},
        MeasuredSteps{"draftscope", "Llama-3-8B", WeightType::q4_0, {1, 8}, {3.763, 4.687}},
        MeasuredSteps{"draftscope", "Llama-3-8B", WeightType::int4, {1, 8}, {4.467, 4.515}}));

// One H200, context 512, blocks apart or more than one row: 2026-11-26 (bench/gpu/measured/h200_passes.csv).
INSTANTIATE_TEST_SUITE_P(
    Graphs, StepsOfAnH200,
    ::testing::Values(
        MeasuredSteps{"draftscope-0.2",
                      "Llama-3-8B",
                      WeightType::bf16,
                      {1, 5, 8, 16, 32},
                      {4.783, 5.302, 5.598, 6.278, 12.104}},
        MeasuredSteps{"draftscope-0.2",
                      "Llama-3.2-1B",
                      WeightType::bf16,
                      {1, 5, 8, 16, 32},
                      {1.060, 1.225, 1.308, 1.572, 2.896}},
        MeasuredSteps{"draftscope-0.2", "Llama-3-8B", WeightType::fp8, {5, 16}, {4.524, 6.007}},
        MeasuredSteps{"draftscope-0.2", "Llama-3-8B", WeightType::q8_0, {5, 16}, {4.344, 5.626}},
        MeasuredSteps{"draftscope-0.2", "Llama-3-8B", WeightType::q4_0, {5, 16}, {3.790, 4.905}},
        MeasuredSteps{"draftscope-0.2", "Llama-3-8B", WeightType::int4, {5, 16}, {3.564, 4.775}}));

TEST(EngineLaws, LaunchLayersForPlannedRowsAsMeasured) {
  // Verifications of two rows above the exit, planned for 17 rows or more, in milliseconds: one H200,
  // 2026-11-26, release 0.2.0. Planned for fewer they took 1.070, 1.108 and 5.2. The law was not fitted to
  // them; the limit is 15 %.
  struct Case {
    const char* model;
    std::int32_t exit;
    double ms;
  };
  for (const Case& measured :
       {Case{"Llama-3.2-1B", 4, 1.611}, Case{"Llama-3.2-1B", 1, 1.773}, Case{"Llama-3-8B", 8, 8.4}}) {
    Scenario scenario{.gpu = find_gpu(h200).value(),
                      .shape = speculation::find_model_shape(measured.model).value(),
                      .host = find_host_time("draftscope-0.2").value(),
                      .verified_layers = VerifiedLayers::above_exit};
    scenario.widths = 32;
    const CostModel model = cost_model_of(*scenario.gpu, scenario.shape, WeightType::bf16);
    const auto draft = static_cast<std::size_t>(measured.exit);
    const Prices found = value_of(prices(model, scenario));
    const DraftPrices& price = found.drafts[draft];
    const double verify_ns = price.verify[2].at(512.0) - price.start_ns;
    EXPECT_NEAR(1e-6 * (verify_ns + price.planned_ns[1]) / measured.ms, 1.0, 0.15) << measured.model;
    EXPECT_GT(price.planned_ns[1], 0.3 * verify_ns) << measured.model;
    scenario.host = find_host_time("draftscope").value();
    EXPECT_THAT(value_of(prices(model, scenario)).drafts[draft].planned_ns, ::testing::Each(0.0));
  }
}

TEST(EngineLaws, StartDraftsOfLayersAndNoGuesses) {
  const Prices found =
      priced("draftscope-0.2", h200, "Llama-3.2-1B", WeightType::bf16, {{0, 0, {}}, {4, 4, {}}, {8, 8, {}}});
  EXPECT_EQ(found.drafts[1].start_ns, 0.0);
  EXPECT_NEAR(found.drafts[2].start_ns, 50e3, 1.0);
  EXPECT_EQ(found.drafts[3].start_ns, found.drafts[2].start_ns);
}

TEST(EngineLaws, RefuseAnUnknownNameWithTheKnownOnes) {
  const auto refused = find_host_time("vllm");
  ASSERT_FALSE(refused);
  for (const HostTime& host : known_host_times()) EXPECT_THAT(refused.error().message, HasSubstr(host.name));
}

TEST(EngineLaws, GrowWithRowsOnEveryGpuAndType) {
  for (const HostTime& host : known_host_times())
    for (const char* gpu : {h200, "L40S", "MI300X"})
      for (const WeightType type : {WeightType::bf16, WeightType::q8_0, WeightType::q4_k}) {
        const Prices found = priced(host.name.c_str(), gpu, "Llama-3.2-1B", type);
        const auto& verify = found.drafts[1].verify;
        EXPECT_GE(verify[2].at(512.0), found.target_step.at(512.0));
        for (std::size_t rows = 3; rows < verify.size(); ++rows)
          EXPECT_GE(verify[rows].at(512.0), verify[rows - 1].at(512.0)) << host.name << " " << rows;
      }
}

TEST(EngineLaws, OnOtherGpusAreLessSure) {
  const GpuSpecification gpu = find_gpu(h200).value();
  const EngineLaw& engine = current_engine();
  const ProductLaw there = product_law(find_gpu("L40S").value(), WeightType::bf16, &engine);
  EXPECT_GT(there.t0_sigma, product_law(gpu, WeightType::bf16, &engine).t0_sigma);
  EXPECT_GT(product_law(gpu, WeightType::q6_k, &engine).efficiency_sigma,
            product_law(gpu, WeightType::q8_0, &engine).efficiency_sigma);
}

TEST(EngineLaws, OfARecordingFollowItsVersion) {
  EXPECT_EQ(&recorded_engine({{"tool_version", "0.2.0"}}), &former_engine());
  EXPECT_EQ(&recorded_engine({{"tool_version", "0.2.0"}, {"device_trace", "operations"}}), &current_engine());
  EXPECT_EQ(&recorded_engine({{"tool_version", "0.3.0"}}), &current_engine());
}

// A draft of all layers in fewer bits is a step of a target in as many bits.
TEST(DraftsOnTheirOwnWeights, CostWhatATargetOfTheirBitsCosts) {
  using speculation::WeightFormat;
  for (const HostTime& host : known_host_times())
    for (const WeightFormat format :
         {WeightFormat::fp8, WeightFormat::q8_0, WeightFormat::q4_0, WeightFormat::q4_k})
      for (const char* model : {"Llama-3-8B", "Llama-3.2-1B"})
        for (const std::int32_t batch : {1, 512}) {
          const std::int32_t layers = speculation::find_model_shape(model)->n_layers;
          const Prices draft = priced(host.name.c_str(), h200, model, WeightType::bf16,
                                      {{layers, layers, format}, {layers / 2, layers / 2}}, batch);
          const Prices target = priced(host.name.c_str(), h200, model, weight_type_of(format),
                                       {{layers, layers}, {layers / 2, layers / 2, format}}, batch);
          EXPECT_NEAR(draft.drafts[1].step.at(512.0) / target.drafts[1].step.at(512.0), 1.0, 1e-9)
              << host.name << ", batch " << batch;
          // The target's own bits are no bits of the draft's own.
          EXPECT_NEAR(target.drafts[1].step.at(512.0) / target.target_step.at(512.0), 1.0, 1e-9)
              << host.name << ", batch " << batch;
          const Prices own = priced(host.name.c_str(), h200, model, weight_type_of(format),
                                    {{layers / 2, layers / 2}}, batch);
          EXPECT_DOUBLE_EQ(target.drafts[2].step.ns, own.drafts[1].step.ns)
              << host.name << ", batch " << batch;
        }
}

TEST(DraftsOnTheirOwnWeights, GainLittleOnASmallModel) {
  const auto share = [](const char* model) {
    const std::int32_t layers = speculation::find_model_shape(model)->n_layers;
    const Prices found = priced("draftscope-0.2", h200, model, WeightType::bf16,
                                {{layers, layers, speculation::WeightFormat::q8_0}});
    return found.drafts[1].step.at(512.0) / found.target_step.at(512.0);
  };
  EXPECT_GT(share("SmolLM2-135M"), 0.95);  // Its bytes would give 0.53.
  EXPECT_LT(share("Llama-3-8B"), 0.85);
}

TEST(DraftsOnTheirOwnWeights, KeepTheirMeasuredRatioToTheLawOnOtherModelsAndAsTargets) {
  CostModel recorded =
      cost_model_of(find_gpu(h200).value(), speculation::find_model_shape("Llama-3.2-1B").value(),
                    WeightType::bf16, &current_engine());
  recorded.from_trace = true;
  const auto q8_0 = speculation::WeightFormat::q8_0;
  Scenario scenario = fitted_scenario(recorded);
  scenario.shape = speculation::find_model_shape("Llama-3-8B").value();
  scenario.context = 512.0;
  scenario.drafts = {{32, 32, q8_0}};
  const double by_law = value_of(prices(recorded, scenario)).drafts[1].step.at(512.0);
  recorded.draft_types = {{WeightType::q8_0, 1.5}};
  const double measured = value_of(prices(recorded, scenario)).drafts[1].step.at(512.0);
  EXPECT_GT(measured, 1.3 * by_law);
  EXPECT_LT(measured, 1.5 * by_law);
  scenario.drafts = {{32, 32}};
  scenario.weights = WeightType::q8_0;
  EXPECT_NEAR(value_of(prices(recorded, scenario)).target_step.at(512.0) / measured, 1.0, 1e-9);
}

TEST(Budget, OfASpecifiedMachineHasAShareOfWidths) {
  for (const char* host : {"graph", "draftscope"}) {
    Scenario scenario{.gpu = find_gpu(h200).value(),
                      .shape = speculation::find_model_shape("SmolLM2-135M").value(),
                      .host = find_host_time(host).value()};
    scenario.context = 512.0;
    const PriceMap map =
        value_of(PriceMap::make(cost_model_of(*scenario.gpu, scenario.shape, WeightType::bf16), scenario));
    const Prices mean = map.mean();
    double square = 0.0;
    constexpr int draws = 300;
    for (int i = 0; i < draws; ++i) {
      Prices drawn;
      map.draw(5, static_cast<std::uint64_t>(i), {.fit = false, .width = true, .transfer = false}, drawn);
      const double share = drawn.drafts[1].verify[8].at(512.0) / mean.drafts[1].verify[8].at(512.0) - 1.0;
      square += share * share;
      EXPECT_DOUBLE_EQ(drawn.target_step.at(512.0), mean.target_step.at(512.0));
    }
    EXPECT_GT(std::sqrt(square / draws), 0.02) << host;
  }
}

}  // namespace
}  // namespace draftscope::simulator
