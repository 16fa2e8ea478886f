// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/roofline.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fit/planted_trace.h"
#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {
namespace {

Machine machine_of(const CostModel& model) {
  return {"as fitted", fitted_scenario(model)};
}

TEST(Roofline, OfASpecificationHasItsRatesAndRidge) {
  const GpuSpecification gpu = find_gpu("H100-SXM").value_or(known_gpus().front());
  const CostModel model =
      cost_model_of(gpu, speculation::find_model_shape("Llama-3-8B").value(), WeightType::bf16);
  const auto found = roofline(model, machine_of(model), 1024.0, {1, 8, 512});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->is_specified);
  EXPECT_DOUBLE_EQ(found->bytes_per_ns, gpu.bandwidth_gb_s);
  EXPECT_DOUBLE_EQ(*found->flops_per_ns, 1e3 * gpu.bf16_tflops);
  EXPECT_NEAR(found->attainable(gpu.ridge()), 1e3 * gpu.bf16_tflops, 1e-6 * 1e3 * gpu.bf16_tflops);
  EXPECT_DOUBLE_EQ(found->attainable(0.5 * gpu.ridge()), 0.5 * gpu.ridge() * gpu.bandwidth_gb_s);
  ASSERT_EQ(found->points.size(), 18U);
  for (const RooflinePoint& point : found->points)
    EXPECT_LE(point.flops_per_ns(), found->attainable(point.intensity()) * (1 + 1e-9))
        << speculation::operation_name(point.operation) << ", " << point.rows << " rows";
}

TEST(Roofline, PointsHaveTheTimesThatThePassesArePutTogetherFrom) {
  const CostModel model = planted_cpu();
  const Machine machine = machine_of(model);
  constexpr double context = 100.0;
  const auto found = roofline(model, machine, context, {1, 4});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_FALSE(found->is_specified);
  for (const RooflinePoint& point : found->points) {
    const CostCoefficients part =
        operation_coefficients(point.operation, model.shape, model.weights, model.width_law,
                               {.rows = static_cast<double>(point.rows), .batch = 1.0, .tensor_parallel = 1});
    double ns = 0.0;
    for (std::size_t i = 0; i < cost_parameter_count; ++i)
      ns += model.values[i] * (part.fixed[i] + context * part.a_context_row[i]);
    EXPECT_DOUBLE_EQ(point.ns, ns);
    EXPECT_LE(point.flops_per_ns(), found->attainable(point.intensity()) * (1 + 1e-9));
  }
}

TEST(Roofline, MoreRowsAreMoreArithmeticAByte) {
  const CostModel model = planted_cpu();
  const auto found = roofline(model, machine_of(model), 64.0, {1, 2, 4, 8});
  ASSERT_TRUE(found);
  for (std::size_t i = 1; i < found->points.size(); ++i)
    if (found->points[i].operation == found->points[i - 1].operation) {
      EXPECT_GT(found->points[i].intensity(), found->points[i - 1].intensity());
    }
}

TEST(Roofline, RefusesRowsBelowOne) {
  const CostModel model = planted_cpu();
  EXPECT_THAT(roofline(model, machine_of(model), 64.0, {0}).error().message,
              testing::HasSubstr("rows are 0"));
}

TEST(ScenarioName, SaysWhatDiffersFromTheRecording) {
  const Scenario recorded = fitted_scenario(planted_cpu());
  EXPECT_EQ(scenario_name(recorded, recorded), "as recorded");
  Scenario other = recorded;
  other.gpu = known_gpus().front();
  other.batch = 4;
  other.regime = Regime::graph;
  EXPECT_EQ(scenario_name(other, recorded), known_gpus().front().name + " graph batch 4");
  EXPECT_EQ(scenario_name(recorded, recorded, "desk (calibrated)"), "desk (calibrated)");
}

}  // namespace
}  // namespace draftscope::simulator
