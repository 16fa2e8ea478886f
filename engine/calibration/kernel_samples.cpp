// SPDX-License-Identifier: GPL-3.0-or-later
#include "calibration/kernel_samples.h"

namespace draftscope::engine {

void KernelSamples::add(const speculation::KernelForm& form, double ns) {
  constexpr double same_context = 64.0;
  Samples& samples = by_form_[{form.kind, form.operation, form.sublayers.attention, form.sublayers.mlp,
                               form.rows, static_cast<std::int64_t>(form.context / same_context)}];
  samples.form = form;
  samples.context_sum += form.context;
  samples.ns.push_back(ns);
}

std::vector<speculation::MeasuredKernel> KernelSamples::kernels() const {
  std::vector<speculation::MeasuredKernel> kernels;
  for (const auto& [key, samples] : by_form_) {
    speculation::MeasuredKernel kernel{samples.form, speculation::spread_of(samples.ns)};
    kernel.form.context = samples.context_sum / static_cast<double>(samples.ns.size());
    kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace draftscope::engine
