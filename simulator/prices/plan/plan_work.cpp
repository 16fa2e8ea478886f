// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/plan/plan_work.h"

#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

using speculation::Operation;

constexpr double wide_bytes = 2.0;  // Routers and what `other_weights` counts.

// Small kernels of a sublayer beyond the share that any has: of a recurrence itself, its convolution and
// its gated norm; of experts the choice, the sorting of rows and the sum.
constexpr double recurrent_kernels = 3.0;
constexpr double routing_kernels = 3.0;
constexpr double usual_small_kernels = 1.5;

double kv_parts(const MixerKind& kind, const Scenario& scenario) {
  return std::min<double>(scenario.tensor_parallel, std::max(kind.n_kv_heads, 1));
}

double dense_bytes(const Scenario& scenario, WeightType type) {
  return scenario.plan && scenario.plan->only_experts_are_narrow
             ? std::max(layer_weight_bytes(type), wide_bytes)
             : layer_weight_bytes(type);
}

void add_planned(CostCoefficients& sum, const PlannedProduct& product, double element, WidthLaw law,
                 const PassForm& form) {
  const double rows = form.rows * form.batch;
  const double weight_bytes = product.weight_bytes();
  sum.fixed[launch_parameter(product.law)] += 1.0;
  sum.fixed[per_byte_parameter(product.law)] +=
      weight_bytes + rows * product.used * (product.outputs + product.depth) * element;
  for (std::size_t term = 0; term < width_terms; ++term) {
    const double launched = term == 0 ? form.rows : std::max(form.rows, form.planned);
    // Rows of an expert that is read, at least one.
    const double rows_of_copy = std::max(launched * form.batch * product.used / product.copies, 1.0);
    sum.fixed[width_parameter(product.law, term)] += weight_bytes * width_basis(law, term, rows_of_copy);
  }
}

/// Finishes a sublayer: products, its small kernels, and half of the layer's constant.
void finish(SublayerCosts& costs, const Scenario& scenario, WidthLaw law, const PassForm& form,
            double small_kernels, double small_columns) {
  const double element = activation_bytes(scenario.weights);
  for (const PlannedProduct& product : costs.products)
    add_planned(costs.coefficients, product, element, law, form);
  costs.coefficients.fixed[launch_parameter(Operation::small)] += small_kernels;
  costs.coefficients.fixed[per_byte_parameter(Operation::small)] +=
      form.rows * form.batch * small_columns * element;
  costs.coefficients.fixed[layer_parameter] += 0.5;
  costs.kernels += static_cast<double>(costs.products.size()) + small_kernels;
}

/// Adds the time of a layer's further rows beside products, which is that of the shape.
void add_row_costs(CostCoefficients& sum, const CostCoefficients& of_shape) {
  for (std::size_t term = 0; term < width_terms; ++term)
    sum.fixed[layer_width_parameter(term)] += of_shape.fixed[layer_width_parameter(term)];
}

void add_context(CostCoefficients& sum, const MixerKind& kind, const Scenario& scenario,
                 const PassForm& form) {
  const double further_rows = (form.rows - 1.0) * form.batch;
  const double row_bytes = kind.kv_values * activation_bytes(scenario.weights) / kv_parts(kind, scenario);
  const bool is_bounded = kind.window > 0 && scenario.context > kind.window;
  CostVector& vector = is_bounded ? sum.fixed : sum.a_context_row;
  const double bytes = is_bounded ? row_bytes * kind.window : row_bytes;
  vector[per_byte_parameter(Operation::attention)] += form.batch * bytes;
  vector[attention_row_kv_parameter] += further_rows * bytes;
}

double mixer_weights(const MixerKind& kind, const Scenario& scenario, WeightType type) {
  const double d_model = scenario.shape.d_model;
  const double parts = scenario.tensor_parallel;
  return dense_bytes(scenario, type) * d_model *
             ((kind.input_columns + kind.output_depth) / parts + kind.kv_columns / kv_parts(kind, scenario)) +
         wide_bytes * kind.other_weights / parts;
}

double mlp_weights(const MlpKind& kind, const Scenario& scenario, WeightType type, double experts) {
  const double parts = scenario.tensor_parallel;
  const double d_model = scenario.shape.d_model;
  return d_model * (kind.matrices / parts *
                        (kind.dense_width * dense_bytes(scenario, type) +
                         experts * kind.expert_width * layer_weight_bytes(type)) +
                    kind.n_experts * wide_bytes);
}

template <typename Kind, typename Costs>
CostCoefficients mean_of(const std::vector<Kind>& kinds, const Scenario& scenario, const Costs& costs_of) {
  CostCoefficients sum;
  for (const Kind& kind : kinds)
    add(sum, costs_of(kind).coefficients, static_cast<double>(kind.count) / scenario.shape.n_layers);
  return sum;
}

}  // namespace

