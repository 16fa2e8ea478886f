// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/cost_parameters.h"

#include <algorithm>
#include <numeric>

namespace draftscope::simulator {

namespace {

/// First row of a term: of the ramp, or a step.
std::int32_t first_row(std::size_t term) {
  return term == 0 ? 2 : row_steps[term - 1];
}
constexpr double ramp_rows = 22.0;
constexpr std::array<double, width_terms> ramps{1, 2, 4, 8, 16, 32};

/// Share of a layer's time for further rows that an operation takes, as measured in one engine's programs:
/// products of normalised inputs normalise every row first.
double share_of_rows(speculation::Operation operation) {
  switch (operation) {
    case speculation::Operation::qkv:
    case speculation::Operation::gate_up:
      return 0.4;
    case speculation::Operation::attention:
      return 0.1;
    case speculation::Operation::down:
      return 0.07;
    case speculation::Operation::output:
      return 0.03;
    default:
      return 0.0;
  }
}

/// φ_term of an operation in a pass; the first is of the rows that it has, the others of those that it is
/// launched for; the head's are all of the rows that it has.
double width_of(speculation::Operation operation, WidthLaw law, std::size_t term, const PassForm& form) {
  const bool is_planned = term > 0 && operation != speculation::Operation::head;
  return width_basis(law, term, std::max(form.rows, is_planned ? form.planned : 0.0) * form.batch);
}

void add_layer_width(CostCoefficients& sum, speculation::Operation operation, WidthLaw law,
                     const PassForm& form) {
  if (law != WidthLaw::steps) return;
  for (std::size_t term = 0; term < width_terms; ++term)
    sum.fixed[layer_width_parameter(term)] += share_of_rows(operation) * width_of(operation, law, term, form);
}

void add_product(CostCoefficients& sum, speculation::Operation product, const Work& work, WidthLaw law,
                 const PassForm& form) {
  sum.fixed[launch_parameter(product)] += work.launches;
  sum.fixed[per_byte_parameter(product)] += work.bytes;
  for (std::size_t term = 0; term < width_terms; ++term)
    sum.fixed[width_parameter(product, term)] += work.weight_bytes * width_of(product, law, term, form);
}

void add_attention(CostCoefficients& sum, const Work& one_row, const PassForm& form) {
  const double requests = form.batch;
  const double further_rows = (form.rows - 1.0) * form.batch;
  sum.fixed[launch_parameter(speculation::Operation::attention)] += one_row.launches;
  sum.fixed[per_byte_parameter(speculation::Operation::attention)] += one_row.bytes * form.rows * form.batch;
  sum.fixed[attention_row_parameter] += further_rows * one_row.bytes;
  sum.a_context_row[per_byte_parameter(speculation::Operation::attention)] +=
      requests * one_row.kv_bytes_per_context_row;
  sum.a_context_row[attention_row_kv_parameter] += further_rows * one_row.kv_bytes_per_context_row;
}

struct Product {
  double outputs;
  double depth;
};

Product product_of(speculation::Operation operation, const ModelShape& shape, double parts) {
  const double d_model = shape.d_model;
  const double q_width = static_cast<double>(shape.q_width()) / parts;
  // A GPU has at least one K/V head.
  const double kv_width = std::max<double>(static_cast<double>(shape.kv_width()) / parts, shape.head_dim);
  const double d_ff = shape.d_ff / parts;
  switch (operation) {
    case speculation::Operation::qkv:
      return {q_width + 2.0 * kv_width, d_model};
    case speculation::Operation::output:
      return {d_model, q_width};
    case speculation::Operation::gate_up:
      return {shape.mlp_input_matrices() * d_ff, d_model};
    case speculation::Operation::down:
      return {d_model, d_ff};
    default:
      return {shape.vocab / parts, d_model};
  }
}

}  // namespace

double width_basis(WidthLaw law, std::size_t term, double rows) {
  if (law == WidthLaw::steps) {
    if (term == 0) return std::clamp(rows - 1.0, 0.0, ramp_rows);
    return rows >= first_row(term) ? 1.0 : 0.0;
  }
  const double beyond = std::max(rows - ramps[term], 0.0);
  return term + 1 < width_terms ? std::min(beyond, ramps[term + 1] - ramps[term]) : beyond;
}

std::string cost_parameter_name(WidthLaw law, std::size_t parameter) {
  for (std::size_t i = 0; i < speculation::operation_count; ++i) {
    const auto operation = static_cast<speculation::Operation>(i);
    if (parameter == launch_parameter(operation))
      return fmt::format("launch of {}, ns", speculation::operation_name(operation));
    if (parameter == per_byte_parameter(operation))
      return fmt::format("{}, ns a byte", speculation::operation_name(operation));
    for (std::size_t term = 0; i < speculation::product_count && term < width_terms; ++term)
      if (parameter == width_parameter(operation, term)) {
        const auto name = speculation::operation_name(operation);
        if (law != WidthLaw::steps)
          return fmt::format("{} beyond {} rows, ns a byte and row", name, ramps[term]);
        return term == 0 ? fmt::format("{} of a further row, ns a byte", name)
                         : fmt::format("{} from {} rows, ns a byte", name, first_row(term));
      }
  }
  for (std::size_t term = 0; term < width_terms; ++term)
    if (parameter == layer_width_parameter(term))
      return term == 0 ? "further row of a layer, ns"
                       : fmt::format("layer from {} rows, ns", first_row(term));
  switch (parameter) {
    case attention_row_parameter:
      return "attention of a further row, ns a byte";
    case attention_row_kv_parameter:
      return "context of a further row, ns a byte";
    case layer_parameter:
      return "rest of a layer, ns";
    case draft_step_parameter:
      return "rest of a draft step, ns";
    case target_pass_parameter:
      return "rest of a target pass, ns";
    case round_parameter:
      return "rest of a round with a draft, ns";
    case step_round_parameter:
      return "rest of a round without a draft, ns";
    case draft_start_parameter:
      return law == WidthLaw::steps ? "first step of a draft, ns more"
                                    : "first step of a draft, ns a byte more";
    case common_launch_parameter:
      return "launch that products have in common, ns";
    default:
      return "what products have in common, ns a byte";
  }
}

CostCoefficients operation_coefficients(speculation::Operation operation, const ModelShape& shape,
                                        WeightType type, WidthLaw law, const PassForm& form) {
  CostCoefficients coefficients;
  const double rows = form.rows * form.batch;
  if (operation == speculation::Operation::attention) {
    add_attention(coefficients, work_of(operation, shape, type, 1.0, form.tensor_parallel), form);
    add_layer_width(coefficients, operation, law, form);
    return coefficients;
  }
  const Work work = work_of(operation, shape, type, rows, form.tensor_parallel);
  if (operation == speculation::Operation::small) {
    coefficients.fixed[launch_parameter(operation)] = work.launches;
    coefficients.fixed[per_byte_parameter(operation)] = work.bytes;
    return coefficients;
  }
  add_product(coefficients, operation, work, law, form);
  add_layer_width(coefficients, operation, law, form);
  return coefficients;
}

CostCoefficients attention_coefficients(const ModelShape& shape, WeightType type, WidthLaw law,
                                        const PassForm& form) {
  CostCoefficients sum;
  for (const speculation::Operation operation :
       {speculation::Operation::qkv, speculation::Operation::attention, speculation::Operation::output})
    add(sum, operation_coefficients(operation, shape, type, law, form));
  add(sum, operation_coefficients(speculation::Operation::small, shape, type, law, form), 0.5);
  sum.fixed[layer_parameter] += 0.5;
  return sum;
}

CostCoefficients mlp_coefficients(const ModelShape& shape, WeightType type, WidthLaw law,
                                  const PassForm& form) {
  CostCoefficients sum;
  for (const speculation::Operation operation :
       {speculation::Operation::gate_up, speculation::Operation::down})
    add(sum, operation_coefficients(operation, shape, type, law, form));
  add(sum, operation_coefficients(speculation::Operation::small, shape, type, law, form), 0.5);
  sum.fixed[layer_parameter] += 0.5;
  return sum;
}

CostCoefficients draft_start_coefficients(const ModelShape& shape, WeightType type, WidthLaw law,
                                          std::int32_t attention, std::int32_t mlp,
                                          std::int32_t tensor_parallel) {
  const auto weight_bytes = [&](speculation::Operation product) {
    return work_of(product, shape, type, 1.0, tensor_parallel).weight_bytes;
  };
  CostCoefficients start;
  if (law == WidthLaw::steps) {
    // Guesses from the text launch nothing.
    start.fixed[draft_start_parameter] = attention + mlp > 0 ? 1.0 : 0.0;
    return start;
  }
  start.fixed[draft_start_parameter] =
      attention * (weight_bytes(speculation::Operation::qkv) + weight_bytes(speculation::Operation::output)) +
      mlp * (weight_bytes(speculation::Operation::gate_up) + weight_bytes(speculation::Operation::down));
  return start;
}

void add(CostCoefficients& sum, const CostCoefficients& part, double count) {
  for (std::size_t i = 0; i < cost_parameter_count; ++i) {
    sum.fixed[i] += count * part.fixed[i];
    sum.a_context_row[i] += count * part.a_context_row[i];
  }
}

CostVector at_context(const CostCoefficients& coefficients, double context) {
  CostVector sum = coefficients.fixed;
  for (std::size_t i = 0; i < cost_parameter_count; ++i) sum[i] += context * coefficients.a_context_row[i];
  return sum;
}

double dot(const CostVector& a, const CostVector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add_to(CostVector& sum, const CostVector& part, double count) {
  for (std::size_t i = 0; i < cost_parameter_count; ++i) sum[i] += count * part[i];
}

Work work_of(speculation::Operation operation, const ModelShape& shape, WeightType type, double rows,
             std::int32_t tensor_parallel) {
  const double parts = tensor_parallel;
  const double element = activation_bytes(type);
  const double d_model = shape.d_model;
  const double q_width = static_cast<double>(shape.q_width()) / parts;
  const double kv_width = std::max<double>(static_cast<double>(shape.kv_width()) / parts, shape.head_dim);
  Work work;
  work.launches = 1.0;
  if (operation == speculation::Operation::attention) {
    work.kv_bytes_per_context_row = 2.0 * kv_width * element;
    work.bytes = rows * (2.0 * q_width + 2.0 * kv_width) * element;
    return work;
  }
  if (operation == speculation::Operation::small) {
    // These are two norms and one pass over queries and keys; the gate belongs to its product.
    work.launches = 3.0;
    work.bytes = rows * (4.0 * d_model + 2.0 * (q_width + kv_width)) * element;
    return work;
  }
  const Product product = product_of(operation, shape, parts);
  const double weight = operation == speculation::Operation::head ? element : layer_weight_bytes(type);
  work.weight_bytes = product.outputs * product.depth * weight;
  work.bytes = work.weight_bytes + rows * (product.outputs + product.depth) * element;
  work.flops = 2.0 * rows * product.outputs * product.depth;
  return work;
}

double weight_bytes_per_step(const ModelShape& shape, WeightType type) {
  double layer = 0.0;
  for (const speculation::Operation operation :
       {speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
        speculation::Operation::down})
    layer += work_of(operation, shape, type, 1.0).weight_bytes;
  return shape.n_layers * layer + work_of(speculation::Operation::head, shape, type, 1.0).weight_bytes;
}

}  // namespace draftscope::simulator
