// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../../value_of.h"
#include "planted_calibration.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/passes/cost_prices.h"
#include "prices/passes/cost_transfer.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

Prices prices_of(const CostModel& model, const ModelShape& shape) {
  Scenario scenario = fitted_scenario(model);
  scenario.shape = shape;
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
    EXPECT_LT(std::abs(width.factor / factor_at(width.context) - 1.0), 1e-9) << width.context;
  }
  EXPECT_TRUE(std::ranges::is_sorted(laws.widths, [](const WidthFactor& a, const WidthFactor& b) {
    return std::pair(a.rows, a.context) < std::pair(b.rows, b.context);
  }));
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
    const CostModel specified = cost_model_of(*truth.gpu, shape, WeightType::bf16, truth.engine);
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
  const CostVector specified = specified_values(*truth.gpu, WeightType::bf16, truth.engine);
  // Widths are as specified, although one row's bytes take longer here.
  const double rate = model.values[common_per_byte_parameter] / specified[common_per_byte_parameter];
  EXPECT_NEAR(rate, 1.25, 0.1);
  for (std::size_t product = 0; product < speculation::product_count; ++product)
    for (std::size_t term = 0; term < width_terms; ++term) {
      const std::size_t width = width_parameter(static_cast<speculation::Operation>(product), term);
      EXPECT_EQ(model.sources[width], ParameterSource::prior);
      EXPECT_NEAR(model.values[width], specified[width], 0.1 * specified[width]);
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
    ModelShape neighbour = truth->shape;  // Nobody measured it, so that the side of the cache decides.
    neighbour.name = "near";
    neighbour.d_ff += 64;
    const CostModel model = value_of(calibrated_model(machine, neighbour, WeightType::bf16));
    EXPECT_LT(greatest_difference(prices_of(model, neighbour), prices_of(*truth, neighbour), 64.0), 0.05)
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

TEST(CalibratedModel, OfAnImportStaysWithAnotherEnginesHost) {
  const CostModel truth = planted_gpu();
  const MachineCalibration machine = planted_calibration({.truth = truth, .with_operations = false});
  CostModel model = value_of(calibrated_model(machine, truth.shape, WeightType::bf16));
  model.from_trace = false;
  Scenario scenario = fitted_scenario(model);
  scenario.gpu = model.gpu;
  scenario.host = find_host_time("serving").value();
  ASSERT_NE(scenario.host->law, model.engine);
  EXPECT_TRUE(transfer(model, scenario).model.is_calibrated);
}

struct PassesByContext {
  std::int32_t layers;
  std::int32_t rows;
  std::vector<std::pair<double, double>> ns;  ///< By context.
};

CalibratedShape measured_shape(const char* name, std::initializer_list<PassesByContext> passes) {
  CalibratedShape measured{.shape = value_of(speculation::find_model_shape(name)), .kernels = {}};
  for (const PassesByContext& pass : passes) {
    const bool is_whole = pass.layers == measured.shape.n_layers;
    const auto kind = is_whole ? speculation::KernelKind::target_pass : speculation::KernelKind::draft_step;
    for (const auto& [context, ns] : pass.ns)
      measured.kernels.push_back(
          {{.kind = kind, .sublayers = {pass.layers, pass.layers}, .rows = pass.rows, .context = context},
           {ns, 0.99 * ns, 1.01 * ns, 30}});
  }
  return measured;
}

/// Whole passes and drafts that `calibrate` timed with release 0.2.0 on an H200 on 2026-11-26.
MachineCalibration h200_of_release_0_2() {
  MachineCalibration machine{.device = "cuda",
                             .processor = "NVIDIA H200",
                             .engine_version = "0.2.0",
                             .gpu = "H200-SXM5-141GB",
                             .shapes = {}};
  machine.shapes.push_back(
      measured_shape("Llama-3-8B", {{8, 1, {{9, 1857845}}},
                                    {16, 1, {{7, 3182094}}},
                                    {32, 1, {{8.5, 6092162}, {64, 6118630}, {1024, 6028726}}},
                                    {32, 2, {{64, 4927075}}},
                                    {32, 4, {{6, 5482306}, {64, 5145550}}},
                                    {32, 8, {{6, 5539467}, {64, 5443068}, {1024, 5605203}}},
                                    {32, 16, {{64, 6080716}}}}));
  machine.shapes.push_back(
      measured_shape("Llama-3.2-1B", {{4, 1, {{9, 403840}}},
                                      {8, 1, {{7.5, 633126}}},
                                      {16, 1, {{8.5, 1093983}, {64, 1090100}, {1024, 1137192}}},
                                      {16, 2, {{64, 1117507}}},
                                      {16, 4, {{6.5, 1094774}, {64, 1160992}}},
                                      {16, 8, {{6, 1203318}, {64, 1283792}, {1024, 1376524}}},
                                      {16, 16, {{64, 1453033}}}}));
  return machine;
}

TEST(CalibratedModel, GivesBackTheShapesThatWereMeasuredWhateverElseIsInTheFile) {
  const MachineCalibration both = h200_of_release_0_2();
  for (const CalibratedShape& measured : both.shapes) {
    MachineCalibration alone = both;
    alone.shapes = {measured};
    MachineCalibration renamed = both;
    renamed.shapes.push_back(measured);
    renamed.shapes.back().shape.d_ff *= 2;  // Its passes contradict its shape.
    for (const MachineCalibration& machine : {alone, both, renamed}) {
      const CostModel model = value_of(calibrated_model(machine, measured.shape, measured.weights));
      const Prices found = prices_of(model, measured.shape);
      const auto measured_ns = [&](std::int32_t rows) {
        const auto kernel = std::ranges::find_if(measured.kernels, [&](const auto& one) {
          return one.form.kind == speculation::KernelKind::target_pass && one.form.rows == rows &&
                 one.form.context == 64.0;
        });
        return kernel->ns.median;
      };
      EXPECT_NEAR(found.target_step.at(64.0) / measured_ns(1), 1.0, 0.02) << measured.shape.name;
      for (const std::int32_t rows : {8, 16}) {
        // A draft starts in the time of the draft's first step, though it is summed with the verification.
        const DraftPrices& draft = found.drafts[1];
        const double verify_ns = draft.verify[static_cast<std::size_t>(rows)].at(64.0) - draft.start_ns;
        EXPECT_NEAR(verify_ns / found.target_step.at(64.0) / (measured_ns(rows) / measured_ns(1)), 1.0, 0.03)
            << measured.shape.name << ", rows " << rows;
      }
      EXPECT_FALSE(value_of(PriceMap::make(model, fitted_scenario(model))).is_as_recorded());
    }
  }
}

TEST(CalibratedModel, SaysWhereItsLawFitsBadly) {
  MachineCalibration machine = h200_of_release_0_2();
  machine.shapes.pop_back();
  const auto says_so = [&] {
    const CalibratedShape& measured = machine.shapes.front();
    const auto notes = value_of(calibration_notes(machine, measured.shape, measured.weights));
    return std::ranges::any_of(
        notes, [](const CostNote& note) { return note.text.find("fits badly") != std::string::npos; });
  };
  EXPECT_TRUE(says_so());  // Two rows take less time than one.
  machine = planted_calibration({.truth = planted_gpu(), .with_operations = false});
  EXPECT_FALSE(says_so());
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
