// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a search found its policy: its trials in order, as series that a report lists and a view draws.
// Functions are thread-safe.

#include <draftscope/speculation/policy_file.h>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// One value per trial; NaN where the trial has none.
struct TrialSeries {
  std::string_view key;    ///< Key in JSON documents.
  std::string_view title;  ///< Title in text, with the unit.
  std::vector<double> values;
};

/// Series of the score, the best score so far among trials on as many prompts as any, agreement, acceptance,
/// tokens per round, sublayers skipped by kind, prompts. A series without any value is omitted.
[[nodiscard]] std::vector<TrialSeries> policy_history(const PolicyFile& policy);

/// Origin of the trial's setting, as files name it; "grid" where it was no candidate of a search for a skip
/// set.
[[nodiscard]] std::string_view trial_origin(const Trial& trial);

}  // namespace draftscope::speculation
