// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

namespace {

bool is_pass(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::draft_step ||
         form.kind == speculation::KernelKind::target_pass;
}

bool is_product(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::operation &&
         static_cast<std::size_t>(form.operation) < speculation::product_count;
}

bool is_attention(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::operation &&
         form.operation == speculation::Operation::attention;
}

CostCoefficients pass_coefficients(const speculation::KernelForm& form, const ModelShape& shape,
                                   WeightType weights, WidthLaw law) {
  const PassForm rows{.rows = static_cast<double>(form.rows)};
  CostCoefficients sum = operation_coefficients(speculation::Operation::head, shape, weights, law, rows);
  add(sum, attention_coefficients(shape, weights, law, rows), form.sublayers.attention);
  add(sum, mlp_coefficients(shape, weights, law, rows), form.sublayers.mlp);
  sum.fixed[form.kind == speculation::KernelKind::draft_step ? draft_step_parameter
                                                             : target_pass_parameter] += 1.0;
  return sum;
}

double operation_bytes(speculation::Operation operation, const speculation::KernelForm& form,
                       const ModelShape& shape, WeightType weights) {
  const Work work = work_of(operation, shape, weights, form.rows);
  return work.bytes + form.context * work.kv_bytes_per_context_row;
}

std::string sublayers_text(const speculation::DraftSublayers& sublayers) {
  if (sublayers.attention == sublayers.mlp) return fmt::format("{} layers", sublayers.mlp);
  return fmt::format("{} attention and {} MLP sublayers", sublayers.attention, sublayers.mlp);
}

std::string work_text(const speculation::KernelForm& form, const ModelShape& shape) {
  const bool whole = form.sublayers.attention == shape.n_layers && form.sublayers.mlp == shape.n_layers;
  switch (form.kind) {
    case speculation::KernelKind::operation:
      return fmt::format("{}, {} {}", speculation::operation_name(form.operation), form.rows,
                         form.rows == 1 ? "row" : "rows");
    case speculation::KernelKind::draft_step:
      return "draft step of " + sublayers_text(form.sublayers);
    case speculation::KernelKind::target_pass:
      if (!whole) return fmt::format("target pass of {}, rows {}", sublayers_text(form.sublayers), form.rows);
      return form.rows == 1 ? "target step" : fmt::format("verification of {} rows", form.rows);
    case speculation::KernelKind::drafting_round:
      return "rest of a round with a draft";
    case speculation::KernelKind::step_round:
      break;
  }
  return "rest of a round without a draft";
}

std::optional<AffineLaw> law_of(const CalibratedShape& shape,
                                const std::function<bool(const speculation::KernelForm&)>& belongs) {
  std::vector<KernelTime> kernels;
  for (const speculation::MeasuredKernel& kernel : shape.kernels)
    if (kernel.form.rows == 1 && belongs(kernel.form))
      kernels.push_back({kernel_bytes(kernel.form, shape.shape, shape.weights), kernel.ns.median});
  const auto [least, most] =
      std::minmax_element(kernels.begin(), kernels.end(),
                          [](const KernelTime& a, const KernelTime& b) { return a.bytes < b.bytes; });
  constexpr double other_size = 1.1;  // Minimum ratio of sizes; closer ones show the noise.
  if (kernels.empty() || most->bytes < other_size * least->bytes) return std::nullopt;
  const auto fitted = fit_kernel_law(kernels);
  if (!fitted) return std::nullopt;
  AffineLaw law{.law = *fitted, .kernels = kernels.size()};
  std::vector<double> residuals;
  residuals.reserve(kernels.size());
  for (const KernelTime& kernel : kernels)
    residuals.push_back(std::abs((fitted->launch_ns + kernel.bytes * fitted->ns_per_byte) / kernel.ns - 1.0));
  law.residual_greatest = *std::max_element(residuals.begin(), residuals.end());
  law.residual_p50 = speculation::spread_of(std::move(residuals)).median;
  return law;
}

bool runs_everything(const speculation::MeasuredKernel& kernel, const ModelShape& shape) {
  return kernel.form.kind == speculation::KernelKind::target_pass &&
         kernel.form.sublayers.attention == shape.n_layers && kernel.form.sublayers.mlp == shape.n_layers;
}

/// Factors relative to the pass of one row with the nearest context.
std::vector<WidthFactor> width_factors(const CalibratedShape& shape) {
  std::vector<WidthFactor> widths;
  for (const speculation::MeasuredKernel& wide : shape.kernels) {
    if (!runs_everything(wide, shape.shape) || wide.form.rows == 1) continue;
    const speculation::MeasuredKernel* one = nullptr;
    const auto distance = [&](const speculation::MeasuredKernel& to) {
      return std::abs(to.form.context - wide.form.context);
    };
    for (const speculation::MeasuredKernel& kernel : shape.kernels)
      if (runs_everything(kernel, shape.shape) && kernel.form.rows == 1 &&
          (one == nullptr || distance(kernel) < distance(*one)))
        one = &kernel;
    constexpr double same_context = 64.0;
    if (one != nullptr && distance(*one) < same_context)
      widths.push_back({wide.form.rows, wide.form.context, wide.ns.median / one->ns.median});
  }
  std::stable_sort(widths.begin(), widths.end(), [](const WidthFactor& a, const WidthFactor& b) {
    return std::tie(a.rows, a.context) < std::tie(b.rows, b.context);
  });
  return widths;
}

}  // namespace

std::string kernel_name(const speculation::KernelForm& form, const ModelShape& shape) {
  std::string text = work_text(form, shape);
  if (is_pass(form) || is_attention(form)) text += fmt::format(", context {:.0f}", form.context);
  return text;
}

double kernel_bytes(const speculation::KernelForm& form, const ModelShape& shape, WeightType weights) {
  if (form.kind == speculation::KernelKind::operation)
    return operation_bytes(form.operation, form, shape, weights);
  if (!is_pass(form)) return 0.0;
  const auto bytes = [&](speculation::Operation operation) {
    return operation_bytes(operation, form, shape, weights);
  };
  const double small = bytes(speculation::Operation::small);
  const double attention = bytes(speculation::Operation::qkv) + bytes(speculation::Operation::attention) +
                           bytes(speculation::Operation::output);
  const double mlp = bytes(speculation::Operation::gate_up) + bytes(speculation::Operation::down);
  return form.sublayers.attention * (attention + 0.5 * small) + form.sublayers.mlp * (mlp + 0.5 * small) +
         bytes(speculation::Operation::head);
}

CostVector kernel_coefficients(const speculation::KernelForm& form, const ModelShape& shape,
                               WeightType weights, WidthLaw law) {
  CostCoefficients coefficients;
  if (form.kind == speculation::KernelKind::operation)
    coefficients =
        operation_coefficients(form.operation, shape, weights, law, {.rows = static_cast<double>(form.rows)});
  else if (is_pass(form))
    coefficients = pass_coefficients(form, shape, weights, law);
  else
    coefficients.fixed[form.kind == speculation::KernelKind::drafting_round ? round_parameter
                                                                            : step_round_parameter] = 1.0;
  return at_context(coefficients, form.context);
}

CalibrationLaws calibration_laws(const CalibratedShape& shape) {
  return {.products = law_of(shape, is_product),
          .passes = law_of(shape, is_pass),
          .attention = law_of(shape, is_attention),
          .widths = width_factors(shape)};
}

}  // namespace draftscope::simulator
