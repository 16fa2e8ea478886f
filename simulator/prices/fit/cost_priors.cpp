// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/cost_priors.h"

#include <draftscope/base/statistics.h>
#include <draftscope/simulator/prices/cost_model.h>

#include <algorithm>
#include <array>

#include "prices/fit/cost_parameters.h"
#include "prices/fit/cost_work.h"

namespace draftscope::simulator {

namespace {

constexpr std::array<speculation::Operation, speculation::product_count> products{
    speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
    speculation::Operation::down, speculation::Operation::head};

// Increments of the time at 2, 9, 17, 33, 65 and 129 rows / the time at one row. They are medians over shapes
// of bf16 products on six GPUs; single shapes scatter by 10–20 % where the library switches kernels.
constexpr std::array<double, width_terms> width_increments{0.005, 0.015, 0.025, 0.005, 0.025, 0.175};

struct SmallCosts {
  double attention_ns;  ///< Minimum time of decode attention with a short context.
  double launch_ns;     ///< Launch of a norm, inside a graph.
};

SmallCosts small_costs(MemoryFamily family) {
  switch (family) {
    case MemoryFamily::hbm:
      return {11.7e3, 2.2e3};
    case MemoryFamily::gddr:
      return {9.0e3, 1.8e3};
    case MemoryFamily::lpddr:
      break;
  }
  return {15.0e3, 3.0e3};
}

}  // namespace

CostVector specified_values(const GpuSpecification& gpu, WeightType weights) {
  const double ns_per_byte = 1.0 / (gpu.efficiency * gpu.bandwidth_gb_s);
  const ProductLaw layers = gpu.products(weights);
  // Streaming K/V reaches slightly more of the bandwidth than products do, on all six.
  const double kv_efficiency = std::min(gpu.efficiency + 0.03, 0.97);
  const SmallCosts small = small_costs(gpu.memory);
  const RegimeCosts graph = regime_costs(Regime::graph);
  CostVector values{};
  for (const speculation::Operation product : products) {
    // The head keeps 16 bits.
    const bool is_head = product == speculation::Operation::head;
    const double product_ns_per_byte = is_head ? ns_per_byte : 1.0 / (layers.efficiency * gpu.bandwidth_gb_s);
    values[launch_parameter(product)] = 1e3 * (is_head ? gpu.t0_us : layers.t0_us);
    values[per_byte_parameter(product)] = product_ns_per_byte;
    for (std::size_t term = 0; term < width_terms; ++term)
      values[width_parameter(product, term)] = width_increments[term] * product_ns_per_byte;
  }
  values[launch_parameter(speculation::Operation::attention)] = small.attention_ns;
  values[per_byte_parameter(speculation::Operation::attention)] = 1.0 / (kv_efficiency * gpu.bandwidth_gb_s);
  values[launch_parameter(speculation::Operation::small)] = small.launch_ns;
  values[per_byte_parameter(speculation::Operation::small)] = ns_per_byte;
  values[draft_step_parameter] = graph.host_ns_per_draft_step;
  values[target_pass_parameter] = graph.host_ns_per_pass;
  values[round_parameter] = 10e3;
  values[step_round_parameter] = 5e3;
  values[common_launch_parameter] = 1e3 * layers.t0_us;
  values[common_per_byte_parameter] = 1.0 / (layers.efficiency * gpu.bandwidth_gb_s);
  return values;
}

std::vector<GaussianPrior> gpu_priors(const GpuSpecification& gpu, WeightType weights) {
  const CostVector values = specified_values(gpu, weights);
  const ProductLaw layers = gpu.products(weights);
  const double launch_ns = values[common_launch_parameter];
  const double ns_per_byte = values[common_per_byte_parameter];
  const double launch_scale = std::max(launch_ns, 500.0);
  std::vector<GaussianPrior> priors;
  const auto expect = [&](std::size_t parameter, double sigma) {
    priors.push_back({{{parameter, 1.0}}, values[parameter], sigma});
  };
  expect(common_launch_parameter, layers.t0_sigma * launch_scale);
  expect(common_per_byte_parameter, layers.efficiency_sigma * ns_per_byte);
  for (const speculation::Operation product : products) {
    const std::size_t launch = launch_parameter(product);
    const std::size_t per_byte = per_byte_parameter(product);
    // Products of the same number type are expected to have similar values.
    priors.push_back(
        {{{launch, 1.0}, {common_launch_parameter, -1.0}}, values[launch] - launch_ns, 0.2 * launch_scale});
    priors.push_back({{{per_byte, 1.0}, {common_per_byte_parameter, -1.0}},
                      values[per_byte] - ns_per_byte,
                      0.05 * ns_per_byte});
    for (std::size_t term = 0; term < width_terms; ++term)
      expect(width_parameter(product, term), 0.05 * ns_per_byte);
  }
  expect(launch_parameter(speculation::Operation::attention),
         0.35 * values[launch_parameter(speculation::Operation::attention)]);
  expect(per_byte_parameter(speculation::Operation::attention), 0.1 * ns_per_byte);
  expect(attention_row_parameter, ns_per_byte);
  expect(attention_row_kv_parameter, 0.02 * ns_per_byte);
  expect(launch_parameter(speculation::Operation::small),
         0.5 * values[launch_parameter(speculation::Operation::small)]);
  expect(per_byte_parameter(speculation::Operation::small), ns_per_byte);
  expect(layer_parameter, 500.0);
  expect(draft_step_parameter, 0.5 * values[draft_step_parameter]);
  expect(target_pass_parameter, 0.5 * values[target_pass_parameter]);
  expect(round_parameter, values[round_parameter]);
  expect(step_round_parameter, values[step_round_parameter]);
  expect(draft_start_parameter, 0.05 * ns_per_byte);
  return priors;
}

std::vector<GaussianPrior> scale_priors(const CostObservations& observations) {
  const ModelShape& shape = observations.shape;
  // The scale is the median time per byte of the passes.
  std::vector<double> scales;
  double layer_bytes = 0.0;
  for (const CostObservation& group : observations.groups) {
    double bytes = 0.0;
    for (const speculation::Operation product : products)
      bytes += group.coefficients[per_byte_parameter(product)];
    if (group.level == CostLevel::pass && bytes > 0.0) scales.push_back(group.ns / bytes);
  }
  for (const speculation::Operation product : {speculation::Operation::qkv, speculation::Operation::output,
                                               speculation::Operation::gate_up, speculation::Operation::down})
    layer_bytes += work_of(product, shape, observations.weights, 1.0).weight_bytes;
  const double ns_per_byte = scales.empty() ? 1.0 : upper_median(scales);
  const double launch_ns = ns_per_byte * layer_bytes / 4.0;

  std::vector<GaussianPrior> priors;
  const auto expect = [&](std::size_t parameter, double value, double sigma) {
    priors.push_back({{{parameter, 1.0}}, value, sigma});
  };
  const auto tie = [&](std::size_t parameter, std::size_t other, double sigma) {
    priors.push_back({{{parameter, 1.0}, {other, -1.0}}, 0.0, sigma});
  };
  expect(common_launch_parameter, 0.25 * launch_ns, launch_ns);
  expect(common_per_byte_parameter, 0.75 * ns_per_byte, ns_per_byte);
  for (const speculation::Operation product : products) {
    tie(launch_parameter(product), common_launch_parameter, 0.3 * launch_ns);
    tie(per_byte_parameter(product), common_per_byte_parameter, 0.3 * ns_per_byte);
    expect(width_parameter(product, 0), 0.05 * ns_per_byte, 0.3 * ns_per_byte);
    for (std::size_t term = 1; term < width_terms; ++term)
      tie(width_parameter(product, term), width_parameter(product, term - 1), 0.1 * ns_per_byte);
  }
  tie(launch_parameter(speculation::Operation::attention), common_launch_parameter, 0.5 * launch_ns);
  tie(per_byte_parameter(speculation::Operation::attention), common_per_byte_parameter, 3.0 * ns_per_byte);
  expect(attention_row_parameter, 0.0, 30.0 * ns_per_byte);
  expect(attention_row_kv_parameter, 0.0, 3.0 * ns_per_byte);
  expect(launch_parameter(speculation::Operation::small), 0.0, 0.3 * launch_ns);
  expect(per_byte_parameter(speculation::Operation::small), 0.0, 10.0 * ns_per_byte);
  expect(layer_parameter, 0.0, 0.3 * launch_ns);
  expect(draft_step_parameter, 0.0, 3.0 * launch_ns);
  expect(target_pass_parameter, 0.0, 3.0 * launch_ns);
  expect(round_parameter, 0.0, 10.0 * launch_ns);
  expect(step_round_parameter, 0.0, 10.0 * launch_ns);
  expect(draft_start_parameter, 0.0, 0.3 * ns_per_byte);
  return priors;
}

RegimeCosts regime_costs(Regime regime) {
  switch (regime) {
    case Regime::eager_python:
      return {.host_ns_per_layer = 870e3,
              .host_ns_per_pass = 1.4e6,
              .host_ns_per_draft_step = 1.4e6,
              .sigma = 0.3};
    case Regime::eager_cpp:
      return {.gap_ns_per_kernel = 1.5e3,
              .host_ns_per_kernel = 4.5e3,
              .host_ns_per_pass = 15e3,
              .host_ns_per_draft_step = 15e3,
              .sigma = 0.5};
    case Regime::graph:
      return {.host_ns_per_pass = 22e3, .host_ns_per_draft_step = 22e3, .sigma = 0.5};
    case Regime::device_loop:
      return {.host_ns_per_pass = 22e3, .host_ns_per_draft_step = 1e3, .sigma = 0.5};
    case Regime::persistent:
      return {.host_ns_per_pass = 15e3, .host_ns_per_draft_step = 1e3, .sigma = 0.5};
    case Regime::as_fitted:
      break;
  }
  return {};
}

}  // namespace draftscope::simulator
