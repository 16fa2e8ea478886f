// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/calibration.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace draftscope::simulator {

namespace {

bool is_product(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::operation &&
         static_cast<std::size_t>(form.operation) < speculation::product_count;
}

bool is_attention(const speculation::KernelForm& form) {
  return form.kind == speculation::KernelKind::operation &&
         form.operation == speculation::Operation::attention;
}

std::optional<AffineLaw> law_of(const CalibratedShape& shape,
                                const std::function<bool(const speculation::KernelForm&)>& belongs) {
  std::vector<KernelTime> kernels;
  for (const speculation::MeasuredKernel& kernel : shape.kernels)
    if (kernel.form.rows == 1 && belongs(kernel.form))
      kernels.push_back({kernel_bytes(kernel.form, shape.shape, shape.weights), kernel.ns.median});
  const auto [least, most] =
      std::minmax_element(kernels.begin(), kernels.end(),
                          [](const KernelTime& a, const KernelTime& b) { return a.bytes < b.bytes; });
  constexpr double other_size = 1.1;  // closer ones tell the noise's slope
  if (kernels.empty() || most->bytes < other_size * least->bytes) return std::nullopt;
  const auto fitted = fit_kernel_law(kernels);
  if (!fitted) return std::nullopt;
  AffineLaw law{.law = *fitted, .kernels = kernels.size()};
  std::vector<double> residuals;
  residuals.reserve(kernels.size());
  for (const KernelTime& kernel : kernels)
    residuals.push_back(std::abs((fitted->launch_ns + kernel.bytes * fitted->ns_per_byte) / kernel.ns - 1.0));
  law.residual_greatest = *std::max_element(residuals.begin(), residuals.end());
  law.residual_p50 = speculation::spread_of(std::move(residuals)).median;
  return law;
}

bool runs_everything(const speculation::MeasuredKernel& kernel, const ModelShape& shape) {
  return kernel.form.kind == speculation::KernelKind::target_pass &&
         kernel.form.sublayers.attention == shape.n_layers && kernel.form.sublayers.mlp == shape.n_layers;
}

/// Against the pass of one row whose context is nearest.
std::vector<WidthFactor> width_factors(const CalibratedShape& shape) {
  std::vector<WidthFactor> widths;
  for (const speculation::MeasuredKernel& wide : shape.kernels) {
    if (!runs_everything(wide, shape.shape) || wide.form.rows == 1) continue;
    const speculation::MeasuredKernel* one = nullptr;
    const auto distance = [&](const speculation::MeasuredKernel& to) {
      return std::abs(to.form.context - wide.form.context);
    };
    for (const speculation::MeasuredKernel& kernel : shape.kernels)
      if (runs_everything(kernel, shape.shape) && kernel.form.rows == 1 &&
          (one == nullptr || distance(kernel) < distance(*one)))
        one = &kernel;
    constexpr double same_context = 64.0;
    if (one != nullptr && distance(*one) < same_context)
      widths.push_back({wide.form.rows, wide.ns.median / one->ns.median});
  }
  std::stable_sort(widths.begin(), widths.end(),
                   [](const WidthFactor& a, const WidthFactor& b) { return a.rows < b.rows; });
  return widths;
}

}  // namespace

CalibrationLaws calibration_laws(const CalibratedShape& shape) {
  return {.products = law_of(shape, is_product),
          .passes = law_of(shape,
                           [](const speculation::KernelForm& form) {
                             return form.kind == speculation::KernelKind::draft_step ||
                                    form.kind == speculation::KernelKind::target_pass;
                           }),
          .attention = law_of(shape, is_attention),
          .widths = width_factors(shape)};
}

}  // namespace draftscope::simulator
