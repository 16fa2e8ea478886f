// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Questions without an answer, as the documents of `simulate` and `advise` list them.

#include <nlohmann/json.hpp>
#include <vector>

#include "report/answers/simulate_text.h"

namespace draftscope::cli {

[[nodiscard]] inline nlohmann::ordered_json refusals_json(const std::vector<Refusal>& refusals) {
  auto list = nlohmann::ordered_json::array();
  for (const Refusal& refusal : refusals)
    list.push_back(
        {{"strategy", refusal.strategy}, {"machine", refusal.machine}, {"reason", refusal.reason}});
  return list;
}

}  // namespace draftscope::cli
