// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scores a setting on calibration prompts: greedy decoding, against vanilla.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/tuning/policy.h>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::engine {

enum class Objective : std::uint8_t {
  speedup,           ///< tokens per second over vanilla's, measured in the same trial
  acceptance_model,  ///< tokens per weights read: what the speedup would be if time were bytes alone
};

/// Shared by all trials of a search. Backend, checkpoint and `cancelled` are not owned.
struct ScoringSetup {
  Backend& backend;
  const Checkpoint& checkpoint;                    ///< the one that `backend` runs
  std::vector<std::vector<std::int32_t>> prompts;  ///< token ids
  std::int32_t max_tokens = 32;                    ///< tokens of each decode
  Objective objective = Objective::speedup;
  const std::atomic<bool>* cancelled = nullptr;  ///< looked at between rounds; null = never cancelled
};

/// Measures `setting` (a strategy specification) on `prompts` of the prompts, spread evenly over all. None =
/// cancelled. With Objective::speedup every prompt is decoded twice, by vanilla and by the setting, and who
/// goes first alternates: a machine that slows down slows both. Fails as make_strategy() and decode() do, and
/// if the text differs from vanilla's. Uses the backend alone: one call at a time.
[[nodiscard]] Result<std::optional<Measurement>> score_setting(const ScoringSetup& setup,
                                                               const std::string& setting,
                                                               std::int32_t prompts);

}  // namespace draftscope::engine
