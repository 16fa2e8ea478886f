// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/cost_prices.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "planted_trace.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

TEST(KernelLaw, RecoversWhatWasPlantedThroughNoiseAndOutliers) {
  constexpr double t0_ns = 3670.0;
  constexpr double ns_a_byte = 1.0 / (0.89 * 3350.0);
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.0, 0.05);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<KernelTime> kernels;
  for (int i = 0; i < 4000; ++i) {
    const double bytes = std::exp(std::log(1e5) + unit(random) * std::log(1e4));
    const double outlier = unit(random) < 0.02 ? 3.0 : 1.0;
    kernels.push_back({bytes, (t0_ns + bytes * ns_a_byte) * (1.0 + noise(random)) * outlier});
  }
  const auto law = fit_kernel_law(kernels);
  ASSERT_TRUE(law) << law.error().message;
  EXPECT_NEAR(law->launch_ns / t0_ns, 1.0, 0.01);
  EXPECT_NEAR(law->ns_a_byte / ns_a_byte, 1.0, 0.01);
  EXPECT_LT(std::abs(law->launch_ns - t0_ns), 5.0 * law->launch_sigma);
  EXPECT_LT(std::abs(law->ns_a_byte - ns_a_byte), 5.0 * law->ns_a_byte_sigma);
}

TEST(KernelLaw, IsNeverNegativeAndRefusesWhatIsNoTime) {
  // Times that grow faster than the bytes would need a negative launch.
  const std::vector<KernelTime> steep{{1e6, 100.0}, {2e6, 400.0}, {4e6, 1000.0}};
  const auto law = fit_kernel_law(steep);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->launch_ns, 0.0);
  EXPECT_GT(law->ns_a_byte, 0.0);
  EXPECT_FALSE(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}}));
  EXPECT_THAT(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}, {1.0, 0.0}}).error().message,
              HasSubstr("kernel 1"));
  EXPECT_FALSE(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}, {NAN, 1.0}}));
}

class PlantedFit : public ::testing::Test {
 protected:
  ~PlantedFit() override {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  CostFit fit(const PlantedTrace& planted, const std::optional<GpuSpecification>& gpu = {}) {
    write_planted_trace(planted, path_);
    auto reader = traces::Reader::open(path_);
    EXPECT_TRUE(reader);
    const auto recording = reader->recording();
    EXPECT_TRUE(recording);
    const auto observations = read_cost_observations(*reader, *recording);
    EXPECT_TRUE(observations) << observations.error().message;
    auto result = fit_cost_model(*observations, gpu);
    EXPECT_TRUE(result) << result.error().message;
    return std::move(result).value();
  }

  static Prices typical(const CostModel& model) {
    Scenario scenario = fitted_scenario(model);
    scenario.with_stalls = false;
    return prices(model, scenario).value();
  }

  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("draftscope-planted-{}.dstrace", ::getpid());
};

const std::vector<PlantedSetting> some_settings{{0, 0}, {2, 2}, {4, 4}, {3, 7}};

void expect_prices(const Prices& found, const Prices& truth, double tolerance, double context) {
  EXPECT_NEAR(found.target_step.at(context) / truth.target_step.at(context), 1.0, tolerance);
  EXPECT_NEAR(found.round_ns / truth.round_ns, 1.0, 0.03);
  EXPECT_NEAR(found.step_round_ns / truth.step_round_ns, 1.0, 0.03);
  for (std::size_t exit = 1; exit < truth.drafts.size(); ++exit)
    EXPECT_NEAR(found.drafts[exit].step.at(context) / truth.drafts[exit].step.at(context), 1.0, tolerance)
        << exit;
  for (std::size_t rows = 2; rows <= 8; ++rows)
    EXPECT_NEAR(found.drafts[1].verify[rows].at(context) / truth.drafts[1].verify[rows].at(context), 1.0,
                tolerance)
        << rows;
}

TEST_F(PlantedFit, OperationsOfACpuGivePricesOfSettingsThatWereNotRecorded) {
  const PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings};
  const CostFit found = fit(planted);
  EXPECT_FALSE(found.report.has_gpu_prior);
  EXPECT_GT(found.report.operation_groups, 50U);
  EXPECT_LT(found.report.residual_p50, 0.02);
  expect_prices(typical(found.model), typical(planted.truth), 0.03, 100.0);
  expect_prices(typical(found.model), typical(planted.truth), 0.03, 400.0);
  EXPECT_EQ(found.report.parameters[round_parameter].source, ParameterSource::trace);
  EXPECT_EQ(found.report.parameters[width_parameter(Operation::down, 5)].source,
            ParameterSource::not_identified);
  // Outliers make the sum longer than the typical times say, and prices with stalls give the sum.
  EXPECT_GT(found.model.stall_share, 0.0);
  EXPECT_NEAR((1.0 + found.model.stall_share) * (1.0 - found.report.conservation_residual), 1.0, 1e-9);
}

