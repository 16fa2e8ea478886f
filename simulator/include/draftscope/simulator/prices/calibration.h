// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What one machine takes for the kernels and passes that decide decoding speed, measured there in a minute
// (`draftscope calibrate`), and the cost model that follows: few-shot, so that what was not measured stays
// with the specification of its GPU, or with the scale of what was.
//
// A kernel is an operation inside a pass, or a whole pass of some sublayers and the head, at so many rows and
// context rows; its bytes follow from the model's shape (cost_work.h) and are stored to be read, not trusted.
// A file may hold several shapes: weights that stay in the last cache follow another law than weights that
// are streamed from memory, and an asked shape is priced by those on its own side.
//
// Values; all functions are thread-safe. Times in nanoseconds.

#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/measured_kernel.h>
#include <cstdint>
#include <optional>
#include <span>
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
  std::string processor;  ///< as the backend names it
  std::string kernel_set;
  std::int32_t threads = 0;  ///< 0 on a GPU
  std::string engine_version;
  std::string date;          ///< UTC, ISO 8601
  std::string gpu;           ///< of the table of specifications (gpu.h); empty if none is known
  double cache_bytes = 0.0;  ///< the last cache's; 0 = unknown
  std::optional<speculation::Spread> memory_gb_s;    ///< what reading alone reaches
  std::optional<speculation::Spread> empty_pass_ns;  ///< a pass without layers or head: one launch, one wait
  std::vector<CalibratedShape> shapes;

  [[nodiscard]] bool on_gpu() const { return device != "cpu"; }
  /// "AMD EPYC, 2 threads".
  [[nodiscard]] std::string name() const;
};

/// Bytes that a kernel moves: weights, activations, K/V. 0 of the rest of a round.
[[nodiscard]] double kernel_bytes(const speculation::KernelForm& form, const ModelShape& shape,
                                  WeightType weights);

/// Coefficients of one execution: its time is values · these (simulator/prices/fit/cost_parameters.h).
[[nodiscard]] CostVector kernel_coefficients(const speculation::KernelForm& form, const ModelShape& shape,
                                             WeightType weights, WidthLaw law);

/// JSON, `format` "draftscope calibration", `version` 1: identity, probes, and per shape every kernel and the
/// laws. Ended by a newline.
[[nodiscard]] std::string calibration_json(const MachineCalibration& calibration);

/// `name` is what errors call the text. Errors, one line each: no JSON, another format or version, a field
/// that is missing, of another type or out of range, quartiles out of order, bytes or laws that contradict
/// the shape or the kernels by more than 1 %, a GPU that the table does not know.
[[nodiscard]] Result<MachineCalibration> parse_calibration(std::string_view text, std::string_view name);

struct WidthFactor {
  std::int32_t rows = 0;
  double factor = 0.0;  ///< time of a target pass over that of one row
};

/// t = launch + bytes · ns_per_byte over some kernels, with the relative residuals that it leaves.
struct AffineLaw {
  KernelLaw law;
  std::size_t kernels = 0;
  double residual_p50 = 0.0;
  double residual_greatest = 0.0;
};

/// Laws of one shape's kernels; a law is absent where its kernels have fewer than two sizes.
struct CalibrationLaws {
  std::optional<AffineLaw> products;   ///< operations with weights, one row
  std::optional<AffineLaw> passes;     ///< draft steps and target steps: what a pass takes beside its bytes
  std::optional<AffineLaw> attention;  ///< one row over its K/V bytes
  std::vector<WidthFactor> widths;     ///< of passes through all layers, by rows
};
[[nodiscard]] CalibrationLaws calibration_laws(const CalibratedShape& shape);

/// The fit of the whole cost model to the kernels that price `shape`: those of the shapes on its side of the
/// last cache, or all. Errors: no kernels, none of a pass, times that are not positive.
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
  double p50 = 0.0;  ///< of magnitudes
  double greatest = 0.0;
  double pass_rms = 0.0;  ///< of draft and target passes
};
enum class LeftOut : std::uint8_t { every_kernel, passes };
/// Operations and passes in turn, or passes alone, a fit each; not the constants of rounds, which nothing
/// else tells of. Errors: as fit_calibration().
[[nodiscard]] Result<LeaveOneOut> leave_one_out(const MachineCalibration& calibration,
                                                const ModelShape& shape, WeightType weights,
                                                LeftOut which = LeftOut::every_kernel);

/// The machine's cost model for `shape`: the fit, its covariance widened by what laws predict of passes they
/// have not seen (a common factor of launches and one of rates, at least 1 %). Errors: as fit_calibration().
[[nodiscard]] Result<CostModel> calibrated_model(const MachineCalibration& calibration,
                                                 const ModelShape& shape, WeightType weights);

/// Basis of prices of `shape`: how many kernels of which shapes were measured, how well they predict one
/// another, what is extrapolated. Errors: as fit_calibration().
[[nodiscard]] Result<std::vector<CostNote>> calibration_notes(const MachineCalibration& calibration,
                                                              const ModelShape& shape, WeightType weights);

}  // namespace draftscope::simulator
