// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a search to its end, or until it is interrupted: it scores a candidate, writes the file and takes the
// next one. Then the best few are measured again by decoding, in turn, and the highest median wins; if that
// is not above 1, vanilla decoding wins. The file is the whole state: a run that finds trials in the policy
// continues after them, and begins the finals anew.

#include <draftscope/base/result.h>
#include <draftscope/engine/tuning/candidate_source.h>
#include <draftscope/engine/tuning/policy.h>
#include <draftscope/engine/tuning/teacher_forced.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace draftscope::engine {

/// Measures a setting on `prompts` prompts; none = interrupted.
using Measure =
    std::function<Result<std::optional<Measurement>>(const std::string& setting, std::int32_t prompts)>;

/// Scores a proposal teacher-forced: on all prompts, or until it can't reach `floor`, or in one pass if the
/// proposal asks for it. None = interrupted.
using Score =
    std::function<Result<std::optional<TeacherForcedScore>>(const Proposed& proposed, double floor)>;

/// A search and how to run it. The source is not owned.
struct Tuning {
  CandidateSource& source;
  Measure measure;
  Score score;  ///< Teacher-forced scoring; empty if no proposal of the source needs it.
  /// Whether measuring twice gives the same result: nothing is then measured twice.
  bool same_every_time = false;
  std::int32_t prompts = 0;      ///< Number of all prompts, on which finalists are measured again.
  std::int32_t repeats = 5;      ///< measurements per finalist, ≥ 1
  std::int32_t finalists = 1;    ///< maximum number of different settings that are measured again; ≥ 1
  std::filesystem::path output;  ///< the policy file, written after every trial
  /// Trials of other processes, in any order. A proposal that has a trial here is not scored again.
  std::span<const Trial> taken = {};
  bool has_finals =
      true;  ///< False = only the search over a part of the settings runs; the policy stays unfinished.
  /// Called after each trial and final with the work done and the total work of this run. The unit is a
  /// prompt that the search scores; a prompt of the finals counts by its time in such units.
  std::function<void(const Policy& policy, std::int64_t done, std::int64_t all)> progress;
};

/// Advances `policy`, and its file, to the end of the work described by `tuning`. False = interrupted: the
/// file contains every complete trial. Fails as measuring and writing do, and on trials of `policy` that this
/// search would not have made.
[[nodiscard]] Result<bool> tune(const Tuning& tuning, Policy& policy);

}  // namespace draftscope::engine