TEST_F(PlantedFit, RoundsAloneGivePricesOfOtherExitsAndLengths) {
  const PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings, .with_operations = false};
  const CostFit found = fit(planted);
  EXPECT_EQ(found.report.operation_groups, 0U);
  expect_prices(typical(found.model), typical(planted.truth), 0.04, 200.0);
  // No operation was seen on its own.
  EXPECT_EQ(found.report.condition, std::numeric_limits<double>::infinity());
}

TEST_F(PlantedFit, OneWidthLeavesTheOthersToThePrior) {
  const GpuSpecification gpu = find_gpu("H100-SXM5-80GB").value();
  PlantedTrace planted{.truth = cost_model_of(gpu, *find_model_shape("Llama-3.2-1B"), WeightType::bf16),
                       .settings = {{0, 0}, {4, 4}},
                       .device = gpu.name};
  planted.rounds_a_setting = 30;
  const CostFit found = fit(planted, gpu);
  EXPECT_TRUE(found.report.has_gpu_prior);
  const auto source = [&](std::size_t term) {
    return found.report.parameters[width_parameter(Operation::gate_up, term)].source;
  };
  EXPECT_EQ(source(0), ParameterSource::trace);
  for (std::size_t term = 1; term < width_terms; ++term) EXPECT_EQ(source(term), ParameterSource::prior);
}

TEST_F(PlantedFit, KernelsOfAGpuAreFittedAroundItsSpecification) {
  const GpuSpecification gpu = find_gpu("H100-SXM5-80GB").value();
  PlantedTrace planted{.truth = cost_model_of(gpu, *find_model_shape("Llama-3.2-1B"), WeightType::bf16),
                       .settings = {{0, 0}, {2, 2}, {4, 7}},
                       .device = gpu.name};
  planted.rounds_a_setting = 30;
  planted.truth.values[launch_parameter(Operation::down)] *=
      1.5;  // an engine that is unlike the specification
  planted.truth.values[launch_parameter(Operation::small)] *= 0.5;
  const CostFit found = fit(planted, gpu);
  expect_prices(typical(found.model), typical(planted.truth), 0.03, 100.0);
  for (std::size_t i = 0; i < product_count; ++i)
    EXPECT_GE(found.model.values[per_byte_parameter(static_cast<Operation>(i))], 1.0 / gpu.bandwidth_gb_s);
  EXPECT_GT(found.model.values[launch_parameter(Operation::down)],
            1.2 * found.model.values[launch_parameter(Operation::gate_up)]);
}

TEST_F(PlantedFit, WithoutNoiseNothingIsLeftOver) {
  const PlantedTrace planted{
      .truth = planted_cpu(), .settings = some_settings, .noise = 0.0, .outliers = 0.0};
  const CostFit found = fit(planted);
  EXPECT_LT(found.report.residual_p90, 0.005);
  EXPECT_LT(std::abs(found.report.conservation_residual), 0.005);
  expect_prices(typical(found.model), typical(planted.truth), 0.01, 200.0);
}

TEST(Fit, RefusesNoGroupsAndNoTimes) {
  CostObservations none;
  EXPECT_THAT(fit_cost_model(none).error().message, HasSubstr("no rounds"));
  none.groups.push_back({.ns = 0.0, .samples = 1.0});
  EXPECT_THAT(fit_cost_model(none).error().message, HasSubstr("took 0 ns"));
}

}  // namespace
}  // namespace draftscope::simulator