double kv_bytes(const MixerKind& kind, const Scenario& scenario) {
  const double rows = kind.window > 0 ? std::min<double>(kind.window, scenario.context) : scenario.context;
  return rows * kind.kv_values * activation_bytes(scenario.weights) / kv_parts(kind, scenario);
}

SublayerCosts mixer_costs(const MixerKind& kind, const Scenario& scenario, WeightType type, WidthLaw law,
                          const PassForm& form) {
  SublayerCosts costs;
  const double parts = form.tensor_parallel;
  const double d_model = scenario.shape.d_model;
  const double bytes = dense_bytes(scenario, type);
  const double element = activation_bytes(scenario.weights);
  const double rows = form.rows * form.batch;
  costs.products = {{.law = Operation::qkv,
                     .outputs = kind.input_columns / parts + kind.kv_columns / kv_parts(kind, scenario),
                     .depth = d_model,
                     .bytes_per_weight = bytes},
                    {.law = Operation::output,
                     .outputs = d_model,
                     .depth = kind.output_depth / parts,
                     .bytes_per_weight = bytes}};
  const double row_bytes =
      (2.0 * kind.output_depth / parts + kind.kv_values / kv_parts(kind, scenario)) * element;
  CostVector& fixed = costs.coefficients.fixed;
  // A recurrence streams its state as a small kernel does, without splitting a context.
  const bool has_context = kind.kv_values > 0.0;
  if (has_context) fixed[launch_parameter(Operation::attention)] += 1.0;
  fixed[per_byte_parameter(Operation::attention)] +=
      rows * row_bytes + wide_bytes * kind.other_weights / parts +
      form.batch * (1.0 + form.rows) * kind.state_bytes / parts;
  fixed[attention_row_parameter] += (form.rows - 1.0) * form.batch * row_bytes;
  add_context(costs.coefficients, kind, scenario, form);
  add_row_costs(costs.coefficients, attention_coefficients(scenario.shape, type, law, form));
  costs.kernels = has_context ? 1.0 : 0.0;
  finish(costs, scenario, law, form, usual_small_kernels + (has_context ? 0.0 : recurrent_kernels),
         2.0 * d_model + 2.0 * kind.output_depth / parts + kind.kv_values / kv_parts(kind, scenario));
  return costs;
}

SublayerCosts mlp_costs(const MlpKind& kind, const Scenario& scenario, WeightType type, WidthLaw law,
                        const PassForm& form) {
  SublayerCosts costs;
  const double parts = form.tensor_parallel;
  const double d_model = scenario.shape.d_model;
  const double inputs = kind.matrices - 1.0;
  const auto add_pair = [&](double width, double copies, double used, double bytes) {
    costs.products.push_back({.law = Operation::gate_up,
                              .outputs = inputs * width / parts,
                              .depth = d_model,
                              .copies = copies,
                              .used = used,
                              .bytes_per_weight = bytes});
    costs.products.push_back({.law = Operation::down,
                              .outputs = d_model,
                              .depth = width / parts,
                              .copies = copies,
                              .used = used,
                              .bytes_per_weight = bytes});
  };
  if (kind.dense_width > 0.0) add_pair(kind.dense_width, 1.0, 1.0, dense_bytes(scenario, type));
  if (kind.n_experts > 0) {
    costs.products.push_back({.law = Operation::gate_up,
                              .outputs = static_cast<double>(kind.n_experts),
                              .depth = d_model,
                              .bytes_per_weight = wide_bytes});
    add_pair(kind.expert_width, distinct_experts(kind.n_experts, kind.n_used, form.rows * form.batch),
             kind.n_used, layer_weight_bytes(type));
  }
  add_row_costs(costs.coefficients, mlp_coefficients(scenario.shape, type, law, form));
  finish(costs, scenario, law, form, usual_small_kernels + (kind.n_experts > 0 ? routing_kernels : 0.0),
         2.0 * d_model);
  return costs;
}

SublayerCosts join_costs(const Scenario& scenario, WeightType type, WidthLaw law, const PassForm& form) {
  SublayerCosts costs;
  const double d_model = scenario.shape.d_model;
  costs.products = {{.law = Operation::qkv,
                     .outputs = d_model / form.tensor_parallel,
                     .depth = 2.0 * d_model,
                     .bytes_per_weight = dense_bytes(scenario, type)}};
  const double element = activation_bytes(scenario.weights);
  for (const PlannedProduct& product : costs.products)
    add_planned(costs.coefficients, product, element, law, form);
  // The norms of state and embedding, which read and write d values a row each.
  constexpr double norms = 2.0;
  costs.coefficients.fixed[launch_parameter(Operation::small)] += norms;
  costs.coefficients.fixed[per_byte_parameter(Operation::small)] +=
      form.rows * form.batch * norms * 2.0 * d_model * element;
  costs.kernels = 1.0 + norms;
  return costs;
}

