// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Active measurement: which kernel, measured next, would tell most about an answer.
//
// The cost model is linear in its parameters θ with covariance Σ, so one more measurement with coefficients a
// and standard deviation s takes (gᵀΣa)² / (aᵀΣa + s²) off the variance gᵀΣg of an answer with gradient g:
// the one-step c-optimal design (Pukelsheim, Optimal Design of Experiments, §2). Without an answer in mind
// the information of a measurement, ½ ln(1 + aᵀΣa / s²), is the step of a D-optimal design.

#include <draftscope/simulator/calibration/calibration.h>
#include <draftscope/simulator/costs/cost_model.h>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// What a round of `gamma` draft tokens at exit `exit` takes in vanilla steps, at `context`.
struct RoundCostQuestion {
  std::int32_t exit = 1;
  std::int32_t gamma = 4;
  double context = 512.0;
};

/// Gradient of ln(round / vanilla step) to the parameters; of the model's own shape. Errors: an exit beyond
/// the layers, a draft length that is not positive.
[[nodiscard]] Result<CostVector> cost_gradient(const CostModel& model, const RoundCostQuestion& question);

struct NextMeasurement {
  speculation::KernelForm form;
  double variance_share = 0.0;  ///< of the answer's variance that it takes away; 0 without an answer
  double information = 0.0;     ///< nats
};

/// All candidates, the best first. `noise` is the relative standard deviation of a measurement, above 0;
/// without a gradient information decides. Expects the covariance of a fitted or specified model.
[[nodiscard]] std::vector<NextMeasurement> next_measurements(
    const CostModel& model, const std::optional<CostVector>& gradient,
    std::span<const speculation::KernelForm> candidates, double noise);

/// Standard deviation of an answer with this gradient, as the covariance has it.
[[nodiscard]] double answer_sigma(const CostModel& model, const CostVector& gradient);

/// What `calibrate` can measure of a shape: steps of a draft at every exit, target passes of 1 to 32 rows, at
/// contexts of 64 to 4096 rows.
[[nodiscard]] std::vector<speculation::KernelForm> measurable_kernels(const ModelShape& shape);

}  // namespace draftscope::simulator
