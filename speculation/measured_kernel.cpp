// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/measured_kernel.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::speculation {

std::string_view kernel_kind_name(KernelKind kind) {
  constexpr std::array<std::string_view, 5> names{"operation", "draft_step", "target_pass", "drafting_round",
                                                  "step_round"};
  return names[static_cast<std::size_t>(kind)];
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], place - static_cast<double>(below));
  };
  return {at(0.5), at(0.25), at(0.75), static_cast<std::int64_t>(values.size())};
}

}  // namespace draftscope::speculation
