// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/calibration.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::simulator {

namespace {

bool is_pass(const KernelForm& form) {
  return form.kind == KernelKind::draft_step || form.kind == KernelKind::target_pass;
}

CostCoefficients pass_coefficients(const KernelForm& form, const ModelShape& shape, WeightType weights,
                                   WidthLaw law) {
  const PassForm rows{.rows = static_cast<double>(form.rows)};
  CostCoefficients sum = operation_coefficients(Operation::head, shape, weights, law, rows);
  add(sum, attention_coefficients(shape, weights, law, rows), form.sublayers.attention);
  add(sum, mlp_coefficients(shape, weights, law, rows), form.sublayers.mlp);
  sum.fixed[form.kind == KernelKind::draft_step ? draft_step_parameter : target_pass_parameter] += 1.0;
  return sum;
}

double operation_bytes(Operation operation, const KernelForm& form, const ModelShape& shape,
                       WeightType weights) {
  const Work work = work_of(operation, shape, weights, form.rows);
  return work.bytes + form.context * work.kv_bytes_a_context_row;
}

std::string sublayers_text(const DraftSublayers& sublayers) {
  if (sublayers.attention == sublayers.mlp) return fmt::format("{} layers", sublayers.mlp);
  return fmt::format("{} attention and {} MLP sublayers", sublayers.attention, sublayers.mlp);
}

std::string work_text(const KernelForm& form, const ModelShape& shape) {
  const bool whole = form.sublayers.attention == shape.n_layers && form.sublayers.mlp == shape.n_layers;
  switch (form.kind) {
    case KernelKind::operation:
      return fmt::format("{}, {} {}", operation_name(form.operation), form.rows,
                         form.rows == 1 ? "row" : "rows");
    case KernelKind::draft_step:
      return "draft step of " + sublayers_text(form.sublayers);
    case KernelKind::target_pass:
      if (!whole) return fmt::format("target pass of {}, rows {}", sublayers_text(form.sublayers), form.rows);
      return form.rows == 1 ? "target step" : fmt::format("verification of {} rows", form.rows);
    case KernelKind::drafting_round:
      return "rest of a round with a draft";
    case KernelKind::step_round:
      break;
  }
  return "rest of a round without a draft";
}

}  // namespace

std::string_view kernel_kind_name(KernelKind kind) {
  constexpr std::array<std::string_view, 5> names{"operation", "draft_step", "target_pass", "drafting_round",
                                                  "step_round"};
  return names[static_cast<std::size_t>(kind)];
}

std::string kernel_name(const KernelForm& form, const ModelShape& shape) {
  std::string text = work_text(form, shape);
  const bool has_context =
      is_pass(form) || (form.kind == KernelKind::operation && form.operation == Operation::attention);
  if (has_context) text += fmt::format(", context {:.0f}", form.context);
  return text;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
  };
  return {at(0.5), at(0.25), at(0.75), static_cast<std::int64_t>(values.size())};
}

double kernel_bytes(const KernelForm& form, const ModelShape& shape, WeightType weights) {
  if (form.kind == KernelKind::operation) return operation_bytes(form.operation, form, shape, weights);
  if (!is_pass(form)) return 0.0;
  const auto bytes = [&](Operation operation) { return operation_bytes(operation, form, shape, weights); };
  const double small = bytes(Operation::small);
  const double attention = bytes(Operation::qkv) + bytes(Operation::attention) + bytes(Operation::output);
  const double mlp = bytes(Operation::gate_up) + bytes(Operation::down);
  return form.sublayers.attention * (attention + 0.5 * small) + form.sublayers.mlp * (mlp + 0.5 * small) +
         bytes(Operation::head);
}

CostVector kernel_coefficients(const KernelForm& form, const ModelShape& shape, WeightType weights,
                               WidthLaw law) {
  CostCoefficients coefficients;
  if (form.kind == KernelKind::operation)
    coefficients =
        operation_coefficients(form.operation, shape, weights, law, {.rows = static_cast<double>(form.rows)});
  else if (is_pass(form))
    coefficients = pass_coefficients(form, shape, weights, law);
  else
    coefficients.fixed[form.kind == KernelKind::drafting_round ? round_parameter : step_round_parameter] =
        1.0;
  CostVector sum = coefficients.fixed;
  for (std::size_t i = 0; i < cost_parameter_count; ++i)
    sum[i] += form.context * coefficients.a_context_row[i];
  return sum;
}

}  // namespace draftscope::simulator
