// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/explain/phrases.h"

#include <fmt/format.h>

#include <cmath>

namespace draftscope::simulator {

std::string share_text(double share) {
  const double percent = 100.0 * share;
  const bool is_small = percent > 0.0 && percent < 9.95;
  return percent_text(share, is_small ? 1 : 0);
}

std::string amount_text(double amount) {
  const double size = std::abs(amount);
  if (size < 9.995) return fmt::format("{:.2f}", amount);
  return size < 99.95 ? fmt::format("{:.1f}", amount) : fmt::format("{:.0f}", amount);
}

std::string steps_text(double steps, RoundUnit unit) {
  const bool is_vanilla = unit == RoundUnit::vanilla_step;
  return amount_text(steps) + (is_vanilla ? " vanilla steps" : " of its own verifications");
}

std::string count_text(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace draftscope::simulator
