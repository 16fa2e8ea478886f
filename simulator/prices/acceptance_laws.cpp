// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/acceptance_laws.h>

#include <algorithm>

namespace draftscope::simulator {

double accepted_by_token(std::span<const double> ratios) {
  double stays = 1.0;
  double tokens = 0.0;
  for (const double ratio : ratios) tokens += stays *= std::min(ratio, 1.0);
  return tokens;
}

double accepted_by_block(std::span<const double> ratios) {
  double stays = 1.0;
  double tokens = 0.0;
  for (const double ratio : ratios) tokens += stays = std::min(stays * ratio, 1.0);
  return tokens;
}

}  // namespace draftscope::simulator
