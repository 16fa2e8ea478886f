// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/cost_priors.h"

#include <draftscope/base/statistics.h>
#include <draftscope/simulator/prices/cost_model.h>

#include <algorithm>
#include <array>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

namespace {

constexpr std::array<speculation::Operation, speculation::product_count> products{
    speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
    speculation::Operation::down, speculation::Operation::head};

// Increments of the time of library kernels / the time at one row: per row of the ramp, and at each step of
// rows. They are medians over shapes of bf16 products on six GPUs; single shapes scatter by 10–20 % where the
// library switches kernels.
constexpr std::array<double, width_terms> width_increments{0.0003, 0.015, 0.023, 0.005, 0.025, 0.175};

struct SmallCosts {
  double attention_ns;  ///< Minimum time of decode attention with a short context.
  double launch_ns;     ///< Launch of a norm, inside a graph.
};

SmallCosts small_costs(MemoryFamily family) {
  constexpr std::array<SmallCosts, 3> costs{{{11.7e3, 2.2e3}, {9.0e3, 1.8e3}, {15.0e3, 3.0e3}}};
  return costs[static_cast<std::size_t>(family)];
}

// Rests of rounds with and without a draft.
constexpr double round_ns = 10e3;
constexpr double step_round_ns = 5e3;

CostVector engine_values(const GpuSpecification& gpu, WeightType weights, const EngineLaw& engine) {
  const double read_ns = 1.0 / (gpu.read_efficiency * gpu.bandwidth_gb_s);
  CostVector values{};
  for (const speculation::Operation product : products) {
    const bool is_head = product == speculation::Operation::head;
    const EngineProducts& of = engine_products(engine, is_head ? WeightType::bf16 : weights);
    values[launch_parameter(product)] = 1e3 * (is_head ? engine.head_us : engine.product_us);
    values[per_byte_parameter(product)] = read_ns / (is_head ? engine.head_efficiency : of.efficiency);
    values[width_parameter(product, 0)] = of.row_share * read_ns;
    for (std::size_t term = 1; term < width_terms; ++term)
      values[width_parameter(product, term)] = engine.byte_shares[term] * read_ns;
  }
  for (std::size_t term = 0; term < width_terms; ++term)
    values[layer_width_parameter(term)] = 1e3 * engine.layer_us[term];
  values[launch_parameter(speculation::Operation::attention)] = 1e3 * engine.attention_us;
  values[per_byte_parameter(speculation::Operation::attention)] = read_ns / engine.context_efficiency;
  values[attention_row_kv_parameter] = engine.context_row_share * read_ns;
  values[per_byte_parameter(speculation::Operation::small)] = read_ns;
  values[draft_step_parameter] = 1e3 * engine.pass_us;
  values[target_pass_parameter] = 1e3 * engine.pass_us;
  values[draft_start_parameter] = 1e3 * engine.draft_start_us;
  values[round_parameter] = round_ns;
  values[step_round_parameter] = step_round_ns;
  values[common_launch_parameter] = 1e3 * engine.product_us;
  values[common_per_byte_parameter] = read_ns / engine_products(engine, weights).efficiency;
  return values;
}

/// Standard deviations of how much longer layers and bytes take with more rows.
struct WidthSigma {
  std::array<double, width_terms> layer_ns;
  std::array<double, width_terms> byte_shares;  ///< Shares of a byte's time at one row.
};

/// Kernels of a library were measured product by product, so that what further rows cost the rest of a layer
/// is open; those of an engine's law were measured as passes.
WidthSigma width_sigma(const EngineLaw* engine) {
  if (engine == nullptr) return {{400.0, 1e3, 2e3, 4e3, 4e3, 8e3}, {0.003, 0.05, 0.05, 0.05, 0.05, 0.05}};
  return {{800.0, 4e3, 8e3, 20e3, 20e3, 40e3}, {0.01, 0.1, 0.3, 0.5, 0.5, 0.5}};
}

}  // namespace

CostVector specified_values(const GpuSpecification& gpu, WeightType weights, const EngineLaw* engine) {
  if (engine != nullptr) return engine_values(gpu, weights, *engine);
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
  values[round_parameter] = round_ns;
  values[step_round_parameter] = step_round_ns;
  values[common_launch_parameter] = 1e3 * layers.t0_us;
  values[common_per_byte_parameter] = 1.0 / (layers.efficiency * gpu.bandwidth_gb_s);
  return values;
}

CostVector value_ratios(const TypeOnGpu& here, const TypeOnGpu& there, const EngineLaw* engine) {
  const CostVector from = specified_values(here.gpu, here.weights, engine);
  const CostVector to = specified_values(there.gpu, there.weights, engine);
  const double per_byte = to[common_per_byte_parameter] / from[common_per_byte_parameter];
  CostVector ratios{};
  for (std::size_t i = 0; i < cost_parameter_count; ++i) {
    const double unknown = is_rate_parameter(i) ? per_byte : 1.0;
    ratios[i] = from[i] > 0.0 ? to[i] / from[i] : unknown;
  }
  return ratios;
}

CostVector type_ratios(const CostModel& model, WeightType from, WeightType to) {
  if (model.gpu) return value_ratios({*model.gpu, from}, {*model.gpu, to}, model.engine);
  CostVector ratios{};
  ratios.fill(1.0);
  return ratios;
}

std::vector<GaussianPrior> gpu_priors(const GpuSpecification& gpu, WeightType weights,
                                      const EngineLaw* engine) {
  const CostVector values = specified_values(gpu, weights, engine);
  const ProductLaw layers = product_law(gpu, weights, engine);
  const WidthSigma widths = width_sigma(engine);
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
      expect(width_parameter(product, term), widths.byte_shares[term] * ns_per_byte);
  }
  for (std::size_t term = 0; term < width_terms; ++term)
    expect(layer_width_parameter(term), widths.layer_ns[term]);
  expect(launch_parameter(speculation::Operation::attention),
         0.35 * values[launch_parameter(speculation::Operation::attention)]);
  expect(per_byte_parameter(speculation::Operation::attention), 0.1 * ns_per_byte);
  expect(attention_row_parameter, ns_per_byte);
  expect(attention_row_kv_parameter, std::max(0.02 * ns_per_byte, 0.5 * values[attention_row_kv_parameter]));
  expect(launch_parameter(speculation::Operation::small),
         std::max(0.5 * values[launch_parameter(speculation::Operation::small)], 500.0));
  expect(per_byte_parameter(speculation::Operation::small), ns_per_byte);
  expect(layer_parameter, 500.0);
  expect(draft_step_parameter, 0.5 * values[draft_step_parameter]);
  expect(target_pass_parameter, 0.5 * values[target_pass_parameter]);
  expect(round_parameter, values[round_parameter]);
  expect(step_round_parameter, values[step_round_parameter]);
  expect(draft_start_parameter,
         engine == nullptr ? 2e3 : std::max(0.5 * values[draft_start_parameter], 10e3));
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
  expect(draft_start_parameter, 0.0, observations.on_gpu ? 3.0 * launch_ns : 0.3 * ns_per_byte);
  // Ramps have no such term: their products have arithmetic enough.
  for (std::size_t term = 0; term < width_terms; ++term)
    expect(layer_width_parameter(term), 0.0, 1e-3 * launch_ns);
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
