// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/published_models.h>
#include <draftscope/speculation/weight_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "../../../temporary_folder.h"
#include "planted_trace.h"
#include "prices/fit/cost_observations.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/engine_law.h"
#include "prices/fit/pass_corrections.h"
#include "prices/passes/cost_prices.h"
#include "prices/passes/normal_draws.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

TEST(KernelLaw, RecoversWhatWasPlantedThroughNoiseAndOutliers) {
  constexpr double t0_ns = 3670.0;
  constexpr double ns_per_byte = 1.0 / (0.89 * 3350.0);
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.0, 0.05);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  std::vector<KernelTime> kernels;
  for (int i = 0; i < 4000; ++i) {
    const double bytes = std::exp(std::log(1e5) + unit(random) * std::log(1e4));
    const double outlier = unit(random) < 0.02 ? 3.0 : 1.0;
    kernels.push_back({bytes, (t0_ns + bytes * ns_per_byte) * (1.0 + noise(random)) * outlier});
  }
  const auto law = fit_kernel_law(kernels);
  ASSERT_TRUE(law) << law.error().message;
  EXPECT_NEAR(law->launch_ns / t0_ns, 1.0, 0.01);
  EXPECT_NEAR(law->ns_per_byte / ns_per_byte, 1.0, 0.01);
  EXPECT_LT(std::abs(law->launch_ns - t0_ns), 5.0 * law->launch_sigma);
  EXPECT_LT(std::abs(law->ns_per_byte - ns_per_byte), 5.0 * law->ns_per_byte_sigma);
}

TEST(KernelLaw, IsNeverNegativeAndRefusesWhatIsNoTime) {
  // Times that grow faster than the bytes would need a negative launch.
  const std::vector<KernelTime> steep{{1e6, 100.0}, {2e6, 400.0}, {4e6, 1000.0}};
  const auto law = fit_kernel_law(steep);
  ASSERT_TRUE(law);
  EXPECT_EQ(law->launch_ns, 0.0);
  EXPECT_GT(law->ns_per_byte, 0.0);
  EXPECT_FALSE(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}}));
  EXPECT_THAT(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}, {1.0, 0.0}}).error().message,
              HasSubstr("kernel 1"));
  EXPECT_FALSE(fit_kernel_law(std::vector<KernelTime>{{1.0, 1.0}, {NAN, 1.0}}));
}

class PlantedFit : public ::testing::Test {
 protected:
  CostFit fit(const PlantedTrace& planted, const std::optional<GpuSpecification>& gpu = {}) {
    const test::TemporaryFolder folder;
    write_planted_trace(planted, folder / "trace.dstrace");
    auto reader = traces::Reader::open(folder / "trace.dstrace");
    EXPECT_TRUE(reader);
    const auto recording = reader->recording();
    EXPECT_TRUE(recording);
    const auto observations = read_cost_observations(*reader, *recording);
    EXPECT_TRUE(observations) << observations.error().message;
    auto result = fit_cost_model(*observations, gpu, &recorded_engine(recording->meta));
    EXPECT_TRUE(result) << result.error().message;
    return std::move(result).value();
  }

  /// Prices of passes that nothing interrupted.
  static Prices typical(CostModel model) {
    model.stall_share = 0.0;
    return prices(model, fitted_scenario(model)).value();
  }
};

std::vector<PlantedSetting> some_settings() {
  return {{0, 0}, {2, 2}, {4, 4}, {3, 7}};
}

GpuSpecification h100() {
  return find_gpu("H100-SXM5-80GB").value();
}

/// A recording of an H100 that follows its law.
PlantedTrace planted_h100(std::vector<PlantedSetting> settings) {
  return {.truth = cost_model_of(h100(), *speculation::find_model_shape("Llama-3.2-1B"), WeightType::bf16,
                                 &current_engine()),
          .settings = std::move(settings),
          .device = h100().name,
          .rounds_per_setting = 30};
}

