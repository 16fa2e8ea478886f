// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/cost_model.h>

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/fit/pass_corrections.h"
#include "prices/fit/robust_fit.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr auto unknowns = static_cast<Index>(cost_parameter_count);

std::vector<double> row_major(const MatrixXd& matrix) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(matrix.size()));
  for (Index i = 0; i < matrix.rows(); ++i)
    for (Index j = 0; j < matrix.cols(); ++j) values.push_back(matrix(i, j));
  return values;
}

FitData fit_data(const std::vector<CostObservation>& groups) {
  const auto count = static_cast<Index>(groups.size());
  FitData data{MatrixXd::Zero(count, unknowns), VectorXd::Zero(count), VectorXd::Zero(count),
               VectorXd::Zero(count)};
  for (Index i = 0; i < count; ++i) {
    const CostObservation& group = groups[static_cast<std::size_t>(i)];
    for (Index j = 0; j < unknowns; ++j) data.rows(i, j) = group.coefficients[static_cast<std::size_t>(j)];
    data.times[i] = group.ns;
    // With few samples not even the scatter is known.
    data.weights[i] = group.samples / (group.samples + 4.0);
    data.errors[i] = group.relative_error;
  }
  return data;
}

double quantile_or_0(std::vector<double>& values, double share) {
  return values.empty() ? 0.0 : nearest_quantile(values, share);
}

/// Lower bounds of parameters. A product can't be faster than the memory.
VectorXd lower_bounds(const std::optional<GpuSpecification>& gpu) {
  VectorXd lower = VectorXd::Zero(unknowns);
  if (!gpu) return lower;
  for (std::size_t i = 0; i < speculation::product_count; ++i)
    lower[static_cast<Index>(per_byte_parameter(static_cast<speculation::Operation>(i)))] =
        1.0 / gpu->bandwidth_gb_s;
  return lower;
}

void fill_residuals(const std::vector<CostObservation>& groups, const CostVector& values,
                    CostFitReport& report) {
  std::vector<double> all;
  std::vector<double> passes;
  for (const CostObservation& group : groups) {
    const double residual = std::abs(dot(group.coefficients, values) / group.ns - 1.0);
    all.push_back(residual);
    if (group.level == CostLevel::pass) passes.push_back(residual);
  }
  report.groups = groups.size();
  report.residual_p50 = quantile_or_0(all, 0.5);
  report.residual_p90 = quantile_or_0(all, 0.9);
  report.pass_residual_p50 = quantile_or_0(passes, 0.5);
  report.pass_residual_p90 = quantile_or_0(passes, 0.9);
}

/// Compares the sum of all passes, at the corrected times of the law, with the wall time.
void fill_conservation(const CostObservations& observations, const CostModel& model, CostFitReport& report) {
  std::vector<MeasuredPassKind> kinds;
  for (const MeasuredPass& pass : model.passes) kinds.push_back(pass.kind);
  const VectorXd logs = correction_logs(model.passes, model.correction_scale, kinds, model.values);
  const auto step_rounds = static_cast<double>(observations.rounds - observations.drafting_rounds);
  double modelled_ns = static_cast<double>(observations.drafting_rounds) * model.values[round_parameter] +
                       step_rounds * model.values[step_round_parameter];
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const MeasuredPass& pass = model.passes[i];
    const double corrected_ns = dot(pass.coefficients, model.values) * std::exp(logs[static_cast<Index>(i)]);
    modelled_ns += pass.passes * corrected_ns;
  }
  if (observations.total_wall_ns > 0.0)
    report.conservation_residual = 1.0 - (1.0 + model.stall_share) * modelled_ns / observations.total_wall_ns;
}

/// Prices drafts on weights of their own by the law of products of their type. The coefficients of such a
/// draft become multiples of the model's values, by which the mean draft of the type takes its measured time.
void put_draft_types(CostModel& model) {
  struct Sums {
    double measured_ns = 0.0;
    double law_ns = 0.0;
  };
  std::map<WeightType, Sums> by_type;
  for (MeasuredPass& pass : model.passes) {
    if (!pass.kind.weights) continue;
    const CostVector ratios = type_ratios(model, model.weights, *pass.kind.weights);
    Sums& sums = by_type[*pass.kind.weights];
    sums.measured_ns += pass.passes * pass.ns;
    for (std::size_t i = 0; i < cost_parameter_count; ++i) {
      if (i != draft_start_parameter) pass.coefficients[i] *= ratios[i];
      const double ns = pass.passes * pass.coefficients[i] * model.values[i];
      if (is_of_layer_products(i))
        sums.law_ns += ns;
      else
        sums.measured_ns -= ns;
    }
  }
  constexpr double min_factor = 0.1;
  constexpr double max_factor = 10.0;
  for (const auto& [type, sums] : by_type)
    if (sums.law_ns > 0.0)
      model.draft_types.push_back({type, std::clamp(sums.measured_ns / sums.law_ns, min_factor, max_factor)});
  for (MeasuredPass& pass : model.passes)
    for (const MeasuredDraftType& known : model.draft_types)
      for (std::size_t i = 0; pass.kind.weights == known.type && i < cost_parameter_count; ++i)
        if (is_of_layer_products(i)) pass.coefficients[i] *= known.factor;
}

Result<void> check_groups(const std::vector<CostObservation>& groups) {
  if (groups.empty()) return fail("cost model: the trace has no rounds, expected some to fit to");
  for (const CostObservation& group : groups)
    if (!(group.ns > 0.0) || !std::isfinite(group.ns) || !(group.samples > 0.0))
      return fail("cost model: a group took {} ns in {} samples, expected more than 0", group.ns,
                  group.samples);
  return {};
}

