// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Collects times of kernels, and computes their medians.

#include <draftscope/speculation/measured_kernel.h>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace draftscope::engine {

class KernelSamples {
 public:
  /// Adds a time. Forms that differ by fewer than 64 context rows count as one kernel, at their mean context.
  void add(const speculation::KernelForm& form, double ns);

  /// Kernels with the quartiles of their times, in order of their forms.
  [[nodiscard]] std::vector<speculation::MeasuredKernel> kernels() const;

 private:
  using Key = std::tuple<speculation::KernelKind, speculation::Operation, std::int32_t, std::int32_t,
                         std::int32_t, std::int64_t>;
  struct Samples {
    speculation::KernelForm form;
    double context_sum = 0.0;
    std::vector<double> ns;
  };
  std::map<Key, Samples> by_form_;
};

}  // namespace draftscope::engine
