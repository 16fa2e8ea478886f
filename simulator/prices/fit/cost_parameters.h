// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parameters of the cost model. The model is linear in them, so a fit is least squares and a draw of
// parameters a matrix product.
//
//   product k (qkv, output, gate_up, down, head), w rows:
//       t = launch_k + bytes · per_byte_k + weight bytes · Σ_j width_kj · φ_j(w)
//   attention, context n: launch + KV bytes · n · (per_byte + (w − 1) · row_kv) + (w − 1) · q bytes · row
//   small operations: launches · launch + bytes · per_byte
//   a round's first draft step: draft_start on a GPU, where a draft is launched; on a CPU its layers' weight
//   bytes · draft_start, since the verification before it has evicted them from the caches
//   a layer, a pass and a round add a constant each; on a GPU a layer of w rows adds
//       Σ_j layer_width_j · φ_j(w), of which each operation has its share.
//
// On a GPU φ_0 is a ramp from 1 to 23 rows and the others are steps at 9, 17, 33, 65 and 129 rows, where
// kernels, tiles or passes over the weights change; on a CPU they are ramps between 1, 2, 4, 8, 16 and 32
// rows, where each row adds its arithmetic. Where an engine launches layers for more rows than there are
// (PassForm::planned), their steps are at those. Width terms are not negative, so that more
// rows never cost less. Times are in nanoseconds.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/operation.h>
#include <cstddef>
#include <cstdint>
#include <string>

