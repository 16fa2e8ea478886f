// SPDX-License-Identifier: GPL-3.0-or-later
#include "token_waterfall.h"

#include <utility>

namespace draftscope::gui {

std::vector<TokenTimeStep> token_waterfall(const simulator::RoundAccount& round) {
  if (round.unit != simulator::RoundUnit::vanilla_step || !(round.unit_ns > 0.0) || !round.takes ||
      !round.parts || !round.yields || !(*round.yields > 0.0))
    return {};
  const double step_per_token = round.unit_ns / *round.yields;
  const simulator::RoundParts& parts = *round.parts;
  std::vector<TokenTimeStep> steps{{TokenTime::vanilla, round.unit_ns, 0.0}};
  double at = round.unit_ns;
  for (const auto& [what, ns] : {std::pair(TokenTime::fewer_steps, step_per_token - round.unit_ns),
                                 std::pair(TokenTime::verification, (parts.verify - 1.0) * step_per_token),
                                 std::pair(TokenTime::draft, parts.draft * step_per_token),
                                 std::pair(TokenTime::decide, parts.decide * step_per_token),
                                 std::pair(TokenTime::accept, parts.accept * step_per_token),
                                 std::pair(TokenTime::outside, parts.outside * step_per_token)}) {
    steps.push_back({what, ns, at});
    at += ns;
  }
  steps.push_back({TokenTime::run, *round.takes * step_per_token, 0.0});
  return steps;
}

}  // namespace draftscope::gui
