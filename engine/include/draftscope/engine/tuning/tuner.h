// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a search to its end, or until it is interrupted: score a candidate, write the file, take the next one.
// Then the best few are measured again by decoding, in turn, and the highest median wins; if that is not
// above 1, vanilla decoding wins. The file is the state; a run that finds trials in the policy goes on after
// them, and begins the finals anew.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/candidate_source.h>
#include <draftscope/engine/tuning/policy.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace draftscope::engine {

/// Scores a setting on `prompts` prompts; none = interrupted.
using Measure =
    std::function<Result<std::optional<Measurement>>(const std::string& setting, std::int32_t prompts)>;

/// Scores a proposal teacher-forced, on all prompts or until it can't reach `floor`, or in one pass if that
/// is what it asks for; none = interrupted.
using Score =
    std::function<Result<std::optional<TeacherForcedScore>>(const Proposed& proposed, double floor)>;

/// A search and the way it is run. The source is not owned.
struct Tuning {
  CandidateSource& source;
  Measure measure;
  Score score;                   ///< empty if the source has nothing scored teacher-forced
  bool same_every_time = false;  ///< measuring twice gives the same: nothing is measured twice
  std::int32_t prompts = 0;      ///< number of all prompts, on which finalists are measured again
  std::int32_t repeats = 5;      ///< measurements of each finalist, ≥ 1
  std::int32_t finalists = 1;    ///< different settings that are measured again, at most; ≥ 1
  std::filesystem::path output;  ///< the policy file, written after every trial
  /// Called after each trial and final with the work done, and to be done, in this run: prompts that the
  /// search scores, of which a prompt of the finals is as many as it takes the time of.
  std::function<void(const Policy& policy, std::int64_t done, std::int64_t all)> progress;
};

/// Brings `policy`, and the file with it, forward to the end of what `tuning` says. False = interrupted: the
/// file holds every whole trial. Fails as measuring and writing do, and on trials of `policy` that this
/// search would not have made.
[[nodiscard]] Result<bool> tune(const Tuning& tuning, Policy& policy);

}  // namespace draftscope::engine
