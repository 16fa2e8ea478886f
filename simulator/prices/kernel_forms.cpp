// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>

#include "prices/costs/cost_parameters.h"
#include "prices/costs/cost_work.h"

namespace draftscope::simulator {

namespace {

bool is_pass(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::draft_step ||
         form.kind == speculation::KernelKind::target_pass;
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

}  // namespace

std::string kernel_name(const speculation::KernelForm& form, const ModelShape& shape) {
  std::string text = work_text(form, shape);
  const bool has_context = is_pass(form) || (form.kind == speculation::KernelKind::operation &&
                                             form.operation == speculation::Operation::attention);
  if (has_context) text += fmt::format(", context {:.0f}", form.context);
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

}  // namespace draftscope::simulator