/// Compares with the means of the planted times, which noise and outliers make longer than the truth.
void expect_prices(const Prices& found, Prices truth, const PlantedTrace& planted, double tolerance,
                   double context) {
  const double factor = mean_factor(planted);
  truth.target_step *= factor;
  for (DraftPrices& draft : truth.drafts) {
    draft.step *= factor;
    for (AffineTime& verify : draft.verify) verify *= factor;
  }
  EXPECT_NEAR(found.target_step.at(context) / truth.target_step.at(context), 1.0, tolerance);
  EXPECT_NEAR(found.round_ns / (factor * truth.round_ns), 1.0, 0.03);
  EXPECT_NEAR(found.step_round_ns / (factor * truth.step_round_ns), 1.0, 0.03);
  for (std::size_t exit = 1; exit < truth.drafts.size(); ++exit)
    EXPECT_NEAR(found.drafts[exit].step.at(context) / truth.drafts[exit].step.at(context), 1.0, tolerance)
        << exit;
  for (std::size_t rows = 2; rows <= 8; ++rows)
    EXPECT_NEAR(found.drafts[1].verify[rows].at(context) / truth.drafts[1].verify[rows].at(context), 1.0,
                tolerance)
        << rows;
}

TEST_F(PlantedFit, OperationsOfACpuGivePricesOfSettingsThatWereNotRecorded) {
  const PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings()};
  const CostFit found = fit(planted);
  EXPECT_FALSE(found.report.has_gpu_prior);
  EXPECT_LT(found.report.residual_p50, 0.02);
  expect_prices(typical(found.model), typical(planted.truth), planted, 0.03, 100.0);
  expect_prices(typical(found.model), typical(planted.truth), planted, 0.03, 400.0);
  EXPECT_EQ(found.report.parameters[round_parameter].source, ParameterSource::trace);
  EXPECT_EQ(found.report.parameters[width_parameter(speculation::Operation::down, 5)].source,
            ParameterSource::not_identified);
  EXPECT_LT(std::abs(found.report.conservation_residual), 0.01);
}

TEST_F(PlantedFit, RoundsAloneGivePricesOfOtherExitsAndLengths) {
  const PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  const CostFit found = fit(planted);
  expect_prices(typical(found.model), typical(planted.truth), planted, 0.05, 200.0);
}

TEST_F(PlantedFit, InterruptionsAreKeptApartAndGivenBackByTime) {
  PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  planted.rounds_per_setting = 400;
  const CostFit without = fit(planted);
  planted.interrupted_every_ns = 50e6;
  planted.interruption_ns = 40e6;
  const CostFit with = fit(planted);
  EXPECT_LT(without.model.stall_share, 0.01);
  EXPECT_NEAR(with.model.stall_share, 0.8, 0.05);
  EXPECT_LT(std::abs(with.report.conservation_residual), 0.01);
  const Prices of_with = typical(with.model);
  const Prices of_without = typical(without.model);
  EXPECT_NEAR(of_with.target_step.at(100) / of_without.target_step.at(100), 1.0, 0.01);
  EXPECT_NEAR(of_with.drafts[4].step.at(100) / of_without.drafts[4].step.at(100), 1.0, 0.01);
  const Prices mean = prices(with.model, fitted_scenario(with.model)).value();
  EXPECT_NEAR(mean.target_step.at(100) / of_with.target_step.at(100), 1.0 + with.model.stall_share, 1e-9);
}

TEST_F(PlantedFit, ABusyMachineTakesItsTimeFromShortAndLongPassesAlike) {
  // A vanilla step takes about 3 ms, the longest draft 10 ms. So every pass hides interruptions of 1 ms,
  // drafts alone those of 5 and 8 ms, and no pass those of 50 ms.
  for (const auto& [every_ns, ns] : {std::pair{2e6, 1e6}, {4e6, 8e6}, {5e6, 5e6}, {100e6, 50e6}}) {
    PlantedTrace planted{.truth = planted_cpu(),
                         .settings = {{0, 0}, {2, 2}, {4, 4}, {3, 7}, {6, 1}},
                         .with_operations = false,
                         .rounds_per_setting = 500};
    planted.interrupted_every_ns = every_ns;
    planted.interruption_ns = ns;
    const CostFit found = fit(planted);
    const Prices mean = prices(found.model, fitted_scenario(found.model)).value();
    const Prices truth = typical(planted.truth);
    constexpr double context = 1750.0;
    const double unit = mean.target_step.at(context);
    const double true_unit = truth.target_step.at(context);
    EXPECT_NEAR(unit / (true_unit * mean_factor(planted) * (1.0 + ns / every_ns)), 1.0, 0.05) << ns;
    for (const PlantedSetting& setting : planted.settings) {
      if (setting.exit == 0) continue;
      const auto exit = static_cast<std::size_t>(setting.exit);
      const auto rows = static_cast<std::size_t>(setting.gamma) + 1;
      const double c = mean.drafts[exit].step.at(context) / unit;
      const double v = (mean.drafts[exit].verify[rows].at(context) - mean.drafts[exit].start_ns) / unit;
      EXPECT_NEAR(c / (truth.drafts[exit].step.at(context) / true_unit), 1.0, 0.05) << ns << " " << exit;
      EXPECT_NEAR(v / (truth.drafts[exit].verify[rows].at(context) / true_unit), 1.0, 0.05)
          << ns << " " << rows;
      EXPECT_LT(c, 1.0);
    }
  }
}

