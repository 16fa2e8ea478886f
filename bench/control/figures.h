// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of a strategy's measurements: medians and quartiles over repeats.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measured.h"

namespace draftscope::bench {

/// Every repeat of one strategy; at least one.
struct MeasuredStrategy {
  std::string specification;
  std::vector<Measurement> repeats;
};

/// Times in ms, shares of 1; a figure that a strategy has not (it never optimised) is null.
[[nodiscard]] nlohmann::ordered_json to_json(const MeasuredStrategy& measured);
/// An aligned table of a list of what to_json() made.
[[nodiscard]] std::string table_text(const nlohmann::ordered_json& strategies);

}  // namespace draftscope::bench
