// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a search came to its policy: its trials in their order, as series that a report lists and a view draws.
// Functions are thread-safe.

#include <draftscope/speculation/policy_file.h>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// A value a trial, NaN where the trial has none.
struct TrialSeries {
  std::string_view key;    ///< in documents for programs
  std::string_view title;  ///< in text, unit included
  std::vector<double> values;
};

/// Score, the best score so far among trials on as many prompts as any, agreement, acceptance, tokens per
/// round, sublayers skipped by kind, prompts. A series that no trial has a value of is left out.
[[nodiscard]] std::vector<TrialSeries> policy_history(const PolicyFile& policy);

/// Origin of the trial's setting, as files name it; "grid" where it was no candidate of a search for a
/// skip set.
[[nodiscard]] std::string_view trial_origin(const Trial& trial);

}  // namespace draftscope::speculation
