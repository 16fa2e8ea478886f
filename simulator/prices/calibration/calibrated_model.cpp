// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "prices/fit/cost_observations.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/fit/pass_corrections.h"

namespace draftscope::simulator {

namespace {

constexpr double min_sigma = 0.01;  // Deviation of a machine between days.

CostLevel level_of(speculation::KernelKind kind) {
  if (kind == speculation::KernelKind::operation) return CostLevel::operation;
  return kind == speculation::KernelKind::draft_step || kind == speculation::KernelKind::target_pass
             ? CostLevel::pass
             : CostLevel::round;
}

/// Adds the variance of a factor that some parameters share.
template <typename Belongs>
void widen(CostModel& model, double sigma, Belongs belongs) {
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    for (std::size_t j = 0; j < cost_parameter_count; ++j)
      if (belongs(i) && belongs(j))
        model.covariance[i * cost_parameter_count + j] += sigma * sigma * model.values[i] * model.values[j];
}

/// The engine's law with its times and rates scaled to the measured passes of one row.
///     t = a · (launches and constants as in the law) + b · (bytes as in the law)
/// is the affine law of a kernel, divided by its first part.
EngineLaw scaled_to_passes(const EngineLaw& engine, const GpuSpecification& gpu,
                           const std::vector<const CalibratedShape*>& shapes) {
  std::vector<KernelTime> passes;
  for (const CalibratedShape* shape : shapes) {
    const CostVector specified = specified_values(gpu, shape->weights, &engine);
    for (const speculation::MeasuredKernel& kernel : shape->kernels) {
      if (level_of(kernel.form.kind) != CostLevel::pass || kernel.form.rows != 1) continue;
      const CostVector coefficients =
          kernel_coefficients(kernel.form, shape->shape, shape->weights, WidthLaw::steps);
      double constant_ns = 0.0;
      double bytes_ns = 0.0;
      for (std::size_t i = 0; i < cost_parameter_count; ++i)
        (is_rate_parameter(i) ? bytes_ns : constant_ns) += coefficients[i] * specified[i];
      passes.push_back({bytes_ns / constant_ns, kernel.ns.median / constant_ns});
    }
  }
  EngineLaw law = engine;
  const auto scales = fit_kernel_law(passes);
  if (!scales || scales->ns_per_byte <= 0.0) return law;
  for (double* const us : {&law.product_us, &law.head_us, &law.attention_us, &law.pass_us})
    *us *= scales->launch_ns;
  const auto slow_down = [&](double& efficiency) {
    efficiency = std::min(efficiency / scales->ns_per_byte, 1.0 / gpu.read_efficiency);
  };
  slow_down(law.head_efficiency);
  slow_down(law.context_efficiency);
  for (EngineProducts& products : law.products) slow_down(products.efficiency);
  return law;
}

/// Whether a step's weights stay in the last-level cache; false where that is unknown.
bool stays_in_cache(const MachineCalibration& calibration, const ModelShape& shape, WeightType weights) {
  return weight_bytes_per_step(shape, weights) <= calibration.cache_bytes;
}

/// The shapes whose kernels price `shape`, the nearest kind that the file has: the shape itself, shapes of
/// its number type on its side of the last-level cache, shapes of its number type, all.
std::vector<const CalibratedShape*> pricing_shapes(const MachineCalibration& calibration,
                                                   const ModelShape& shape, WeightType weights) {
  const bool cached = stays_in_cache(calibration, shape, weights);
  const auto nearness = [&](const CalibratedShape& measured) {
    if (measured.weights != weights) return 0;
    if (speculation::same_sizes(measured.shape, shape)) return 3;
    return stays_in_cache(calibration, measured.shape, measured.weights) == cached ? 2 : 1;
  };
  int nearest = 0;
  for (const CalibratedShape& measured : calibration.shapes) nearest = std::max(nearest, nearness(measured));
  std::vector<const CalibratedShape*> shapes;
  for (const CalibratedShape& measured : calibration.shapes)
    if (nearness(measured) == nearest) shapes.push_back(&measured);
  return shapes;
}

/// Kind of the passes that a kernel times; absent for operations, rounds, and passes of some sublayers only.
std::optional<MeasuredPassKind> pass_kind(const speculation::KernelForm& form, const ModelShape& shape) {
  const speculation::DraftSublayers& runs = form.sublayers;
  if (form.kind == speculation::KernelKind::draft_step)
    return MeasuredPassKind{
        .is_draft = true, .attention = runs.attention, .mlp = runs.mlp, .n_layers = shape.n_layers};
  if (form.kind != speculation::KernelKind::target_pass || runs.attention != shape.n_layers ||
      runs.mlp != shape.n_layers)
    return std::nullopt;
  return MeasuredPassKind{.is_vanilla = form.rows == 1, .rows = form.rows, .n_layers = shape.n_layers};
}

/// Relative error of a median, from its quartiles: at least the machine's deviation between days.
double median_error(const speculation::Spread& ns) {
  constexpr double quartiles_to_deviation = 1.349;
  const double deviation = (ns.high - ns.low) / quartiles_to_deviation / ns.median;
  return std::max(deviation / std::sqrt(static_cast<double>(ns.samples)), min_sigma);
}

/// The whole passes of a shape, so that they get their measured prices; of a kind's contexts the middle one.
std::vector<MeasuredPass> measured_passes(const CalibratedShape& measured, WidthLaw law) {
  std::map<MeasuredPassKind, std::vector<const speculation::MeasuredKernel*>> kernels;
  for (const speculation::MeasuredKernel& kernel : measured.kernels)
    if (const auto kind = pass_kind(kernel.form, measured.shape)) kernels[*kind].push_back(&kernel);
  std::vector<MeasuredPass> passes;
  for (auto& [kind, of_kind] : kernels) {
    std::ranges::stable_sort(of_kind, {}, [](const auto* kernel) { return kernel->form.context; });
    const speculation::MeasuredKernel& middle = *of_kind[of_kind.size() / 2];
    passes.push_back({.kind = kind,
                      .coefficients = kernel_coefficients(middle.form, measured.shape, measured.weights, law),
                      .ns = middle.ns.median,
                      .relative_error = median_error(middle.ns),
                      .passes = static_cast<double>(middle.ns.samples)});
  }
  return passes;
}

/// The fit without one kernel, or with all if `without` is null. Errors: those of fit_calibration().
Result<CostFit> fit_kernels(const MachineCalibration& calibration,
                            const std::vector<const CalibratedShape*>& shapes,
                            const speculation::MeasuredKernel* without) {
  if (shapes.empty()) return fail("calibration: has no shapes, expected at least one");
  CostObservations observations;
  observations.shape = shapes.front()->shape;
  observations.weights = shapes.front()->weights;
  observations.on_gpu = calibration.on_gpu();
  observations.width_law = observations.on_gpu ? WidthLaw::steps : WidthLaw::ramp;
  observations.launches_as_planned =
      observations.on_gpu && engine_of_version(calibration.engine_version).launches_as_planned;
  bool has_pass = false;
  for (const CalibratedShape* measured : shapes) {
    for (const speculation::MeasuredKernel& kernel : measured->kernels) {
      if (&kernel == without) continue;
      const speculation::KernelForm& form = kernel.form;
      observations.groups.push_back({.level = level_of(form.kind),
                                     .coefficients = kernel_coefficients(
                                         form, measured->shape, measured->weights, observations.width_law),
                                     .ns = kernel.ns.median,
                                     .samples = static_cast<double>(kernel.ns.samples)});
      has_pass = has_pass || observations.groups.back().level == CostLevel::pass;
      observations.largest_rows = std::max(observations.largest_rows, form.rows);
      observations.largest_context = std::max(observations.largest_context, form.context);
    }
  }
  if (!has_pass) return fail("calibration: has no draft step and no target pass, expected at least one");
  if (calibration.gpu.empty()) return fit_cost_model(observations);
  DRAFTSCOPE_TRY_ASSIGN(const GpuSpecification gpu, find_gpu(calibration.gpu));
  const EngineLaw& engine = engine_of_version(calibration.engine_version);
  const EngineLaw expected = scaled_to_passes(engine, gpu, shapes);
  return fit_cost_model(observations, gpu, &engine, &expected);
}

}  // namespace

std::string MachineCalibration::name() const {
  if (threads == 0) return processor;
  return fmt::format("{}, {} {}", processor, threads, threads == 1 ? "thread" : "threads");
}

Result<CostFit> fit_calibration(const MachineCalibration& calibration, const ModelShape& shape,
                                WeightType weights) {
  const auto shapes = pricing_shapes(calibration, shape, weights);
  DRAFTSCOPE_TRY_ASSIGN(CostFit fit, fit_kernels(calibration, shapes, nullptr));
  CostModel& model = fit.model;
  model.is_calibrated = true;
  for (const CalibratedShape* const measured : shapes) {
    if (measured->weights != weights || !speculation::same_sizes(measured->shape, shape)) continue;
    model.passes = measured_passes(*measured, model.width_law);
    model.correction_scale = correction_scale(model.passes, model.values);
    break;
  }
  // Values apply to bytes and launches of any shape; the weights' type is the measured one.
  model.shape = shape;
  return fit;
}

Result<CostModel> calibrated_model(const MachineCalibration& calibration, const ModelShape& shape,
                                   WeightType weights) {
  DRAFTSCOPE_TRY_ASSIGN(CostFit fit, fit_calibration(calibration, shape, weights));
  DRAFTSCOPE_TRY_ASSIGN(const LeaveOneOut errors,
                        leave_one_out(calibration, shape, weights, LeftOut::passes));
  const double sigma = std::max(errors.pass_rms, min_sigma);
  widen(fit.model, sigma, is_launch_parameter);
  widen(fit.model, sigma, is_rate_parameter);
  return std::move(fit.model);
}

Result<std::vector<CostNote>> calibration_notes(const MachineCalibration& calibration,
                                                const ModelShape& shape, WeightType weights) {
  const auto measured = pricing_shapes(calibration, shape, weights);
  DRAFTSCOPE_TRY_ASSIGN(const LeaveOneOut errors,
                        leave_one_out(calibration, shape, weights, LeftOut::passes));
  DRAFTSCOPE_TRY_ASSIGN(const CostFit fit, fit_calibration(calibration, shape, weights));
  std::vector<CostNote> notes;
  const bool cached = stays_in_cache(calibration, shape, weights);
  double nearest = 0.0;
  for (const CalibratedShape* one : measured) {
    notes.push_back({Provenance::measured, errors.pass_rms,
                     fmt::format("{} kernels of {} ({}) measured there; passes left out are predicted within "
                                 "{:.1f} % (rms)",
                                 one->kernels.size(), one->shape.name, weight_type_name(one->weights),
                                 100.0 * errors.pass_rms)});
    const double ratio =
        weight_bytes_per_step(shape, weights) / weight_bytes_per_step(one->shape, one->weights);
    if (nearest == 0.0 || std::abs(std::log(ratio)) < std::abs(std::log(nearest))) nearest = ratio;
    if (stays_in_cache(calibration, one->shape, one->weights) != cached)
      notes.push_back(
          {Provenance::extrapolated, 0.0,
           fmt::format("{} {} the last cache ({:.0f} MB), {} does not: its law is taken all the same",
                       shape.name, cached ? "stays in" : "exceeds", calibration.cache_bytes * 1e-6,
                       one->shape.name)});
  }
  constexpr double fits_badly = 0.1;
  if (std::max(errors.pass_rms, fit.report.pass_residual_p90) > fits_badly)
    notes.push_back(
        {Provenance::extrapolated, errors.pass_rms,
         fmt::format("the law fits badly: passes left out are off by {:.0f} % (rms), a tenth of its own by "
                     "{:.0f} % or more{}",
                     100.0 * errors.pass_rms, 100.0 * fit.report.pass_residual_p90,
                     fit.model.passes.empty() ? "; measure this model there (calibrate --model)"
                                              : "; passes that were measured are priced as measured")});
  constexpr double same = 1e-9;
  if (std::abs(nearest - 1.0) > same)
    notes.push_back({Provenance::extrapolated, 0.0,
                     fmt::format("a pass reads {:.3g} times the bytes that were measured there", nearest)});
  return notes;
}

Result<LeaveOneOut> leave_one_out(const MachineCalibration& calibration, const ModelShape& shape,
                                  WeightType weights, LeftOut which) {
  const auto shapes = pricing_shapes(calibration, shape, weights);
  LeaveOneOut result;
  double squares = 0.0;
  double passes = 0.0;
  std::vector<double> magnitudes;
  for (const CalibratedShape* measured : shapes) {
    for (const speculation::MeasuredKernel& kernel : measured->kernels) {
      const speculation::KernelForm& form = kernel.form;
      const bool is_pass = level_of(form.kind) == CostLevel::pass;
      if (!is_pass && (form.kind != speculation::KernelKind::operation || which == LeftOut::passes)) continue;
      DRAFTSCOPE_TRY_ASSIGN(const CostFit fit, fit_kernels(calibration, shapes, &kernel));
      const CostVector coefficients =
          kernel_coefficients(form, measured->shape, measured->weights, fit.model.width_law);
      const double predicted = dot(coefficients, fit.model.values);
      const double error = predicted / kernel.ns.median - 1.0;
      if (is_pass) {
        squares += error * error;
        passes += 1.0;
      }
      magnitudes.push_back(std::abs(error));
      result.errors.push_back({kernel_name(form, measured->shape), is_pass, error});
    }
  }
  if (magnitudes.empty()) return result;
  result.greatest = *std::max_element(magnitudes.begin(), magnitudes.end());
  result.p50 = speculation::spread_of(std::move(magnitudes)).median;
  if (passes > 0.0) result.pass_rms = std::sqrt(squares / passes);
  return result;
}

}  // namespace draftscope::simulator
