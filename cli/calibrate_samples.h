// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of kernels as they come in, and what they come to.

#include <draftscope/simulator/calibration.h>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace draftscope::cli {

class KernelSamples {
 public:
  /// Forms that differ by fewer than 64 context rows are one kernel, at their mean context.
  void add(const simulator::KernelForm& form, double ns);

  [[nodiscard]] std::vector<simulator::MeasuredKernel> kernels() const;

 private:
  using Key = std::tuple<simulator::KernelKind, simulator::Operation, std::int32_t, std::int32_t,
                         std::int32_t, std::int64_t>;
  struct Samples {
    simulator::KernelForm form;
    double context_sum = 0.0;
    std::vector<double> ns;
  };
  std::map<Key, Samples> by_form_;
};

}  // namespace draftscope::cli
