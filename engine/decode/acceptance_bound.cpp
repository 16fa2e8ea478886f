// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/acceptance_bound.h"

#include <algorithm>
#include <cmath>

namespace draftscope::engine {

double acceptance_bound(std::span<const float> logits, double weight) {
  const double maximum = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double total = 0.0;
  double weighted = 0.0;
  for (const float logit : logits) {
    const double below = static_cast<double>(logit) - maximum;
    const double share = std::exp(below);
    if (share == 0.0) continue;  // masked: 0 · −∞ is 0 here
    total += share;
    weighted += share * below;
  }
  const double entropy = std::log(total) - weighted / total;
  return 1.0 - std::sqrt(weight * std::max(entropy, 0.0));
}

}  // namespace draftscope::engine