TEST_F(PlantedFit, TheFirstStepOfADraftIsToldFromTheOthers) {
  PlantedTrace planted{
      .truth = planted_cpu(), .settings = {{0, 0}, {2, 1}, {2, 4}, {6, 2}, {6, 7}}, .with_operations = false};
  planted.truth.values[draft_start_parameter] = 0.02;
  planted.rounds_per_setting = 200;
  const CostFit found = fit(planted);
  EXPECT_NEAR(found.model.values[draft_start_parameter] / (0.02 * mean_factor(planted)), 1.0, 0.25);
  // Neither this length nor this exit was recorded.
  const Prices here = typical(found.model);
  const Prices truth = typical(planted.truth);
  for (const int gamma : {1, 3, 6}) {
    const auto round_ns = [gamma](const Prices& prices) {
      return gamma * prices.drafts[4].step.at(200) +
             prices.drafts[4].verify[static_cast<std::size_t>(gamma) + 1].at(200);
    };
    EXPECT_NEAR(round_ns(here) / round_ns(truth) / mean_factor(planted), 1.0, 0.03) << gamma;
    const auto verify_ns = [gamma](const Prices& prices) {
      return prices.drafts[4].verify[static_cast<std::size_t>(gamma) + 1].at(200) - prices.drafts[4].start_ns;
    };
    EXPECT_GT(truth.drafts[4].start_ns, 0.01 * verify_ns(truth));
    EXPECT_NEAR(verify_ns(here) / verify_ns(truth) / mean_factor(planted), 1.0, 0.03) << gamma;
  }
  // The first step of a draft in fewer bits reads fewer bytes, as the others do.
  Scenario packed = fitted_scenario(planted.truth);
  packed.drafts = {{4, 4, {}}, {4, 4, speculation::WeightFormat::q8_0}};
  const Prices of_packed = prices(planted.truth, packed).value();
  const double share = layer_weight_bytes(WeightType::q8_0) / layer_weight_bytes(packed.weights);
  EXPECT_LT(share, 0.6);
  EXPECT_NEAR(of_packed.drafts[2].start_ns / of_packed.drafts[1].start_ns, share, 1e-9);
}

TEST_F(PlantedFit, PassesThatNoLawExplainsArePricedAsTheyWereMeasured) {
  PlantedTrace planted{
      .truth = planted_cpu(), .settings = {{0, 0}, {2, 2}, {4, 4}, {3, 5}, {6, 7}}, .with_operations = false};
  planted.of_rows = {{1, 1.1}, {3, 0.9}, {5, 1.3}, {6, 0.8}, {8, 1.15}};
  planted.of_exit = {{2, 1.2}, {3, 0.9}, {4, 0.85}, {6, 1.1}};
  planted.rounds_per_setting = 200;
  const CostFit found = fit(planted);
  EXPECT_LT(std::abs(found.report.conservation_residual), 0.01);
  const Prices here = typical(found.model);
  const Prices truth = typical(planted.truth);
  // The passes were at this context; the law gives the slope.
  constexpr double context = 1050.0;
  const double mean = mean_factor(planted);
  EXPECT_NEAR(here.target_step.at(context) / truth.target_step.at(context), 1.1 * mean, 0.03);
  for (const PlantedSetting& setting : planted.settings) {
    if (setting.exit == 0) continue;
    const auto exit = static_cast<std::size_t>(setting.exit);
    const auto rows = static_cast<std::size_t>(setting.gamma) + 1;
    const auto round_ns = [&](const Prices& prices, double of_exit, double of_rows) {
      return of_exit * setting.gamma * prices.drafts[exit].step.at(context) +
             of_rows * prices.drafts[exit].verify[rows].at(context);
    };
    const double planted_ns = mean * round_ns(truth, planted.of_exit.at(setting.exit),
                                              planted.of_rows.at(static_cast<std::int32_t>(rows)));
    // 200 noisy rounds of one request determine the time to 3 to 5 %, and are shrunk to the law by as much.
    EXPECT_NEAR(round_ns(here, 1.0, 1.0) / planted_ns, 1.0, 0.03) << setting.exit;
  }
  // Elsewhere the form of the law applies.
  Scenario other = fitted_scenario(found.model);
  other.batch = 2;
  EXPECT_FALSE(PriceMap::make(found.model, other)->is_as_recorded());
  EXPECT_TRUE(PriceMap::make(found.model, fitted_scenario(found.model))->is_as_recorded());
}

