// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The cost model of one machine and engine, fitted to a recording or made of a GPU's specification.
//
// A fit is non-negative least squares on relative residuals, Huber-weighted (δ = 5 %), with Gaussian priors:
// a GPU's (t0, e) and width steps, pooled over the products; without a GPU's specification (a CPU) only the
// scale of the recording itself, so wide that they decide nothing but what the recording leaves open.
// Efficiencies stay at most 1 on a GPU. What the law then leaves over at whole passes is a second, small
// model (costs/pass_corrections.h), so that a kind of pass that was measured is priced as it was measured.
//
// Values: a model is immutable after fitting and free to share between threads.

#include <draftscope/base/result.h>
#include <draftscope/simulator/costs/cost_observations.h>
#include <draftscope/simulator/hardware/gpu.h>
#include <draftscope/simulator/hardware/regime.h>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

enum class ParameterSource : std::uint8_t {
  trace,           ///< the data at least halve the prior's standard deviation
  prior,           ///< mostly what the GPU's specification says
  not_identified,  ///< neither: the recording's scale and what other parameters leave
};

struct CostModel {
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  WidthLaw width_law = WidthLaw::ramp;
  std::optional<GpuSpecification> gpu;  ///< absent: a CPU, or a GPU nobody named
  Regime regime = Regime::as_fitted;    ///< as_fitted where unknown
  bool from_trace = false;
  CostVector values{};
  std::array<ParameterSource, cost_parameter_count> sources{};  ///< of `values`
  std::vector<double> covariance;                               ///< [parameter][parameter], of `values`
  /// What the law leaves over at these is corrected where the scenario is the recorded one, and between them.
  std::vector<MeasuredPass> passes;
  CorrectionScale correction_scale;
  double stall_share = 0.0;       ///< of the uninterrupted time: what interruptions add
  std::int32_t largest_rows = 0;  ///< that the trace has; 0 without a trace
  double largest_context = 0.0;
};

struct FittedParameter {
  std::string name;
  double value = 0.0;
  double sigma = 0.0;  ///< standard error; 0 for one that its bound holds
  bool at_bound = false;
  ParameterSource source = ParameterSource::not_identified;
};

struct CostFitReport {
  std::vector<FittedParameter> parameters;  ///< [parameter]
  std::size_t groups = 0;
  std::size_t operation_groups = 0;
  double residual_p50 = 0.0;  ///< of |relative residual| over groups
  double residual_p90 = 0.0;
  double pass_residual_p50 = 0.0;  ///< over draft and target passes alone
  double pass_residual_p90 = 0.0;
  double condition = 0.0;  ///< of the scaled data without priors; infinite if they leave a direction open
  /// (recorded wall − modelled) / recorded, of all rounds, interruptions included.
  double conservation_residual = 0.0;
  /// |relative residual| of the measured kinds of passes, a mean weighed by their time: of the law, and of
  /// its corrected times.
  double law_residual = 0.0;
  double corrected_residual = 0.0;
  bool has_gpu_prior = false;
};

struct CostFit {
  CostModel model;
  CostFitReport report;
};

/// `gpu` is what the recording was made on; its numbers become priors. Errors: no groups, or times that are
/// not positive.
[[nodiscard]] Result<CostFit> fit_cost_model(const CostObservations& observations,
                                             const std::optional<GpuSpecification>& gpu = {});

/// A model that rests on the specification alone (graphs; memory family's attention and small kernels), with
/// the priors' covariance.
[[nodiscard]] CostModel cost_model_of(const GpuSpecification& gpu, const ModelShape& shape,
                                      WeightType weights);

/// Values of all parameters that a GPU's specification implies.
[[nodiscard]] CostVector specified_values(const GpuSpecification& gpu);

/// One kernel of a calibration: bytes moved, time taken.
struct KernelTime {
  double bytes = 0.0;
  double ns = 0.0;
};

struct KernelLaw {
  double launch_ns = 0.0;    ///< t0
  double ns_per_byte = 0.0;  ///< 1 / (e · bandwidth)
  double launch_sigma = 0.0;
  double ns_per_byte_sigma = 0.0;
};

/// t = t0 + bytes · ns_per_byte by the same robust fit, without a prior. Errors: fewer than two kernels,
/// values that are not positive.
[[nodiscard]] Result<KernelLaw> fit_kernel_law(std::span<const KernelTime> kernels);

}  // namespace draftscope::simulator
