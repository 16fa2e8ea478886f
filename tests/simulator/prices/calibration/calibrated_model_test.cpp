// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "../../../value_of.h"
#include "planted_calibration.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/fit/cost_work.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

Prices prices_of(const CostModel& model, const ModelShape& shape) {
  Scenario scenario = fitted_scenario(model);
  scenario.shape = shape;
  scenario.with_stalls = false;
  return value_of(prices(model, scenario));
}

/// Maximum relative difference over vanilla steps, every exit's steps and verifications of 2 to 16 rows.
double greatest_difference(const Prices& found, const Prices& truth, double context) {
  double greatest = 0.0;
  const auto compare = [&](const AffineTime& a, const AffineTime& b) {
    greatest = std::max(greatest, std::abs(a.at(context) / b.at(context) - 1.0));
  };
  compare(found.target_step, truth.target_step);
  for (std::size_t exit = 1; exit < truth.drafts.size(); ++exit)
    compare(found.drafts[exit].step, truth.drafts[exit].step);
  for (std::size_t rows = 2; rows <= 16; ++rows)
    compare(found.drafts[1].verify[rows], truth.drafts[1].verify[rows]);
  return greatest;
}

TEST(CalibrationLaws, AreThePlantedOnesWithinOnePercentThroughNoiseAndOutliers) {
  const CostModel truth = planted_processor();
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    const MachineCalibration machine = planted_calibration({.truth = truth, .samples = 1000, .seed = seed});
    const CalibrationLaws laws = calibration_laws(machine.shapes.front());
    ASSERT_TRUE(laws.products);
    EXPECT_EQ(laws.products->kernels, 5U);
    EXPECT_NEAR(laws.products->law.launch_ns / 50000.0, 1.0, 0.01) << seed;
    EXPECT_NEAR(laws.products->law.ns_per_byte / 0.025, 1.0, 0.01) << seed;
    EXPECT_LT(laws.products->residual_greatest, 0.02);
    ASSERT_TRUE(laws.attention);
    EXPECT_NEAR(laws.attention->law.ns_per_byte / 0.06, 1.0, 0.02) << seed;
  }
}

TEST(CalibrationLaws, WidthFactorsAreRatiosOfPassesAtTheSameContext) {
  const CostModel truth = planted_processor();
  const MachineCalibration machine =
      planted_calibration({.truth = truth, .samples = 1, .noise = 0.0, .outliers = 0.0});
  const Prices expected = prices_of(truth, truth.shape);
  const CalibrationLaws laws = calibration_laws(machine.shapes.front());
  ASSERT_EQ(laws.widths.size(), 5U);  // Four at the first context, one at the second.
  for (const WidthFactor& width : laws.widths) {
    const auto& verify = expected.drafts[1].verify[static_cast<std::size_t>(width.rows)];
    const auto factor_at = [&](double context) {
      return verify.at(context) / expected.target_step.at(context);
    };
    EXPECT_LT(std::min(std::abs(width.factor / factor_at(64.0) - 1.0),
                       std::abs(width.factor / factor_at(1024.0) - 1.0)),
              1e-9);
  }
}

TEST(CalibratedModel, PricesWhatWasNotMeasured) {
  const CostModel truth = planted_processor();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const MachineCalibration machine = planted_calibration({.truth = truth, .seed = seed});
    const CostModel model = value_of(calibrated_model(machine, truth.shape, truth.weights));
    for (const double context : {64.0, 500.0, 1024.0})
      EXPECT_LT(greatest_difference(prices_of(model, truth.shape), prices_of(truth, truth.shape), context),
                0.03)
          << seed << " at " << context;
    // This shape is twice as deep and has other proportions.
    const ModelShape other{"other", "", 16, 1536, 24, 8, 64, 4096, 32768};
    const CostModel elsewhere = value_of(calibrated_model(machine, other, truth.weights));
    EXPECT_LT(greatest_difference(prices_of(elsewhere, other), prices_of(truth, other), 500.0), 0.05) << seed;
    EXPECT_EQ(elsewhere.shape.name, "other");
  }
}

TEST(CalibratedModel, OfAGpuIsCloserToTheMachineThanItsSpecificationAndSurer) {
  const CostModel truth = planted_gpu();
  const MachineCalibration machine = planted_calibration({.truth = truth, .with_operations = false});
  for (const char* name : {"Llama-3.2-1B", "Llama-3-8B"}) {
    const ModelShape shape = value_of(speculation::find_model_shape(name));
    const CostModel specified = cost_model_of(*truth.gpu, shape, WeightType::bf16);
    const CostModel model = value_of(calibrated_model(machine, shape, WeightType::bf16));
    const Prices expected = prices_of(truth, shape);
    const double before = greatest_difference(prices_of(specified, shape), expected, 512.0);
    const double after = greatest_difference(prices_of(model, shape), expected, 512.0);
    EXPECT_GT(before, 0.15) << name;
    EXPECT_LT(after, 0.05) << name;

    const auto spread_of_draws = [&](const CostModel& of) {
      Scenario scenario = fitted_scenario(of);
      const PriceMap map = value_of(PriceMap::make(of, scenario));
      double sum = 0.0;
      double squares = 0.0;
      constexpr int draws = 400;
      for (int i = 0; i < draws; ++i) {
        const double ns = std::log(map.draw(9, static_cast<std::uint64_t>(i)).target_step.at(512.0));
        sum += ns;
        squares += ns * ns;
      }
      return std::sqrt(squares / draws - sum * sum / draws / draws);
    };
    EXPECT_LT(spread_of_draws(model), 0.6 * spread_of_draws(specified)) << name;
    EXPECT_GT(spread_of_draws(model), 0.005) << name;
  }
}