TEST_F(PlantedFit, DrawsSpreadAroundTheMeanOfMeasuredPasses) {
  PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  planted.of_rows = {{1, 1.1}, {5, 1.3}};
  const CostFit found = fit(planted);
  const auto map = PriceMap::make(found.model, fitted_scenario(found.model));
  ASSERT_TRUE(map);
  const Prices mean = map->mean();
  double sum = 0.0;
  double squares = 0.0;
  constexpr int draws = 400;
  for (int i = 0; i < draws; ++i) {
    const double ratio = map->draw(1, static_cast<std::uint64_t>(i)).drafts[1].verify[5].at(200) /
                         mean.drafts[1].verify[5].at(200);
    sum += ratio / draws;
    squares += ratio * ratio / draws;
  }
  // Drawn parameters are bounded below by 0, which shifts their mean slightly.
  EXPECT_NEAR(sum, 1.0, 0.03);
  EXPECT_GT(squares - sum * sum, 1e-8);
  EXPECT_LT(std::sqrt(squares - sum * sum), 0.05);
}

std::vector<double> numbers(const Prices& prices, std::span<const std::int32_t> exits) {
  std::vector<double> all{prices.round_ns, prices.step_round_ns, prices.host_ratio};
  const auto add = [&](const AffineTime& time) {
    all.push_back(time.ns);
    all.push_back(time.ns_per_context_row);
  };
  add(prices.target_step);
  for (const AffineTime& own : prices.auxiliary) add(own);
  for (const std::int32_t exit : exits) {
    const DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
    add(draft.step);
    for (const AffineTime& verify : draft.verify) add(verify);
  }
  return all;
}

TEST_F(PlantedFit, AFewDraftsArePricedAsAmongAllToTheBit) {
  PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  planted.of_rows = {{1, 1.1}, {5, 1.3}};
  const CostFit found = fit(planted);
  Scenario elsewhere = fitted_scenario(found.model);
  elsewhere.batch = 2;
  for (Scenario scenario : {fitted_scenario(found.model), elsewhere})
    for (const VerifiedLayers verified : {VerifiedLayers::all, VerifiedLayers::above_exit}) {
      scenario.verified_layers = verified;
      scenario.widths = 11;
      scenario.auxiliary_passes = {{.kind = AuxiliaryPassKind::layer, .rows = 3, .attention = 1, .mlp = 1}};
      const PriceMap all = PriceMap::make(found.model, scenario).value();
      for (const std::vector<std::int32_t>& exits : {std::vector{1}, std::vector{4}, std::vector{7},
                                                     std::vector{2, 5}, std::vector{1, 2, 3, 4, 5, 6, 7}}) {
        const PriceMap few = PriceMap::make(found.model, scenario, exits).value();
        EXPECT_EQ(numbers(few.mean(), exits), numbers(all.mean(), exits));
        for (const PriceSources vary :
             {PriceSources{}, PriceSources{true, false, false}, PriceSources{false, true, false},
              PriceSources{false, false, true}, PriceSources{false, false, false}})
          for (std::uint64_t draw = 0; draw < 12; ++draw) {
            Prices of_few;
            Prices of_all;
            few.draw(5, draw, vary, of_few);
            all.draw(5, draw, vary, of_all);
            EXPECT_EQ(numbers(of_few, exits), numbers(of_all, exits)) << draw;
          }
      }
    }
}

