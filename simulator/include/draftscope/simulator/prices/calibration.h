// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Calibration: times of the kernels and passes that decide a machine's decoding speed, measured there in a
// minute (`draftscope calibrate`), and the resulting cost model. The fit is few-shot: anything not measured
// follows the specification of the GPU, or the scale of the measured kernels.
//
// A kernel is an operation inside a pass, or a whole pass of some sublayers and the head, with a number of
// rows and context rows. Its bytes follow from the model's shape (cost_parameters.h); they are stored for
// readers only. A file may contain several shapes. Weights that stay in the last-level cache follow another
// law than weights streamed from memory, and a shape is priced by the kernels on its side of that limit.
//
// All types are values; all functions are thread-safe. Times are in nanoseconds.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/measured_kernel.h>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// "gate up, 8 rows, context 64"; "verification of 8 rows, context 64".
[[nodiscard]] std::string kernel_name(const speculation::KernelForm& form, const ModelShape& shape);

struct CalibratedShape {
  ModelShape shape;
  WeightType weights = WeightType::bf16;
  std::vector<speculation::MeasuredKernel> kernels;
};

struct MachineCalibration {
  std::string device;     ///< "cpu", "cuda"
  std::string processor;  ///< Name from the backend.
  std::string kernel_set;
  std::int32_t threads = 0;  ///< 0 on a GPU
  std::string engine_version;
  std::string date;          ///< UTC, ISO 8601
  std::string gpu;           ///< Name in the table of specifications (gpu.h); empty if unknown.
  double cache_bytes = 0.0;  ///< Size of the last-level cache; 0 = unknown.
  std::optional<speculation::Spread> memory_gb_s;    ///< Bandwidth that reading alone reaches.
  std::optional<speculation::Spread> empty_pass_ns;  ///< A pass without layers or head: one launch, one wait.
  std::vector<CalibratedShape> shapes;

  [[nodiscard]] bool on_gpu() const { return device != "cpu"; }
  /// "AMD EPYC, 2 threads".
  [[nodiscard]] std::string name() const;
};

/// Bytes that a kernel moves: weights, activations, K/V. It is 0 for the rest of a round.
[[nodiscard]] double kernel_bytes(const speculation::KernelForm& form, const ModelShape& shape,
                                  WeightType weights);

/// Coefficients of one execution: its time is their dot product with the values
/// (simulator/prices/fit/cost_parameters.h).
[[nodiscard]] CostVector kernel_coefficients(const speculation::KernelForm& form, const ModelShape& shape,
                                             WeightType weights, WidthLaw law);

/// Returns JSON, `format` "draftscope calibration", `version` 1: identity, probes, and per shape every kernel
/// and the laws. It ends with a newline.
[[nodiscard]] std::string calibration_json(const MachineCalibration& calibration);

/// Parses a calibration; errors call the text `name`. Errors are one line each: no JSON, another format or
/// version, a GPU that the table does not know. Errors about fields: missing, of another type or out of
/// range, quartiles out of order, bytes or laws that contradict the shape or the kernels by more than 1 %.
[[nodiscard]] Result<MachineCalibration> parse_calibration(std::string_view text, std::string_view name);

struct WidthFactor {
  std::int32_t rows = 0;
  double context = 0.0;  ///< K/V rows before the pass.
  double factor = 0.0;   ///< Time of a target pass / that of one row.
};

/// t = launch + bytes · ns_per_byte over some kernels, with the relative residuals of the fit.
struct AffineLaw {
  KernelLaw law;
  std::size_t kernels = 0;
  double residual_p50 = 0.0;
  double residual_greatest = 0.0;
};

/// Laws of one shape's kernels; a law is absent where its kernels have fewer than two sizes.
struct CalibrationLaws {
  std::optional<AffineLaw> products;   ///< Operations with weights, one row.
  std::optional<AffineLaw> passes;     ///< Draft and target steps; the launch is their time without bytes.
  std::optional<AffineLaw> attention;  ///< One row over its K/V bytes.
  std::vector<WidthFactor> widths;     ///< Passes through all layers, by rows, then context.
};
[[nodiscard]] CalibrationLaws calibration_laws(const CalibratedShape& shape);

/// Fits the whole cost model to the kernels that price `shape`: those of the shapes on its side of the
/// last-level cache, or all. Errors: no kernels, no pass among them, times that are not positive.
[[nodiscard]] Result<CostFit> fit_calibration(const MachineCalibration& calibration, const ModelShape& shape,
                                              WeightType weights);

/// Errors of kernels that were left out of the fit, one at a time, and predicted from the others.
struct LeaveOneOut {
  struct Error {
    std::string kernel;
    bool is_pass = false;
    double error = 0.0;  ///< predicted / measured − 1
  };
  std::vector<Error> errors;
  double p50 = 0.0;  ///< Median of magnitudes.
  double greatest = 0.0;
  double pass_rms = 0.0;  ///< Root mean square over draft and target passes.
};
enum class LeftOut : std::uint8_t { every_kernel, passes };
/// Leaves out operations and passes in turn, or passes only, with one fit each. The constants of rounds are
/// never left out, since no other kernel determines them. Errors: those of fit_calibration().
[[nodiscard]] Result<LeaveOneOut> leave_one_out(const MachineCalibration& calibration,
                                                const ModelShape& shape, WeightType weights,
                                                LeftOut which = LeftOut::every_kernel);

/// Cost model of the machine for `shape`: the fit, with its covariance widened by the laws' errors on passes
/// that they have not seen (a common factor of launches and one of rates, at least 1 %). Errors: those of
/// fit_calibration().
[[nodiscard]] Result<CostModel> calibrated_model(const MachineCalibration& calibration,
                                                 const ModelShape& shape, WeightType weights);

/// Basis of the prices of `shape`: how many kernels of which shapes were measured, how well they predict one
/// another, what is extrapolated. Errors: those of fit_calibration().
[[nodiscard]] Result<std::vector<CostNote>> calibration_notes(const MachineCalibration& calibration,
                                                              const ModelShape& shape, WeightType weights);

}  // namespace draftscope::simulator
