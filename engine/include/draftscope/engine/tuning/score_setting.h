// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Scores a setting on calibration prompts by greedy decoding, relative to vanilla.

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
  speedup,           ///< Tokens per second relative to vanilla's, measured in the same trial.
  acceptance_model,  ///< Tokens per weights read: the speedup if only bytes took time.
};

/// Setup shared by all trials of a search. Backend, checkpoint and `cancelled` are not owned.
struct ScoringSetup {
  Backend& backend;
  const Checkpoint& checkpoint;                    ///< checkpoint of the model that `backend` runs
  std::vector<std::vector<std::int32_t>> prompts;  ///< token ids
  std::int32_t max_tokens = 32;                    ///< tokens per decode
  Objective objective = Objective::speedup;
  const std::atomic<bool>* cancelled = nullptr;  ///< Checked between rounds; null = never cancelled.
};

/// Measures `setting` (a strategy specification) on `prompts` of the prompts, spread evenly over all. None =
/// cancelled. With Objective::speedup every prompt is decoded twice, by vanilla and by the setting. Who goes
/// first alternates, so that a machine that slows down slows both. Fails as make_strategy() and decode() do,
/// if the text differs from vanilla's, and with Objective::acceptance_model for a strategy whose drafts are
/// not by layers of the target or guesses (auto, cascade, mtp, two-model). Needs exclusive use of the
/// backend: one call at a time.
[[nodiscard]] Result<std::optional<Measurement>> score_setting(const ScoringSetup& setup,
                                                               const std::string& setting,
                                                               std::int32_t prompts);

}  // namespace draftscope::engine
