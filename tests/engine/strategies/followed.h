// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decodes greedily with the toy model and lets a test inspect every round of the strategy.

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "../decode/expect_decoded.h"
#include "toy_backend.h"

namespace draftscope::engine {

using Random = std::mt19937;
using Tokens = std::vector<std::int32_t>;

[[nodiscard]] std::int32_t pick(Random& random, std::int32_t low, std::int32_t high);
/// A text of `count` random tokens below `vocab`.
[[nodiscard]] Tokens random_text(Random& random, std::int32_t count, std::int32_t vocab);

struct SeenRound {
  const RoundView& view;
  const RoundPlan& plan;
  const RoundOutcome& outcome;
};

/// Decodes and returns the text. Calls `look` after each round, before the strategy observes the round.
Tokens follow(const ToyBackend::Options& options, const std::string& specification,
              const DecodeRequest& request, const std::function<void(const SeenRound& round)>& look);

/// The toy model's best token after a text, from a pass over that text alone.
[[nodiscard]] std::int32_t best_behind(const ToyBackend::Options& options,
                                       std::span<const std::int32_t> text);

}  // namespace draftscope::engine
