// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/measured_kernel.h>

#include <draftscope/base/statistics.h>

#include <array>

namespace draftscope::speculation {

std::string_view kernel_kind_name(KernelKind kind) {
  constexpr std::array<std::string_view, 5> names{"operation", "draft_step", "target_pass", "drafting_round",
                                                  "step_round"};
  return names[static_cast<std::size_t>(kind)];
}

Spread spread_of(std::vector<double> values) {
  return {interpolated_quantile(values, 0.5), interpolated_quantile(values, 0.25),
          interpolated_quantile(values, 0.75), static_cast<std::int64_t>(values.size())};
}

}  // namespace draftscope::speculation