TEST_F(PlantedFit, WhatAnotherMapKnowsAndNumbersThatAreKeptChangeNoBit) {
  PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  planted.of_rows = {{1, 1.1}, {5, 1.3}};
  const CostFit found = fit(planted);
  Scenario narrow = fitted_scenario(found.model);
  narrow.verified_layers = VerifiedLayers::above_exit;
  narrow.widths = 6;
  Scenario wide = narrow;
  wide.widths = 11;
  Scenario elsewhere = wide;
  elsewhere.batch = 2;
  Scenario longer = wide;
  longer.context += 300.0;
  const std::vector<std::int32_t> exits{2, 5};
  CachedNormals normals(5, 12);
  std::optional<PriceMap> before;
  for (const Scenario& scenario : {narrow, wide, longer, elsewhere, wide, narrow}) {
    const PriceMap alone = PriceMap::make(found.model, scenario, exits).value();
    PriceMap behind = PriceMap::make(found.model, scenario, exits, before ? &*before : nullptr).value();
    EXPECT_EQ(numbers(behind.mean(), exits), numbers(alone.mean(), exits));
    for (std::uint64_t draw = 0; draw < normals.count(); ++draw) {
      Prices of_behind;
      behind.draw(normals.first(draw, behind.noise_size()), {}, of_behind);
      EXPECT_EQ(numbers(of_behind, exits), numbers(alone.draw(5, draw), exits)) << draw;
    }
    before = std::move(behind);
  }
}

TEST_F(PlantedFit, DrawnCorrectionsSpreadAroundTheExpectedOnes) {
  PlantedTrace planted{.truth = planted_cpu(), .settings = some_settings(), .with_operations = false};
  planted.of_rows = {{1, 1.1}, {5, 1.3}};
  const CostModel model = fit(planted).model;
  std::vector<MeasuredPassKind> kinds;
  for (std::int32_t rows = 1; rows < 9; ++rows) kinds.push_back({.rows = rows, .n_layers = 8});
  const Eigen::VectorXd expected = correction_logs(model.passes, model.correction_scale, kinds, model.values);
  const PassCorrections corrections(model.passes, model.correction_scale, kinds);
  const Eigen::VectorXd without_noise =
      corrections.factors(model.values, Eigen::VectorXd::Zero(corrections.noise_size()));
  for (Eigen::Index i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(without_noise[i], std::exp(expected[i]), 1e-12);
  // With noise in one number at a time, the squares of its effects add up to the variance.
  Eigen::VectorXd variance = Eigen::VectorXd::Zero(expected.size());
  for (Eigen::Index i = 0; i < corrections.noise_size(); ++i) {
    const Eigen::VectorXd noise = Eigen::VectorXd::Unit(corrections.noise_size(), i);
    const Eigen::VectorXd with_noise = corrections.factors(model.values, noise);
    variance.array() += (with_noise.array() / without_noise.array()).log().square();
  }
  const Eigen::VectorXd deviations = corrections.deviations();
  for (Eigen::Index i = 0; i < expected.size(); ++i) EXPECT_NEAR(std::sqrt(variance[i]), deviations[i], 1e-9);
}

TEST(NormalNumbers, AreTheSameFromAnyPlaceOn) {
  std::vector<double> all(41);
  fill_normal(3, 7, all);
  for (std::size_t first = 0; first < all.size(); ++first)
    for (std::size_t count = 0; first + count <= all.size(); ++count) {
      std::vector<double> some(count);
      fill_normal(3, 7, some, first);
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
      EXPECT_EQ(some, std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count))) << first;
    }
}

TEST(NormalNumbers, AreTheSameWhenTheyAreKept) {
  CachedNormals kept(3, 9);
  for (const std::size_t size : {5U, 0U, 8U, 3U, 41U, 40U, 601U, 1201U, 600U}) {
    std::vector<double> all(size);
    fill_normal(3, 7, all);
    EXPECT_THAT(kept.first(7, size), testing::ElementsAreArray(all)) << size;
  }
}

TEST_F(PlantedFit, KernelsThatStartEarlyCostNoMoreThanOthers) {
  PlantedTrace planted = planted_h100({{0, 0}, {4, 4}});
  const CostFit one_by_one = fit(planted);
  for (const std::int64_t early_ns : {1'000, 20'000}) {
    planted.early_ns = early_ns;
    const CostFit overlapping = fit(planted);
    for (std::size_t i = 0; i < cost_parameter_count; ++i)
      EXPECT_DOUBLE_EQ(overlapping.model.values[i], one_by_one.model.values[i]) << i;
    EXPECT_DOUBLE_EQ(overlapping.report.residual_p50, one_by_one.report.residual_p50);
  }
}

