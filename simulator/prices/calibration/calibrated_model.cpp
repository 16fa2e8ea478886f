// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>
#include <algorithm>
#include <cmath>

#include "prices/fit/cost_observations.h"
#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_priors.h"
#include "prices/fit/cost_work.h"

namespace draftscope::simulator {

namespace {

constexpr double min_sigma = 0.01;  // Deviation of a machine between days.

CostLevel level_of(speculation::KernelKind kind) {
  if (kind == speculation::KernelKind::operation) return CostLevel::operation;
  return kind == speculation::KernelKind::draft_step || kind == speculation::KernelKind::target_pass
             ? CostLevel::pass
             : CostLevel::round;
}

bool is_launch(std::size_t parameter) {
  return parameter == common_launch_parameter ||
         (parameter < 2 * speculation::operation_count && parameter % 2 == 0);
}

bool is_rate(std::size_t parameter) {
  return parameter == common_per_byte_parameter || (parameter < layer_parameter && !is_launch(parameter));
}

/// Adds the variance of a factor that some parameters share.
template <typename Belongs>
void widen(CostModel& model, double sigma, Belongs belongs) {
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    for (std::size_t j = 0; j < cost_parameter_count; ++j)
      if (belongs(i) && belongs(j))
        model.covariance[i * cost_parameter_count + j] += sigma * sigma * model.values[i] * model.values[j];
}

/// The specification with t0 and efficiency scaled to the measured passes of one row. Its uncertainty is that
/// of a GPU without measurements, since a few kernels that contradict a narrow prior would look like noise.
///     t = a · (launches and constants as specified) + b · (bytes as specified)
/// is the affine law of a kernel, divided by its first part.
GpuSpecification scaled_to_passes(GpuSpecification gpu, const std::vector<const CalibratedShape*>& shapes) {
  std::vector<KernelTime> passes;
  for (const CalibratedShape* shape : shapes) {
    const CostVector specified = specified_values(gpu, shape->weights);
    for (const speculation::MeasuredKernel& kernel : shape->kernels) {
      if (level_of(kernel.form.kind) != CostLevel::pass || kernel.form.rows != 1) continue;
      const CostVector coefficients =
          kernel_coefficients(kernel.form, shape->shape, shape->weights, WidthLaw::steps);
      double constant_ns = 0.0;
      double bytes_ns = 0.0;
      for (std::size_t i = 0; i < cost_parameter_count; ++i)
        (is_rate(i) ? bytes_ns : constant_ns) += coefficients[i] * specified[i];
      passes.push_back({bytes_ns / constant_ns, kernel.ns.median / constant_ns});
    }
  }
  gpu.calibration = Calibration::family;
  for (auto& law : gpu.narrow_products)
    if (law) law->calibration = Calibration::family;
  const auto scales = fit_kernel_law(passes);
  if (!scales || scales->ns_per_byte <= 0.0) return gpu;
  gpu.t0_us *= scales->launch_ns;
  gpu.efficiency = std::min(gpu.efficiency / scales->ns_per_byte, 1.0);
  for (auto& law : gpu.narrow_products) {
    if (!law) continue;
    law->t0_us *= scales->launch_ns;
    law->efficiency = std::min(law->efficiency / scales->ns_per_byte, 1.0);
  }
  return gpu;
}

/// Whether a step's weights stay in the last-level cache; false where that is unknown.
bool stays_in_cache(const MachineCalibration& calibration, const ModelShape& shape, WeightType weights) {
  return weight_bytes_per_step(shape, weights) <= calibration.cache_bytes;
}

/// The shapes whose kernels price `shape`: those on its side of the last-level cache, or all if there are
/// none or the cache size is unknown.
std::vector<const CalibratedShape*> pricing_shapes(const MachineCalibration& calibration,
                                                   const ModelShape& shape, WeightType weights) {
  const bool cached = stays_in_cache(calibration, shape, weights);
  std::vector<const CalibratedShape*> same_side;
  std::vector<const CalibratedShape*> all;
  for (const CalibratedShape& measured : calibration.shapes) {
    all.push_back(&measured);
    if (stays_in_cache(calibration, measured.shape, measured.weights) == cached)
      same_side.push_back(&measured);
  }
  return same_side.empty() ? all : same_side;
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
  return fit_cost_model(observations, scaled_to_passes(gpu, shapes));
}

}  // namespace

std::string MachineCalibration::name() const {
  if (threads == 0) return processor;
  return fmt::format("{}, {} {}", processor, threads, threads == 1 ? "thread" : "threads");
}

Result<CostFit> fit_calibration(const MachineCalibration& calibration, const ModelShape& shape,
                                WeightType weights) {
  DRAFTSCOPE_TRY_ASSIGN(CostFit fit,
                        fit_kernels(calibration, pricing_shapes(calibration, shape, weights), nullptr));
  // Values apply to bytes and launches of any shape; the weights' type is the measured one.
  fit.model.shape = shape;
  return fit;
}

Result<CostModel> calibrated_model(const MachineCalibration& calibration, const ModelShape& shape,
                                   WeightType weights) {
  DRAFTSCOPE_TRY_ASSIGN(CostFit fit, fit_calibration(calibration, shape, weights));
  DRAFTSCOPE_TRY_ASSIGN(const LeaveOneOut errors,
                        leave_one_out(calibration, shape, weights, LeftOut::passes));
  const double sigma = std::max(errors.pass_rms, min_sigma);
  widen(fit.model, sigma, is_launch);
  widen(fit.model, sigma, is_rate);
  return std::move(fit.model);
}

Result<std::vector<CostNote>> calibration_notes(const MachineCalibration& calibration,
                                                const ModelShape& shape, WeightType weights) {
  const auto measured = pricing_shapes(calibration, shape, weights);
  DRAFTSCOPE_TRY_ASSIGN(const LeaveOneOut errors,
                        leave_one_out(calibration, shape, weights, LeftOut::passes));
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
