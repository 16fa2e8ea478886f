// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cost of sublayers by kind, in the parameters of the cost model (cost_parameters.h), and the bytes that they
// hold. A model without a plan has two kinds, whose costs are those of its shape.

#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <vector>

#include "prices/fit/cost_parameters.h"

namespace draftscope::simulator {

inline constexpr double reached_flops = 0.75;  ///< Reached share of the dense rate.

/// A product of `rows` rows with `copies` matrices, of which each row uses `used`.
struct PlannedProduct {
  speculation::Operation law = speculation::Operation::qkv;  ///< Product whose parameters price it.
  double outputs = 0.0;
  double depth = 0.0;
  double copies = 1.0;
  double used = 1.0;
  double bytes_per_weight = 2.0;

  [[nodiscard]] double weight_bytes() const { return copies * outputs * depth * bytes_per_weight; }
};

struct SublayerCosts {
  CostCoefficients coefficients;
  std::vector<PlannedProduct> products;  ///< Products, for their arithmetic; empty without a plan.
  double kernels = 0.0;                  ///< Kernels that a host launches.
};

/// Bytes of keys and values that a sublayer reads for a request, on each GPU.
[[nodiscard]] double kv_bytes(const MixerKind& kind, const Scenario& scenario);

[[nodiscard]] SublayerCosts mixer_costs(const MixerKind& kind, const Scenario& scenario, WeightType type,
                                        WidthLaw law, const PassForm& form);
[[nodiscard]] SublayerCosts mlp_costs(const MlpKind& kind, const Scenario& scenario, WeightType type,
                                      WidthLaw law, const PassForm& form);
/// Norms of the last hidden state and of the next token's embedding, and the product that joins them.
[[nodiscard]] SublayerCosts join_costs(const Scenario& scenario, WeightType type, WidthLaw law,
                                       const PassForm& form);

/// Coefficients of the layers' mean sublayer that mixes positions, and of the mean feed-forward one: n_layers
/// times both are all of the model's.
[[nodiscard]] CostCoefficients mean_mixer(const Scenario& scenario, WeightType type, WidthLaw law,
                                          const PassForm& form);
[[nodiscard]] CostCoefficients mean_mlp(const Scenario& scenario, WeightType type, WidthLaw law,
                                        const PassForm& form);

/// Mean numbers of kernels of the two sublayers, for the launches of a host.
struct MeanKernels {
  double mixer = 0.0;
  double mlp = 0.0;
};
[[nodiscard]] MeanKernels mean_kernels(const Scenario& scenario);

/// Time by which arithmetic exceeds the memory time of products. 0 without a GPU's specification.
[[nodiscard]] double planned_excess_ns(const SublayerCosts& costs, const CostModel& model,
                                       const Scenario& scenario, const PassForm& form);

/// Weights of the layers that a GPU holds, those of next-token layers included where drafts use them.
[[nodiscard]] double held_layers(const Scenario& scenario);
/// Whether drafts, or passes for them, run the model's next-token layer.
[[nodiscard]] bool uses_next_token_layer(const Scenario& scenario);
/// Bytes of the product that joins state and embedding, on one GPU.
[[nodiscard]] double join_weights(const Scenario& scenario);
/// Keys, values and states of all requests that a GPU holds.
[[nodiscard]] double held_states(const Scenario& scenario);

/// Layers' weights that a vanilla step reads, on one GPU.
[[nodiscard]] double read_layers(const Scenario& scenario);

}  // namespace draftscope::simulator