CostCoefficients mean_mixer(const Scenario& scenario, WeightType type, WidthLaw law, const PassForm& form) {
  if (!scenario.plan) return attention_coefficients(scenario.shape, type, law, form);
  return mean_of(scenario.plan->mixers, scenario,
                 [&](const MixerKind& kind) { return mixer_costs(kind, scenario, type, law, form); });
}

CostCoefficients mean_mlp(const Scenario& scenario, WeightType type, WidthLaw law, const PassForm& form) {
  if (!scenario.plan) return mlp_coefficients(scenario.shape, type, law, form);
  return mean_of(scenario.plan->mlps, scenario,
                 [&](const MlpKind& kind) { return mlp_costs(kind, scenario, type, law, form); });
}

MeanKernels mean_kernels(const Scenario& scenario) {
  // Products, attention, and the share of the three small kernels.
  MeanKernels mean{.mixer = 4.5, .mlp = 3.5};
  if (!scenario.plan) return mean;
  mean = {};
  for (const MixerKind& kind : scenario.plan->mixers)
    mean.mixer += mixer_costs(kind, scenario, scenario.weights, WidthLaw::steps, {}).kernels * kind.count;
  for (const MlpKind& kind : scenario.plan->mlps)
    mean.mlp += mlp_costs(kind, scenario, scenario.weights, WidthLaw::steps, {}).kernels * kind.count;
  return {mean.mixer / scenario.shape.n_layers, mean.mlp / scenario.shape.n_layers};
}

double planned_excess_ns(const SublayerCosts& costs, const CostModel& model, const Scenario& scenario,
                         const PassForm& form) {
  if (!model.gpu) return 0.0;
  double sum = 0.0;
  for (const PlannedProduct& product : costs.products) {
    CostCoefficients memory;
    add_planned(memory, product, activation_bytes(scenario.weights), model.width_law, form);
    memory.fixed[launch_parameter(product.law)] = 0.0;
    const double flops = 2.0 * form.rows * form.batch * product.used * product.outputs * product.depth;
    const WeightType type = product.bytes_per_weight < wide_bytes ? scenario.weights : WeightType::bf16;
    const double arithmetic_ns = flops / (reached_flops * model.gpu->tflops(type) * 1e3);
    sum += std::max(arithmetic_ns - dot(memory.fixed, model.values), 0.0);
  }
  return sum;
}

double held_layers(const Scenario& scenario) {
  double sum = 0.0;
  for (const MixerKind& kind : scenario.plan->mixers)
    sum += kind.count * mixer_weights(kind, scenario, scenario.weights);
  for (const MlpKind& kind : scenario.plan->mlps)
    sum += kind.count * mlp_weights(kind, scenario, scenario.weights, kind.n_experts);
  if (uses_next_token_layer(scenario) && scenario.plan->next_token) {
    const NextTokenLayer& next = *scenario.plan->next_token;
    sum += mixer_weights(next.mixer, scenario, scenario.weights) +
           mlp_weights(next.mlp, scenario, scenario.weights, next.mlp.n_experts) + join_weights(scenario);
  }
  return sum;
}

bool uses_next_token_layer(const Scenario& scenario) {
  return (scenario.draft_cost && scenario.draft_cost->kind == DraftCostInput::Kind::next_token) ||
         std::ranges::any_of(scenario.auxiliary_passes, [](const AuxiliaryPass& pass) {
           return pass.kind == AuxiliaryPassKind::next_token;
         });
}

double join_weights(const Scenario& scenario) {
  const double d_model = scenario.shape.d_model;
  return 2.0 * d_model * d_model * dense_bytes(scenario, scenario.weights) / scenario.tensor_parallel;
}

double held_states(const Scenario& scenario) {
  // Keys and values have room for a whole verification beyond the context.
  Scenario longest = scenario;
  longest.context += scenario.widths;
  double sum = 0.0;
  for (const MixerKind& kind : scenario.plan->mixers)
    sum +=
        scenario.batch * kind.count * (kv_bytes(kind, longest) + kind.state_bytes / scenario.tensor_parallel);
  if (uses_next_token_layer(scenario) && scenario.plan->next_token)
    sum += scenario.batch * kv_bytes(scenario.plan->next_token->mixer, longest);
  return sum;
}

double read_layers(const Scenario& scenario) {
  double sum = 0.0;
  for (const MixerKind& kind : scenario.plan->mixers)
    sum += kind.count * mixer_weights(kind, scenario, scenario.weights);
  for (const MlpKind& kind : scenario.plan->mlps)
    sum += kind.count * mlp_weights(kind, scenario, scenario.weights, kind.n_used);
  return sum;
}

}  // namespace draftscope::simulator
