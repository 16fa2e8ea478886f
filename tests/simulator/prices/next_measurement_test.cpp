// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "must.h"
#include "planted_calibration.h"
#include "prices/costs/cost_parameters.h"
#include "prices/costs/cost_prices.h"

namespace draftscope::simulator {
namespace {

using ::testing::HasSubstr;

CostModel fitted() {
  return must(fit_calibration(planted_calibration({.truth = planted_processor()}), planted_processor().shape,
                              WeightType::bf16))
      .model;
}

/// Only one parameter is uncertain, by a tenth of its value or so.
CostModel uncertain_in(std::size_t parameter) {
  CostModel model = planted_processor();
  model.covariance[parameter * (cost_parameter_count + 1)] = std::pow(0.1 * model.values[parameter], 2);
  return model;
}

/// ln of a round's time over a vanilla step's, by the prices that answers are made of.
double log_cost(const CostModel& model, const RoundCostQuestion& question) {
  Scenario scenario = fitted_scenario(model);
  scenario.with_stalls = false;
  const Prices found = must(prices(model, scenario));
  const DraftPrices& draft = found.drafts[static_cast<std::size_t>(question.exit)];
  double round =
      found.round_ns + draft.verify[static_cast<std::size_t>(question.gamma) + 1].at(question.context);
  for (std::int32_t i = 0; i < question.gamma; ++i) round += draft.step.at(question.context + i);
  return std::log(round / (found.target_step.at(question.context) + found.step_round_ns));
}

TEST(CostGradient, IsTheDerivativeOfWhatPricesSay) {
  const CostModel model = planted_processor();
  for (const RoundCostQuestion& question :
       {RoundCostQuestion{1, 1, 0.0}, RoundCostQuestion{3, 4, 512.0}, RoundCostQuestion{7, 11, 2000.0}}) {
    const CostVector gradient = must(cost_gradient(model, question));
    for (std::size_t i = 0; i < cost_parameter_count; ++i) {
      const double step = 1e-4 * std::max(model.values[i], 1e-3);
      // Prices never take a value below 0, so that some have their slope on one side alone.
      const double back = model.values[i] > 0.0 ? step : 0.0;
      CostModel above = model;
      CostModel below = model;
      above.values[i] += step;
      below.values[i] -= back;
      const double slope = (log_cost(above, question) - log_cost(below, question)) / (step + back);
      EXPECT_NEAR(gradient[i], slope, 1e-4 * std::abs(slope) + 1e-9)
          << cost_parameter_name(model.width_law, i);
    }
  }
}

TEST(CostGradient, RefusesRoundsThatDoNotExist) {
  const CostModel model = planted_processor();
  EXPECT_THAT(cost_gradient(model, {.exit = 8}).error().message, HasSubstr("exit is 8, expected 1 to 7"));
  EXPECT_THAT(cost_gradient(model, {.exit = 0}).error().message, HasSubstr("exit is 0"));
  EXPECT_THAT(cost_gradient(model, {.gamma = 0}).error().message, HasSubstr("gamma is 0"));
  EXPECT_THAT(cost_gradient(model, {.context = NAN}).error().message, HasSubstr("context is nan"));
}

// Bayes' rule on the whole covariance is the independent statement of what a measurement leaves.
TEST(NextMeasurements, TakeOffTheVarianceThatBayesRuleSays) {
  CostModel model = planted_processor();
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  constexpr auto n = static_cast<Eigen::Index>(cost_parameter_count);
  Eigen::MatrixXd root(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      root(i, j) = 0.03 * std::max(model.values[static_cast<std::size_t>(i)], 1e-3) * normal(random);
  const Eigen::MatrixXd covariance = root * root.transpose();
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j < n; ++j)
      model.covariance[static_cast<std::size_t>(i * n + j)] = covariance(i, j);
  const CostVector gradient = must(cost_gradient(model, {.exit = 2, .gamma = 5, .context = 300.0}));
  const Eigen::Map<const Eigen::VectorXd> g(gradient.data(), n);
  const double before = g.dot(covariance * g);
  EXPECT_NEAR(answer_sigma(model, gradient), std::sqrt(before), 1e-9 * std::sqrt(before));
  constexpr double noise = 0.02;
  const std::vector<speculation::KernelForm> candidates = measurable_kernels(model.shape);
  const auto ranked = next_measurements(model, gradient, candidates, noise);
  ASSERT_EQ(ranked.size(), candidates.size());
  double previous = 1.0;
  for (const NextMeasurement& next : ranked) {
    const CostVector coefficients =
        kernel_coefficients(next.form, model.shape, model.weights, model.width_law);
    const Eigen::Map<const Eigen::VectorXd> a(coefficients.data(), n);
    const Eigen::Map<const Eigen::VectorXd> values(model.values.data(), n);
    const double deviation = noise * a.dot(values);
    // (Σ⁻¹ + aaᵀ/s²)⁻¹ without inverting Σ: the gain of a Kalman filter.
    const Eigen::VectorXd gain = covariance * a / (a.dot(covariance * a) + deviation * deviation);
    const Eigen::MatrixXd after = covariance - gain * a.transpose() * covariance;
    EXPECT_NEAR(next.variance_share, 1.0 - g.dot(after * g) / before, 1e-9);
    const auto entropy = [](const Eigen::MatrixXd& of) {
      return of.selfadjointView<Eigen::Lower>()
          .llt()
          .matrixL()
          .toDenseMatrix()
          .diagonal()
          .array()
          .log()
          .sum();
    };
    EXPECT_NEAR(next.information, entropy(covariance) - entropy(after), 1e-6);
    EXPECT_LE(next.variance_share, previous);
    previous = next.variance_share;
  }
}

TEST(NextMeasurements, NameTheKernelThatKnowsTheUnknownParameter) {
  const auto best = [](std::size_t parameter) {
    const CostModel model = uncertain_in(parameter);
    const CostVector gradient = must(cost_gradient(model, {.exit = 2, .gamma = 4, .context = 512.0}));
    return next_measurements(model, gradient, measurable_kernels(model.shape), 1e-4).front();
  };
  EXPECT_EQ(best(draft_step_parameter).form.kind, speculation::KernelKind::draft_step);
  EXPECT_EQ(best(draft_step_parameter).form.sublayers.mlp, 1);  // where it is the greatest share
  EXPECT_EQ(best(target_pass_parameter).form.kind, speculation::KernelKind::target_pass);
  EXPECT_EQ(best(attention_row_kv_parameter).form.context, 4096.0);
  EXPECT_GT(best(attention_row_kv_parameter).form.rows, 1);
  EXPECT_GT(best(width_parameter(speculation::Operation::gate_up, 1)).form.rows, 2);
  for (const std::size_t parameter : {draft_step_parameter, attention_row_kv_parameter}) {
    EXPECT_GT(best(parameter).variance_share, 0.9);  // exact measurements leave nothing
    EXPECT_LE(best(parameter).variance_share, 1.0);
  }
}

TEST(NextMeasurements, MakeTheAnswerSurerThanTheLastOnTheirList) {
  MachineCalibration machine = planted_calibration({.truth = planted_processor()});
  std::vector<speculation::MeasuredKernel>& kernels = machine.shapes.front().kernels;
  std::erase_if(kernels, [](const speculation::MeasuredKernel& kernel) {
    return kernel.form.rows > 1 || kernel.form.context > 64.0;
  });
  const ModelShape shape = planted_processor().shape;
  const auto sigma_with = [&](const std::optional<speculation::KernelForm>& more) {
    MachineCalibration with = machine;
    if (more) {
      const CostModel truth = planted_processor();
      const CostVector coefficients = kernel_coefficients(*more, shape, WeightType::bf16, truth.width_law);
      double ns = 0.0;
      for (std::size_t i = 0; i < cost_parameter_count; ++i) ns += coefficients[i] * truth.values[i];
      with.shapes.front().kernels.push_back({*more, {ns, ns, ns, 200}});
    }
    const CostFit fit = must(fit_calibration(with, shape, WeightType::bf16));
    return answer_sigma(fit.model, must(cost_gradient(fit.model, {.exit = 2, .gamma = 5, .context = 512.0})));
  };
  const CostFit fit = must(fit_calibration(machine, shape, WeightType::bf16));
  const CostVector gradient = must(cost_gradient(fit.model, {.exit = 2, .gamma = 5, .context = 512.0}));
  const auto ranked = next_measurements(fit.model, gradient, measurable_kernels(shape), 0.01);
  EXPECT_LT(sigma_with(ranked.front().form), 0.7 * sigma_with({}));
  EXPECT_LT(sigma_with(ranked.front().form), sigma_with(ranked.back().form));
}

TEST(NextMeasurements, WithoutAnAnswerGoByInformation) {
  const CostModel model = fitted();
  const auto ranked = next_measurements(model, {}, measurable_kernels(model.shape), 0.01);
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    EXPECT_EQ(ranked[i].variance_share, 0.0);
    EXPECT_GE(ranked[i].information, 0.0);
    if (i > 0) {
      EXPECT_LE(ranked[i].information, ranked[i - 1].information);
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
