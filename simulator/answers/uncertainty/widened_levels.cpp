// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/widened_levels.h"

#include <cmath>
#include <numbers>

#include "prices/costs/normal_draws.h"

namespace draftscope::simulator {

namespace {

constexpr double normal_90 = 1.2815515655446004;   // Φ⁻¹(0.9)
constexpr double normal_975 = 1.9599639845400545;  // Φ⁻¹(0.975)

double lower_level(double normal, double clusters, double sampled) {
  const double widened = student_quantile(normal, clusters - 1.0) * std::sqrt(clusters / (clusters - 1.0));
  const double bound = std::sqrt(sampled * widened * widened + (1.0 - sampled) * normal * normal);
  return 0.5 * std::erfc(bound / std::numbers::sqrt2);
}

}  // namespace

IntervalLevels widened_levels(std::size_t clusters, double sampled) {
  const auto count = static_cast<double>(clusters);
  const double level_80 = lower_level(normal_90, count, sampled);
  const double level_95 = lower_level(normal_975, count, sampled);
  return {.low_80 = level_80, .high_80 = 1.0 - level_80, .low_95 = level_95, .high_95 = 1.0 - level_95};
}

}  // namespace draftscope::simulator
