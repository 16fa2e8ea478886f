// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/roofline.h>

#include <algorithm>
#include <array>

#include "prices/passes/cost_transfer.h"
#include "prices/passes/pass_map.h"

namespace draftscope::simulator {

namespace {

constexpr std::array<speculation::Operation, 6> operations{
    speculation::Operation::qkv,     speculation::Operation::attention, speculation::Operation::output,
    speculation::Operation::gate_up, speculation::Operation::down,      speculation::Operation::head};

/// Computes arithmetic and bytes; those of attention come mostly from the context.
void fill_work(RooflinePoint& point, const Scenario& scenario, double context) {
  const double rows = static_cast<double>(point.rows) * scenario.batch;
  const Work work =
      work_of(point.operation, scenario.shape, scenario.weights, rows, scenario.tensor_parallel);
  point.flops = work.flops;
  point.bytes = work.bytes;
  if (point.operation != speculation::Operation::attention) return;
  constexpr double flops_per_key_element = 4.0;  // A product and a sum with the keys, and with the values.
  point.flops = flops_per_key_element * rows * context * static_cast<double>(scenario.shape.q_width()) /
                scenario.tensor_parallel;
  point.bytes += scenario.batch * context * work.kv_bytes_per_context_row;
}

RooflinePoint point_of(speculation::Operation operation, std::int32_t rows, const CostModel& model,
                       const Scenario& scenario, double context) {
  RooflinePoint point{
      .operation = operation,
      .rows = rows,
      .source = model.from_trace ? model.sources[per_byte_parameter(operation)] : ParameterSource::prior};
  fill_work(point, scenario, context);
  const PassForm form{.rows = static_cast<double>(rows),
                      .batch = static_cast<double>(scenario.batch),
                      .tensor_parallel = scenario.tensor_parallel};
  const CostCoefficients coefficients =
      operation_coefficients(operation, scenario.shape, scenario.weights, model.width_law, form);
  point.ns = dot(at_context(coefficients, context), model.values);
  if (operation != speculation::Operation::attention)
    point.ns += arithmetic_excess_ns(std::array{operation}, model, scenario, form);
  return point;
}

/// Arithmetic of one more row over the time that it adds; absent where it adds none.
std::optional<double> marginal_flops_per_ns(speculation::Operation product, const CostModel& model,
                                            const Scenario& scenario) {
  const auto widest = static_cast<double>(std::max(model.largest_rows, 2));
  const auto at = [&](double rows) {
    return dot(operation_coefficients(product, scenario.shape, scenario.weights, model.width_law,
                                      {.rows = rows, .batch = 1.0, .tensor_parallel = 1})
                   .fixed,
               model.values);
  };
  const double ns = at(widest) - at(widest - 1.0);
  const double flops = work_of(product, scenario.shape, scenario.weights, 1.0).flops;
  // Moving the row's activations takes some time even where its arithmetic is hidden by the weights.
  const double activations_ns = model.values[per_byte_parameter(product)] *
                                (work_of(product, scenario.shape, scenario.weights, 2.0).bytes -
                                 work_of(product, scenario.shape, scenario.weights, 1.0).bytes);
  constexpr double visible = 2.0;
  if (!(ns > visible * activations_ns) || !(ns > 0.0)) return std::nullopt;
  return flops / ns;
}

/// Finds the highest rates in the fit.
void fit_roof(Roofline& roofline, const CostModel& model, const Scenario& scenario) {
  for (const speculation::Operation operation : operations) {
    const double ns_per_byte = model.values[per_byte_parameter(operation)];
    if (ns_per_byte > 0.0) roofline.bytes_per_ns = std::max(roofline.bytes_per_ns, 1.0 / ns_per_byte);
    if (operation == speculation::Operation::attention) continue;
    if (const auto rate = marginal_flops_per_ns(operation, model, scenario))
      roofline.flops_per_ns = std::max(roofline.flops_per_ns.value_or(0.0), *rate);
  }
  // A few rows may cost less than at the widest passes.
  if (!roofline.flops_per_ns) return;
  for (const RooflinePoint& point : roofline.points)
    roofline.flops_per_ns = std::max(*roofline.flops_per_ns, point.flops_per_ns());
}

}  // namespace

double Roofline::attainable(double intensity) const {
  const double by_memory = intensity * bytes_per_ns;
  return flops_per_ns ? std::min(by_memory, *flops_per_ns) : by_memory;
}

Result<Roofline> roofline(const CostModel& model, const Machine& machine, double context,
                          const std::vector<std::int32_t>& rows) {
  DRAFTSCOPE_TRY(check_scenario(machine.scenario));
  const Scenario& scenario = machine.scenario;
  if (scenario.plan)
    return fail("roofline: the layers of {} differ, expected a model whose layers are alike",
                scenario.shape.name);
  const TransferredCosts costs = transfer(machine.costs_or(model), scenario);
  Roofline result{.notes = costs.notes};
  for (const speculation::Operation operation : operations)
    for (const std::int32_t width : rows) {
      if (width < 1) return fail("roofline: rows are {}, expected at least 1", width);
      const RooflinePoint point = point_of(operation, width, costs.model, scenario, context);
      if (point.flops > 0.0 && point.ns > 0.0) result.points.push_back(point);
    }
  if (costs.model.gpu) {
    const GpuSpecification& gpu = *costs.model.gpu;
    result.is_specified = true;
    result.bytes_per_ns = gpu.bandwidth_gb_s;
    result.flops_per_ns = 1e3 * gpu.tflops(scenario.weights);
  } else {
    fit_roof(result, costs.model, scenario);
  }
  return result;
}

}  // namespace draftscope::simulator
