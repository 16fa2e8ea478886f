// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/costs/arithmetic_excess.h"

#include <algorithm>

namespace draftscope::simulator {

namespace {

constexpr double reached_flops = 0.75;  // of the dense rate

double time_of(const CostCoefficients& part, const CostVector& values) {
  double sum = 0.0;
  for (std::size_t i = 0; i < cost_parameter_count; ++i) sum += part.fixed[i] * values[i];
  return sum;
}

}  // namespace

void drop_launches(CostCoefficients& part) {
  for (std::size_t i = 0; i < speculation::operation_count; ++i)
    part.fixed[launch_parameter(static_cast<speculation::Operation>(i))] = 0.0;
}

double arithmetic_excess_ns(std::span<const speculation::Operation> products, const CostModel& model,
                            const Scenario& scenario, const PassForm& form) {
  if (!model.gpu) return 0.0;
  double sum = 0.0;
  for (const speculation::Operation product : products) {
    CostCoefficients part =
        operation_coefficients(product, scenario.shape, scenario.weights, model.width_law, form);
    drop_launches(part);
    const Work work =
        work_of(product, scenario.shape, scenario.weights, form.rows * form.batch, form.tensor_parallel);
    const WeightType type = product == speculation::Operation::head ? WeightType::bf16 : scenario.weights;
    const double arithmetic_ns = work.flops / (reached_flops * model.gpu->tflops(type) * 1e3);
    sum += std::max(arithmetic_ns - time_of(part, model.values), 0.0);
  }
  return sum;
}

}  // namespace draftscope::simulator
