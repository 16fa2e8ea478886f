// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Cost model of one machine and engine, fitted to a recording or derived from a GPU's specification.
//
// A fit is non-negative least squares on relative residuals, Huber-weighted (δ = 5 %), with Gaussian priors.
// On a GPU with a specification, these are its (t0, e) and width steps, pooled over the products. Without one
// (a CPU) they have the scale of the recording itself. They are so wide that they only decide parameters that
// the recording leaves open. Efficiencies stay at most 1 on a GPU. A second, small model corrects the
// residuals of whole passes (prices/fit/pass_corrections.h), so that measured kinds of passes get their
// measured prices.
//
// A model is a value, immutable after fitting and free to share between threads.

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

/// Growth of a time with the rows of a pass: a ramp of the first rows and steps where kernels or tiles change
/// (GPU), or ramps where each row adds its arithmetic (CPU).
enum class WidthLaw : std::uint8_t { steps, ramp };

/// Parameters of the cost law, in which times are linear (simulator/prices/fit/cost_parameters.h numbers
/// them).
inline constexpr std::size_t cost_parameter_count = 60;

/// [parameter]: its value, or a pass's coefficient of it.
using CostVector = std::array<double, cost_parameter_count>;

/// Kind of passes whose prices differ only in the context.
struct MeasuredPassKind {
  bool is_draft = false;
  /// Whether the target step follows another one, as in vanilla decoding, which leaves the caches warm.
  bool is_vanilla = false;
  std::int32_t attention = 0;  ///< Attention sublayers of a draft step.
  std::int32_t mlp = 0;
  std::int32_t rows = 1;              ///< Rows of a target pass.
  std::int32_t one_row = 0;           ///< Layers of a target pass that run one row: those below the exit.
  std::int32_t n_layers = 1;          ///< Layers of the model.
  std::optional<WeightType> weights;  ///< Type of a draft's own weights; absent = the target's weights.

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the 0 of a rewritten comparison for a pointer.
  friend auto operator<=>(const MeasuredPassKind&, const MeasuredPassKind&) = default;
};

/// Deviation of kinds of passes from a cost law, as standard deviations of ln(time / law).
struct CorrectionScale {
  double common = 0.0;  ///< Target passes: part that neighbouring numbers of rows share.
  double own = 0.0;     ///< Target passes: independent part, since kernels work in blocks of rows.
  double drafts = 0.0;  ///< Drafts, whose depths share all kernels.
};

/// Mean over uninterrupted passes of one kind. For a draft, it is the mean over all steps of a round
/// together.
struct MeasuredPass {
  MeasuredPassKind kind;
  CostVector coefficients{};
  double ns = 0.0;
  double relative_error = 0.0;  ///< Standard error of `ns` / `ns`, with variation between blocks of requests.
  double passes = 0.0;          ///< Number of passes, including interrupted ones.
};

/// Layers of drafts on weights of their own, as measured / by the law of products of their type.
struct MeasuredDraftType {
  WeightType type = WeightType::bf16;
  double factor = 1.0;
};

enum class ParameterSource : std::uint8_t {
  trace,           ///< The data at least halve the prior's standard deviation.
  prior,           ///< Mostly the law of the engine on the GPU.
  not_identified,  ///< Neither: it follows from the recording's scale and the other parameters.
};

/// Stability of a machine: the expected difference between two hours on it.
struct Drift {
  /// Standard deviation between repeats of ln(time of a strategy / vanilla's); of a single repeat, its
  /// standard error by the differences between requests.
  double sigma = 0.0;
  double freedom = 0.0;  ///< Degrees of freedom of `sigma`; 0 = not known.
  double repeats = 0.0;  ///< Number of repeats over which times were taken.
};

struct CostModel {
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  WidthLaw width_law = WidthLaw::ramp;
  std::optional<GpuSpecification> gpu;  ///< Absent for a CPU, or an unnamed GPU.
  const EngineLaw* engine = nullptr;    ///< Law of the engine on a GPU; null = library kernels.
  /// Whether verifications are launched for the rows that were planned (EngineLaw::launches_as_planned).
  bool launches_as_planned = false;
  Regime regime = Regime::as_fitted;  ///< as_fitted where unknown
  bool from_trace = false;
  bool is_calibrated = false;  ///< Whether the fit is to a calibration, which has passes and no runs.
  CostVector values{};
  std::array<ParameterSource, cost_parameter_count> sources{};  ///< Sources of `values`.
  std::vector<double> covariance;  ///< [parameter][parameter]; covariance of `values`
  /// Measured passes at which the law's residual is corrected where the scenario is the recorded one; between
  /// them, it is interpolated.
  std::vector<MeasuredPass> passes;
  CorrectionScale correction_scale;
  std::vector<MeasuredDraftType> draft_types;  ///< Used wherever the engine is the recorded one.
  /// Measured auxiliary passes of strategies relative to the law, by kind; used where the scenario is the
  /// recorded one.
  std::vector<MeasuredAuxiliaryPass> auxiliary_passes;
  double host_ratio = 1.0;  ///< Time of the host's work outside passes / that of the recorded host.
  /// Time added by interruptions / uninterrupted time: over all rounds after a fit, and that of vanilla
  /// decoding in a trained recording, whose vanilla run so has its measured time. Other GPUs do not have it.
  double stall_share = 0.0;
  double interrupted_share = 0.0;  ///< Share of the recorded time that interruptions took.
  Drift drift;  ///< Drift of the recorded machine; used where the scenario is the recorded one.
  std::int32_t largest_rows = 0;  ///< Maximum rows of a recorded pass; 0 without a trace.
  double largest_context = 0.0;
};

struct FittedParameter {
  std::string name;
  double value = 0.0;
  double sigma = 0.0;  ///< Standard error; 0 for a parameter at its bound.
  bool at_bound = false;
  ParameterSource source = ParameterSource::not_identified;
};

struct CostFitReport {
  std::vector<FittedParameter> parameters;  ///< [parameter]
  std::size_t groups = 0;
  double residual_p50 = 0.0;  ///< Median of |relative residual| over groups.
  double residual_p90 = 0.0;
  double pass_residual_p50 = 0.0;  ///< Median over draft and target passes only.
  double pass_residual_p90 = 0.0;
  /// (recorded wall − modelled) / recorded, over all rounds, including interruptions.
  double conservation_residual = 0.0;
  bool has_gpu_prior = false;
};

struct CostFit {
  CostModel model;
  CostFitReport report;
};

/// A model derived from the specification only (graphs; attention and small kernels from the memory family),
/// or from the engine's own law, with the priors' covariance.
[[nodiscard]] CostModel cost_model_of(const GpuSpecification& gpu, const ModelShape& shape,
                                      WeightType weights, const EngineLaw* engine = nullptr);

/// Basis of a price, from the most to the least certain.
enum class Provenance : std::uint8_t {
  measured,
  fitted,
  prior,
  extrapolated,
  undetermined,  ///< A parameter that the recording does not determine.
};

/// One basis of prices other than the recording.
struct CostNote {
  Provenance provenance = Provenance::prior;
  double sigma = 0.0;  ///< Relative standard deviation; 0 where unknown.
  std::string text;
};

/// One kernel of a calibration: bytes moved and time.
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

/// Fits t = t0 + bytes · ns_per_byte with the same robust fit as the cost model, without a prior. Errors:
/// fewer than two kernels, values that are not positive.
[[nodiscard]] Result<KernelLaw> fit_kernel_law(std::span<const KernelTime> kernels);

}  // namespace draftscope::simulator