namespace draftscope::simulator {

// Work of a pass per operation: bytes that must move, and arithmetic. It is computed from shapes only; its
// time is left to the cost model (cost_model.h).

struct Work {
  double launches = 0.0;  ///< Kernels (GPU) or parallel sections (CPU) per execution.
  double weight_bytes = 0.0;
  double bytes = 0.0;  ///< Total: weights and the activations of all rows, without K/V of the context.
  double kv_bytes_per_context_row = 0.0;  ///< Attention: K/V of one row, all K/V heads, read once.
  double flops = 0.0;                     ///< Without the part that depends on the context.
};

/// Work of one execution with `rows` rows, on each of `tensor_parallel` GPUs that share the model. Heads,
/// columns of the first and rows of the second product of a sublayer, and the vocabulary are split; K/V heads
/// only up to their number (n_kv_heads ≥ degree).
[[nodiscard]] Work work_of(speculation::Operation operation, const ModelShape& shape, WeightType type,
                           double rows, std::int32_t tensor_parallel = 1);

/// Weights that one pass through all layers and the head reads.
[[nodiscard]] double weight_bytes_per_step(const ModelShape& shape, WeightType type);

inline constexpr std::size_t width_terms = 1 + row_steps.size();

inline constexpr std::size_t attention_row_parameter = 44;  ///< ns per query byte of a row beyond the first
inline constexpr std::size_t attention_row_kv_parameter = 45;  ///< ns per K/V byte of a row beyond the first
inline constexpr std::size_t layer_parameter = 46;
inline constexpr std::size_t draft_step_parameter = 47;
inline constexpr std::size_t target_pass_parameter = 48;    ///< Verifications and target steps.
inline constexpr std::size_t round_parameter = 49;          ///< Round with a draft.
inline constexpr std::size_t step_round_parameter = 50;     ///< Round without a draft.
inline constexpr std::size_t common_launch_parameter = 51;  ///< Part of the launch that all products share.
inline constexpr std::size_t common_per_byte_parameter = 52;
inline constexpr std::size_t draft_start_parameter = 53;  ///< GPU: ns; CPU: ns per weight byte
inline constexpr std::size_t first_layer_width_parameter = 54;
static_assert(first_layer_width_parameter + width_terms == cost_parameter_count);

[[nodiscard]] constexpr std::size_t launch_parameter(speculation::Operation operation) {
  return 2 * static_cast<std::size_t>(operation);
}
[[nodiscard]] constexpr std::size_t per_byte_parameter(speculation::Operation operation) {
  return launch_parameter(operation) + 1;
}
/// Index of a width parameter; `product` is one of the first product_count operations.
[[nodiscard]] constexpr std::size_t width_parameter(speculation::Operation product, std::size_t term) {
  return 2 * speculation::operation_count + width_terms * static_cast<std::size_t>(product) + term;
}

/// Index of a layer's width parameter: ns by which a layer takes longer.
[[nodiscard]] constexpr std::size_t layer_width_parameter(std::size_t term) {
  return first_layer_width_parameter + term;
}

/// Whether a parameter describes growth with rows, including that of attention.
[[nodiscard]] constexpr bool is_width_parameter(std::size_t parameter) {
  return (parameter >= 2 * speculation::operation_count && parameter <= attention_row_kv_parameter) ||
         parameter >= first_layer_width_parameter;
}

/// Whether a parameter is a product's of the layers: its launch, its bytes or their growth with rows.
[[nodiscard]] constexpr bool is_of_layer_products(std::size_t parameter) {
  constexpr auto head = static_cast<std::size_t>(speculation::Operation::head);
  const std::size_t first_width = 2 * speculation::operation_count;
  if (parameter < first_width) return parameter / 2 < speculation::product_count && parameter / 2 != head;
  return parameter < attention_row_parameter && (parameter - first_width) / width_terms != head;
}

/// Whether a parameter is a time per byte under both laws of width; draft_start is one on a CPU only.
[[nodiscard]] constexpr bool is_rate_parameter(std::size_t parameter) {
  return parameter == common_per_byte_parameter ||
         (parameter < layer_parameter &&
          (parameter >= 2 * speculation::operation_count || parameter % 2 == 1));
}

/// Whether a parameter is a time per launch, or per layer of so many rows.
[[nodiscard]] constexpr bool is_launch_parameter(std::size_t parameter) {
  return parameter == common_launch_parameter || parameter >= first_layer_width_parameter ||
         (parameter < 2 * speculation::operation_count && parameter % 2 == 0);
}

/// φ_term(rows).
[[nodiscard]] double width_basis(WidthLaw law, std::size_t term, double rows);

/// "launch of gate up, ns".
[[nodiscard]] std::string cost_parameter_name(WidthLaw law, std::size_t parameter);

[[nodiscard]] double dot(const CostVector& a, const CostVector& b);
void add_to(CostVector& sum, const CostVector& part, double count = 1.0);

/// Coefficients of a pass or a part of one: its time is values · (fixed + context · a_context_row).
struct CostCoefficients {
  CostVector fixed{};
  CostVector a_context_row{};
};

/// Coefficients of the time at this context.
[[nodiscard]] CostVector at_context(const CostCoefficients& coefficients, double context);

/// Rows of a part of a pass: `rows` of each of `batch` requests.
struct PassForm {
  double rows = 1.0;
  double batch = 1.0;
  double planned = 0.0;  ///< Rows that layers are launched for; 0 = `rows`.
  std::int32_t tensor_parallel = 1;
};

[[nodiscard]] CostCoefficients operation_coefficients(speculation::Operation operation,
                                                      const ModelShape& shape, WeightType type, WidthLaw law,
                                                      const PassForm& form);

/// Coefficients of a layer's two sublayers; each has half of the layer's constant.
[[nodiscard]] CostCoefficients attention_coefficients(const ModelShape& shape, WeightType type, WidthLaw law,
                                                      const PassForm& form);
[[nodiscard]] CostCoefficients mlp_coefficients(const ModelShape& shape, WeightType type, WidthLaw law,
                                                const PassForm& form);

/// Coefficients of the additional time of a round's first draft step.
[[nodiscard]] CostCoefficients draft_start_coefficients(const ModelShape& shape, WeightType type,
                                                        WidthLaw law, std::int32_t attention,
                                                        std::int32_t mlp, std::int32_t tensor_parallel = 1);

/// Adds `count` times `part` to `sum`.
void add(CostCoefficients& sum, const CostCoefficients& part, double count = 1.0);

}  // namespace draftscope::simulator
