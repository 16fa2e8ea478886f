// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The cost model of one machine and engine, fitted to a recording or made of a GPU's specification.
//
// A fit is non-negative least squares on relative residuals, Huber-weighted (δ = 5 %), with Gaussian priors:
// a GPU's (t0, e) and width steps, pooled over the products; without a GPU's specification (a CPU) only the
// scale of the recording itself, so wide that they decide nothing but what the recording leaves open.
// Efficiencies stay at most 1 on a GPU. What the law then leaves over at whole passes is a second, small
// model (prices/fit/pass_corrections.h), so that a kind of pass that was measured is priced as it was
// measured.
//
// Values: a model is immutable after fitting and free to share between threads.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Growth of a product's time with its rows: steps where a library switches kernels (GPU), or a ramp where
/// each row costs its arithmetic (CPU).
enum class WidthLaw : std::uint8_t { steps, ramp };

/// Parameters of the cost law, in which times are linear (simulator/prices/fit/cost_parameters.h numbers
/// them).
inline constexpr std::size_t cost_parameter_count = 54;

/// One number for each parameter: its value, or a pass's coefficient of it.
using CostVector = std::array<double, cost_parameter_count>;

/// Passes whose prices differ in the context alone.
struct MeasuredPassKind {
  bool is_draft = false;
  /// A target step that follows another, as in vanilla decoding: it finds caches as a step left them.
  bool is_vanilla = false;
  std::int32_t attention = 0;  ///< sublayers of a draft step
  std::int32_t mlp = 0;
  std::int32_t rows = 1;       ///< of a target pass
  std::int32_t one_row = 0;    ///< of its layers that run one row: those below the exit
  std::int32_t n_layers = 1;   ///< of the model
  double weights_share = 1.0;  ///< of a draft step: speculation::DraftSublayers'

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten comparison for a pointer.
  friend auto operator<=>(const MeasuredPassKind&, const MeasuredPassKind&) = default;
};

/// How far a cost law is from kinds of passes, as standard deviations of ln(time / law).
struct CorrectionScale {
  double common = 0.0;  ///< of target passes: what neighbouring numbers of rows have in common
  double own = 0.0;     ///< of target passes: what they have not, kernels working in blocks of rows
  double drafts = 0.0;  ///< of drafts, whose depths share all kernels
};

/// Means over the passes of a kind that nothing interrupted: of a draft all steps of a round together.
struct MeasuredPass {
  MeasuredPassKind kind;
  CostVector coefficients{};
  double ns = 0.0;
  double relative_error = 0.0;  ///< standard error of `ns` / `ns`, blocks of requests being what varies
  double passes = 0.0;          ///< interrupted ones included
};

enum class ParameterSource : std::uint8_t {
  trace,           ///< the data at least halve the prior's standard deviation
  prior,           ///< mostly what the GPU's specification says
  not_identified,  ///< neither: the recording's scale and what other parameters leave
};

/// How steady a machine was: what another hour on it may differ by.
struct Drift {
  double sigma = 0.0;    ///< standard deviation between repeats of ln(time of a strategy / vanilla's)
  double freedom = 0.0;  ///< degrees of freedom of `sigma`; 0: not known
  double repeats = 0.0;  ///< over which times were taken
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
  /// Passes at which the rest that the law leaves over is corrected where the scenario is the recorded one,
  /// and between them.
  std::vector<MeasuredPass> passes;
  CorrectionScale correction_scale;
  /// Strategies' auxiliary passes against the law, by kind; used where the scenario is the recorded one.
  std::vector<MeasuredAuxiliaryPass> auxiliary_passes;
  double host_ratio = 1.0;        ///< time of the host's work beside passes, in that of the recorded host
  double stall_share = 0.0;       ///< of the uninterrupted time: what interruptions add
  Drift drift;                    ///< of the recorded machine; used where the scenario is the recorded one
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

/// A model that rests on the specification alone (graphs; memory family's attention and small kernels), with
/// the priors' covariance.
[[nodiscard]] CostModel cost_model_of(const GpuSpecification& gpu, const ModelShape& shape,
                                      WeightType weights);

/// Basis of a price, from the surest to none.
enum class Provenance : std::uint8_t {
  measured,
  fitted,
  prior,
  extrapolated,
  undetermined,  ///< a parameter that the recording leaves open
};

/// One thing that prices rest on beside the recording.
struct CostNote {
  Provenance provenance = Provenance::prior;
  double sigma = 0.0;  ///< relative standard deviation; 0 where none is known
  std::string text;
};

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
