// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "prices/costs/cost_parameters.h"

namespace draftscope::simulator {

namespace {

CostVector times(const std::vector<double>& covariance, const CostVector& vector) {
  CostVector product{};
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    for (std::size_t j = 0; j < cost_parameter_count; ++j)
      product[i] += covariance[i * cost_parameter_count + j] * vector[j];
  return product;
}

CostVector coefficients_of(const CostModel& model, const speculation::KernelForm& form) {
  return kernel_coefficients(form, model.shape, model.weights, model.width_law);
}

speculation::DraftSublayers layers(std::int32_t count) {
  return {count, count};
}

}  // namespace

Result<CostVector> cost_gradient(const CostModel& model, const RoundCostQuestion& question) {
  const std::int32_t n_layers = model.shape.n_layers;
  if (question.exit < 1 || question.exit >= n_layers)
    return fail("question: exit is {}, expected 1 to {}", question.exit, n_layers - 1);
  constexpr std::int32_t longest = 1024;
  if (question.gamma < 1 || question.gamma > longest)
    return fail("question: gamma is {}, expected 1 to {}", question.gamma, longest);
  if (!(question.context >= 0.0) || !std::isfinite(question.context))
    return fail("question: context is {}, expected at least 0", question.context);
  const auto form = [&](speculation::KernelKind kind, std::int32_t count, std::int32_t rows, double context) {
    return coefficients_of(model,
                           {.kind = kind, .sublayers = layers(count), .rows = rows, .context = context});
  };
  CostVector step = form(speculation::KernelKind::target_pass, n_layers, 1, question.context);
  add_to(step, form(speculation::KernelKind::step_round, 0, 1, 0.0));
  CostVector round =
      form(speculation::KernelKind::target_pass, n_layers, question.gamma + 1, question.context);
  add_to(round, form(speculation::KernelKind::drafting_round, 0, 1, 0.0));
  add_to(round, draft_start_coefficients(model.shape, model.weights, question.exit, question.exit).fixed);
  const double middle = question.context + 0.5 * (question.gamma - 1);
  add_to(round, form(speculation::KernelKind::draft_step, question.exit, 1, middle), question.gamma);
  CostVector gradient{};
  add_to(gradient, round, 1.0 / dot(round, model.values));
  add_to(gradient, step, -1.0 / dot(step, model.values));
  return gradient;
}

double answer_sigma(const CostModel& model, const CostVector& gradient) {
  return std::sqrt(std::max(dot(gradient, times(model.covariance, gradient)), 0.0));
}

std::vector<NextMeasurement> next_measurements(const CostModel& model,
                                               const std::optional<CostVector>& gradient,
                                               std::span<const speculation::KernelForm> candidates,
                                               double noise) {
  CostVector spread{};  // Σg
  double variance = 0.0;
  if (gradient) {
    spread = times(model.covariance, *gradient);
    variance = dot(*gradient, spread);
  }
  std::vector<NextMeasurement> ranked;
  ranked.reserve(candidates.size());
  for (const speculation::KernelForm& form : candidates) {
    const CostVector coefficients = coefficients_of(model, form);
    const double deviation = noise * dot(coefficients, model.values);
    const double own = std::max(dot(coefficients, times(model.covariance, coefficients)), 0.0);
    const double noise_variance = std::max(deviation * deviation, 1e-300);
    const double shared = dot(coefficients, spread);
    const double taken = shared * shared / (own + noise_variance);
    ranked.push_back({form, variance > 0.0 ? taken / variance : 0.0, 0.5 * std::log1p(own / noise_variance)});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](const NextMeasurement& a, const NextMeasurement& b) {
    return gradient ? a.variance_share > b.variance_share : a.information > b.information;
  });
  return ranked;
}

std::vector<speculation::KernelForm> measurable_kernels(const ModelShape& shape) {
  constexpr std::array<double, 4> contexts{64, 512, 1024, 4096};
  std::vector<speculation::KernelForm> forms;
  for (const double context : contexts) {
    for (std::int32_t exit = 1; exit < shape.n_layers; ++exit)
      forms.push_back(
          {.kind = speculation::KernelKind::draft_step, .sublayers = layers(exit), .context = context});
    for (const std::int32_t rows : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32})
      forms.push_back({.kind = speculation::KernelKind::target_pass,
                       .sublayers = layers(shape.n_layers),
                       .rows = rows,
                       .context = context});
  }
  return forms;
}

}  // namespace draftscope::simulator