TEST_F(PlantedFit, LaunchesLayersForPlannedRowsWhereTheEngineDoes) {
  const GpuSpecification gpu = find_gpu("H100-SXM5-80GB").value();
  PlantedTrace planted{.truth = cost_model_of(gpu, *speculation::find_model_shape("Llama-3.2-1B"),
                                              WeightType::bf16, &former_engine()),
                       .settings = {{0, 0}, {4, 1}, {4, 1, 18}, {4, 4}, {4, 4, 9}},
                       .device = gpu.name,
                       .with_operations = false,
                       .rounds_per_setting = 130,
                       .outliers = 0.0,
                       .version = "0.2.0"};
  constexpr std::size_t from_17_rows = 1;
  // The recording's engine is slower than its law there.
  planted.truth.values[width_parameter(speculation::Operation::gate_up, 2)] *= 1.5;
  const Prices truth = typical(planted.truth);
  const auto longer = [&](const Prices& found) {
    return found.drafts[4].planned_ns[from_17_rows] / truth.drafts[4].planned_ns[from_17_rows];
  };
  const auto relative = [&](const Prices& found, std::size_t rows) {
    return found.drafts[4].verify[rows].at(1000) / truth.drafts[4].verify[rows].at(1000);
  };
  const Prices found = typical(fit(planted, gpu).model);
  EXPECT_GT(truth.drafts[4].planned_ns[from_17_rows], 0.3 * truth.target_step.ns);
  EXPECT_NEAR(longer(found), 1.0, 0.05);
  for (const std::size_t rows : {2U, 5U}) EXPECT_NEAR(relative(found, rows), 1.0, 0.03) << rows;
  // An engine that verifies what was drafted has no such time, whatever was planned.
  planted.truth.launches_as_planned = false;
  planted.version.clear();
  const Prices of_drafted = typical(fit(planted, gpu).model);
  EXPECT_EQ(of_drafted.drafts[4].planned_ns[from_17_rows], 0.0);
  for (const std::size_t rows : {2U, 5U}) EXPECT_NEAR(relative(of_drafted, rows), 1.0, 0.03) << rows;
}

TEST_F(PlantedFit, OneWidthLeavesTheOthersToThePrior) {
  const CostFit found = fit(planted_h100({{0, 0}, {4, 4}}), h100());
  EXPECT_TRUE(found.report.has_gpu_prior);
  const auto source = [&](std::size_t parameter) { return found.report.parameters[parameter].source; };
  EXPECT_EQ(source(layer_width_parameter(0)), ParameterSource::trace);
  for (std::size_t term = 1; term < width_terms; ++term) {
    EXPECT_EQ(source(layer_width_parameter(term)), ParameterSource::prior);
    EXPECT_EQ(source(width_parameter(speculation::Operation::gate_up, term)), ParameterSource::prior);
  }
}

TEST_F(PlantedFit, KernelsOfAGpuAreFittedAroundItsSpecification) {
  PlantedTrace planted = planted_h100({{0, 0}, {2, 2}, {4, 7}});
  planted.outliers = 0.0;
  planted.truth.values[launch_parameter(speculation::Operation::down)] *=
      1.5;  // The engine differs from the specification.
  planted.truth.values[launch_parameter(speculation::Operation::small)] *= 0.5;
  const CostFit found = fit(planted, h100());
  expect_prices(typical(found.model), typical(planted.truth), planted, 0.03, 100.0);
  for (std::size_t i = 0; i < speculation::product_count; ++i)
    EXPECT_GE(found.model.values[per_byte_parameter(static_cast<speculation::Operation>(i))],
              1.0 / h100().bandwidth_gb_s);
  EXPECT_GT(found.model.values[launch_parameter(speculation::Operation::down)],
            1.2 * found.model.values[launch_parameter(speculation::Operation::gate_up)]);
}

TEST_F(PlantedFit, WithoutNoiseNothingIsLeftOver) {
  const PlantedTrace planted{
      .truth = planted_cpu(), .settings = some_settings(), .noise = 0.0, .outliers = 0.0};
  const CostFit found = fit(planted);
  EXPECT_LT(found.report.residual_p90, 0.005);
  EXPECT_LT(std::abs(found.report.conservation_residual), 0.005);
  expect_prices(typical(found.model), typical(planted.truth), planted, 0.01, 200.0);
}

TEST(Fit, RefusesNoGroupsAndNoTimes) {
  CostObservations none;
  EXPECT_THAT(fit_cost_model(none).error().message, HasSubstr("no rounds"));
  none.groups.push_back({.ns = 0.0, .samples = 1.0});
  EXPECT_THAT(fit_cost_model(none).error().message, HasSubstr("took 0 ns"));
}

}  // namespace
}  // namespace draftscope::simulator