TEST(CalibratedModel, LeavesWhatNobodyMeasuredToTheSpecification) {
  const CostModel truth = planted_gpu();
  MachineCalibration machine = planted_calibration({.truth = truth, .with_operations = false});
  std::vector<speculation::MeasuredKernel>& kernels = machine.shapes.front().kernels;
  std::erase_if(kernels, [](const speculation::MeasuredKernel& kernel) {
    return kernel.form.context > 64.0 || kernel.form.rows > 1 ||
           kernel.form.kind == speculation::KernelKind::step_round;
  });
  const CostModel model = value_of(calibrated_model(machine, truth.shape, WeightType::bf16));
  const CostVector specified = specified_values(*truth.gpu, WeightType::bf16);
  // Widths are as specified, in units of one row's rate.
  const double rate = model.values[common_per_byte_parameter] / specified[common_per_byte_parameter];
  EXPECT_NEAR(rate, 1.25, 0.1);
  for (std::size_t product = 0; product < speculation::product_count; ++product)
    for (std::size_t term = 0; term < width_terms; ++term) {
      const std::size_t width = width_parameter(static_cast<speculation::Operation>(product), term);
      EXPECT_EQ(model.sources[width], ParameterSource::prior);
      EXPECT_NEAR(model.values[width] / specified[width] / rate, 1.0, 0.1);
    }
  EXPECT_NEAR(model.values[step_round_parameter], specified[step_round_parameter], 1.0);
}

TEST(CalibratedModel, TakesTheShapesOnItsSideOfTheLastCache) {
  CostModel fast = planted_processor();
  fast.shape = {"small", "", 4, 384, 6, 2, 64, 1024, 4096};
  for (std::size_t product = 0; product < speculation::product_count; ++product)
    fast.values[per_byte_parameter(static_cast<speculation::Operation>(product))] = 0.008;
  const CostModel slow = planted_processor();
  MachineCalibration machine = planted_calibration({.truth = slow});
  machine.shapes.push_back(planted_calibration({.truth = fast}).shapes.front());
  ASSERT_LT(weight_bytes_per_step(fast.shape, WeightType::bf16), machine.cache_bytes);
  ASSERT_GT(weight_bytes_per_step(slow.shape, WeightType::bf16), machine.cache_bytes);
  for (const CostModel* truth : {&std::as_const(fast), &slow}) {
    const CostModel model = value_of(calibrated_model(machine, truth->shape, WeightType::bf16));
    EXPECT_LT(greatest_difference(prices_of(model, truth->shape), prices_of(*truth, truth->shape), 64.0),
              0.03)
        << truth->shape.name;
    for (const CostNote& note : value_of(calibration_notes(machine, truth->shape, WeightType::bf16)))
      EXPECT_EQ(note.provenance, Provenance::measured) << note.text;
  }
  // If only one side was measured, its law is used, and a note says so.
  machine.shapes.pop_back();
  const auto notes = value_of(calibration_notes(machine, fast.shape, WeightType::bf16));
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_THAT(notes[0].text, HasSubstr("kernels of planted (bf16) measured there"));
  EXPECT_THAT(notes[1].text, HasSubstr("small stays in the last cache (32 MB), planted does not"));
  EXPECT_THAT(notes[2].text, HasSubstr("times the bytes that were measured there"));
}

TEST(LeaveOneOutOfACalibration, IsNoErrorWithoutNoiseAndFindsTheKernelThatContradicts) {
  const CostModel truth = planted_processor();
  MachineCalibration machine =
      planted_calibration({.truth = truth, .samples = 4, .noise = 0.0, .outliers = 0.0});
  const LeaveOneOut sound = value_of(leave_one_out(machine, truth.shape, truth.weights));
  EXPECT_EQ(sound.errors.size(), machine.shapes.front().kernels.size() - 2);  // Rounds are not predicted.
  EXPECT_LT(sound.p50, 0.01);
  EXPECT_LT(sound.pass_rms, 0.01);

  for (speculation::MeasuredKernel& kernel : machine.shapes.front().kernels)
    if (kernel.form.kind == speculation::KernelKind::target_pass && kernel.form.rows == 4) {
      kernel.ns.median *= 1.4;
      kernel.ns.high *= 1.4;
    }
  const LeaveOneOut contradicted =
      value_of(leave_one_out(machine, truth.shape, truth.weights, LeftOut::passes));
  for (const LeaveOneOut::Error& error : contradicted.errors) {
    EXPECT_TRUE(error.is_pass);
    if (error.kernel == "verification of 4 rows, context 64")
      EXPECT_NEAR(error.error, 1.0 / 1.4 - 1.0, 0.02);
    else
      EXPECT_LT(std::abs(error.error), 0.03) << error.kernel;
  }
  EXPECT_NEAR(contradicted.greatest, 1.0 - 1.0 / 1.4, 0.02);
}

TEST(Spreads, AreTheMedianAndTheQuartilesBetween) {
  const speculation::Spread odd = speculation::spread_of({5.0, 1.0, 4.0, 2.0, 3.0});
  EXPECT_EQ(odd.median, 3.0);
  EXPECT_EQ(odd.low, 2.0);
  EXPECT_EQ(odd.high, 4.0);
  EXPECT_EQ(odd.samples, 5);
  const speculation::Spread one = speculation::spread_of({7.0});
  EXPECT_EQ(one.low, 7.0);
  EXPECT_EQ(one.high, 7.0);
  EXPECT_EQ(speculation::spread_of({1.0, 2.0}).median, 1.5);
}

}  // namespace
}  // namespace draftscope::simulator
