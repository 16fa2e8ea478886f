// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>

#include "prices/calibration_fit.h"
#include "prices/costs/cost_parameters.h"

namespace draftscope::simulator {

Result<LeaveOneOut> leave_one_out(const MachineCalibration& calibration, const ModelShape& shape,
                                  WeightType weights, LeftOut which) {
  const auto shapes = pricing_shapes(calibration, shape, weights);
  LeaveOneOut result;
  double squares = 0.0;
  double passes = 0.0;
  std::vector<double> magnitudes;
  for (const CalibratedShape* measured : shapes) {
    for (const speculation::MeasuredKernel& kernel : measured->kernels) {
      const speculation::KernelForm& form = kernel.form;
      const bool is_pass = form.kind == speculation::KernelKind::draft_step ||
                           form.kind == speculation::KernelKind::target_pass;
      if (!is_pass && (form.kind != speculation::KernelKind::operation || which == LeftOut::passes)) continue;
      DRAFTSCOPE_TRY_ASSIGN(const CostFit fit, fit_kernels(calibration, shapes, &kernel));
      const CostVector coefficients =
          kernel_coefficients(form, measured->shape, measured->weights, fit.model.width_law);
      const double predicted = dot(coefficients, fit.model.values);
      const double error = predicted / kernel.ns.median - 1.0;
      if (is_pass) {
        squares += error * error;
        passes += 1.0;
      }
      magnitudes.push_back(std::abs(error));
      result.errors.push_back({kernel_name(form, measured->shape), is_pass, error});
    }
  }
  if (magnitudes.empty()) return result;
  result.greatest = *std::max_element(magnitudes.begin(), magnitudes.end());
  result.p50 = speculation::spread_of(std::move(magnitudes)).median;
  if (passes > 0.0) result.pass_rms = std::sqrt(squares / passes);
  return result;
}

}  // namespace draftscope::simulator
