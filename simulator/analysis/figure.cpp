// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figure.h>

namespace draftscope::simulator {

std::optional<double> figure_number(const FigureValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* interval = std::get_if<Interval>(&value)) return interval->low;
  if (const auto* repeats = std::get_if<RepeatValues>(&value)) return repeats->median;
  return std::nullopt;
}

}  // namespace draftscope::simulator