CostModel fitted_model(const CostObservations& observations, const std::optional<GpuSpecification>& gpu,
                       const EngineLaw& engine, const RobustFit& fit) {
  CostModel model;
  model.shape = observations.shape;
  model.weights = observations.weights;
  model.width_law = observations.width_law;
  model.gpu = gpu;
  if (gpu) model.engine = &engine;
  model.launches_as_planned = observations.launches_as_planned;
  model.regime = observations.on_gpu ? Regime::graph : Regime::as_fitted;
  model.from_trace = true;
  for (std::size_t i = 0; i < cost_parameter_count; ++i) model.values[i] = fit.x[static_cast<Index>(i)];
  model.covariance = row_major(fit.covariance);
  model.largest_rows = observations.largest_rows;
  model.largest_context = observations.largest_context;
  model.passes = observations.passes;
  put_draft_types(model);
  model.correction_scale = correction_scale(model.passes, model.values);
  model.interrupted_share = observations.interrupted_share;
  const double uninterrupted_ns = observations.total_wall_ns - observations.interruptions_ns;
  if (uninterrupted_ns > 0.0) model.stall_share = observations.interruptions_ns / uninterrupted_ns;
  return model;
}

/// Report on one parameter of the fit; `prior_sigma` is its standard deviation before the fit.
FittedParameter fitted_parameter(const CostModel& model, const RobustFit& fit, const FitData& data, Index i,
                                 double prior_sigma) {
  FittedParameter parameter;
  const auto place = static_cast<std::size_t>(i);
  parameter.name = cost_parameter_name(model.width_law, place);
  parameter.value = fit.x[i];
  parameter.sigma = std::sqrt(std::max(fit.covariance(i, i), 0.0));
  parameter.at_bound = fit.at_bound[place];
  const bool is_common = place == common_launch_parameter || place == common_per_byte_parameter;
  const bool has_data = is_common || data.rows.col(i).any();
  if (has_data && parameter.sigma <= 0.5 * prior_sigma)
    parameter.source = ParameterSource::trace;
  else
    parameter.source = model.gpu ? ParameterSource::prior : ParameterSource::not_identified;
  return parameter;
}

}  // namespace

Result<CostFit> fit_cost_model(const CostObservations& observations,
                               const std::optional<GpuSpecification>& gpu, const EngineLaw* engine,
                               const EngineLaw* expected) {
  DRAFTSCOPE_TRY(check_groups(observations.groups));
  const EngineLaw& of = engine == nullptr ? current_engine() : *engine;
  EngineLaw prior = expected == nullptr ? of : *expected;
  prior.gpu = {};  // The engine may have changed since its law was measured, so that the priors are wide.
  const std::vector<GaussianPrior> priors =
      gpu ? gpu_priors(*gpu, observations.weights, &prior) : scale_priors(observations);
  const FitData data = fit_data(observations.groups);
  const RobustFit fit = robust_fit(data, priors, lower_bounds(gpu));

  CostFit result{.model = fitted_model(observations, gpu, of, fit), .report = {}};
  CostModel& model = result.model;
  CostFitReport& report = result.report;
  report.has_gpu_prior = gpu.has_value();
  fill_residuals(observations.groups, model.values, report);
  fill_conservation(observations, model, report);
  const MatrixXd before = prior_covariance(priors, unknowns);
  for (Index i = 0; i < unknowns; ++i) {
    report.parameters.push_back(fitted_parameter(model, fit, data, i, std::sqrt(before(i, i))));
    model.sources[static_cast<std::size_t>(i)] = report.parameters.back().source;
  }
  return result;
}

CostModel cost_model_of(const GpuSpecification& gpu, const ModelShape& shape, WeightType weights,
                        const EngineLaw* engine) {
  CostModel model;
  model.shape = shape;
  model.weights = weights;
  model.width_law = WidthLaw::steps;
  model.gpu = gpu;
  model.regime = Regime::graph;
  model.engine = engine;
  model.launches_as_planned = engine != nullptr && engine->launches_as_planned;
  model.values = specified_values(gpu, weights, engine);
  model.sources.fill(ParameterSource::prior);
  model.covariance = row_major(prior_covariance(gpu_priors(gpu, weights, engine), unknowns));
  return model;
}

Result<KernelLaw> fit_kernel_law(std::span<const KernelTime> kernels) {
  constexpr std::size_t fewest = 2;
  if (kernels.size() < fewest) return fail("calibration: {} kernels, expected at least 2", kernels.size());
  const auto count = static_cast<Index>(kernels.size());
  FitData data{MatrixXd::Zero(count, 2), VectorXd::Zero(count), VectorXd::Ones(count), VectorXd::Zero(count)};
  for (Index i = 0; i < count; ++i) {
    const KernelTime& kernel = kernels[static_cast<std::size_t>(i)];
    if (!(kernel.bytes > 0.0) || !(kernel.ns > 0.0) || !std::isfinite(kernel.bytes * kernel.ns))
      return fail("calibration: kernel {} moved {} bytes in {} ns, expected more than 0", i, kernel.bytes,
                  kernel.ns);
    data.rows(i, 0) = 1.0;
    data.rows(i, 1) = kernel.bytes;
    data.times[i] = kernel.ns;
  }
  const RobustFit fit = robust_fit(data, {}, VectorXd::Zero(2));
  return KernelLaw{fit.x[0], fit.x[1], std::sqrt(fit.covariance(0, 0)), std::sqrt(fit.covariance(1, 1))};
}

}  // namespace draftscope::simulator
