// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a search for a skip set tried and found, as Draft & Verify shows it: the speedup by number of skipped
// sublayers (Figure 4), and the set after a number of trials (Table 8, Figures 6 and 8). Scores are speedups
// over vanilla decoding of trials on as many prompts as any trial.

#include <draftscope/speculation/policy_file.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/chart_svg.h"
#include "report/report_json.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

/// Trials that skip the same number of sublayers.
struct TrialsBySkipped {
  std::int32_t skipped = 0;
  std::vector<const speculation::Trial*> trials;  ///< The best first; never empty.
};

/// In order of the number; `policy` must outlive the result.
[[nodiscard]] std::vector<TrialsBySkipped> trials_by_skipped(const speculation::PolicyFile& policy);

/// The best set of the first trials.
struct SetAfterTrials {
  std::size_t trials = 0;
  const speculation::Trial* best = nullptr;  ///< Never null; has a candidate.
};

/// The sets after each quarter of the trials; `policy` must outlive the result.
[[nodiscard]] std::vector<SetAfterTrials> sets_after_trials(const speculation::PolicyFile& policy);

[[nodiscard]] std::string trials_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
[[nodiscard]] std::string sets_text(const speculation::PolicyFile& policy, const Glyphs& glyphs);
/// Object with both, `by_skipped` and `sets`.
[[nodiscard]] Json search_json(const speculation::PolicyFile& policy);

[[nodiscard]] Chart trials_chart(const speculation::PolicyFile& policy);
[[nodiscard]] Chart sets_chart(const speculation::PolicyFile& policy);

}  // namespace draftscope::cli
