// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What an advice chooses from: early exits of every layer with fixed lengths and with confidence thresholds,
// and the recorded runs, whatever they draft with. Rounds are those of WhatIf::rounds(), one request a
// prompt, in the order of the shadow tables.

#include <draftscope/base/result.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// What the engine's early-exit strategies can be set to.
struct EarlyExitSetting {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  std::optional<double> threshold;  ///< a draft token of lower confidence is the round's last
  VerifiedLayers verified_layers = VerifiedLayers::all;
};

/// As on the command line: "layerskip:exit=5,gamma=4", "mix:stop=threshold,exit=5,gamma=8,threshold=0.6".
[[nodiscard]] std::string specification(const EarlyExitSetting& setting);

struct Candidate {
  std::optional<EarlyExitSetting> setting;  ///< absent: a recorded run
  StrategyRounds rounds;
};

struct Candidates {
  std::vector<std::int64_t> prompts;     ///< ids, by request
  std::vector<RoundStatistics> vanilla;  ///< by request
  std::vector<Candidate> all;            ///< none that never drafts
  std::vector<std::string> left_out;     ///< a line each: what was not considered, and why
};

struct CandidateOptions {
  std::int32_t longest = 17;  ///< fixed lengths 1, 2, …
  std::vector<std::int32_t> threshold_lengths{2, 4, 8, 16};
  std::vector<double> thresholds{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<std::string> strategies;  ///< considered besides
  /// Told of settings done, and all.
  std::function<void(std::int64_t, std::int64_t)> progress = [](std::int64_t, std::int64_t) {};
};

/// O(tokens · exits · (longest + thresholds · their lengths)). Errors: no shadow tokens, sampled texts, a
/// strategy of the options that this recording can't answer for.
[[nodiscard]] Result<Candidates> candidates(const WhatIf& what_if, const traces::Recording& recording,
                                            const CandidateOptions& options = {});

}  // namespace draftscope::simulator
